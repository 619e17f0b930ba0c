import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { FILE_LIMITS } from "../packages/sdk/src/contract/index.ts";
import { dropDatabases } from "../packages/server/test/postgres.ts";
import { wire } from "../packages/server/test/wire.ts";
import { until } from "./support/api.ts";
import { afterCommit, beforeCommit, buildCrashingProgram, type CrashingProgram, type CrashPoint } from "./support/crashing-server.ts";
import { type Answered, RestartableServer } from "./support/restartable-server.ts";
import { testDatabases } from "./support/test-database.ts";
import { Turns } from "./support/turns.ts";

let program: CrashingProgram;
beforeAll(async () => {
  program = await buildCrashingProgram();
});
afterAll(async () => {
  program.remove();
  await dropDatabases();
});

const FILES = "/api/v1/marketplace/lead-magnets";
// Bytes of a part, as the server has it.
const PART = 256 * 1024;
const SIZE = 5 * PART + 100;
const PARTS = 6;

// Statements of the transactions of an upload, of its end, and of the sweep behind it.
const RESERVE = 'insert into "file_contents"';
const WRITE = 'insert into "file_parts"';
const KEEP = 'insert into "lead_magnets"';
const DROP = 'delete from "lead_magnets"';
const GIVE_UP = 'delete from "file_contents"';
const SWEEP = 'delete from "file_parts"';

interface Shown {
  readonly id: string;
  readonly title: string;
  readonly downloadUrl: string;
}

// Each step on one of the databases, in turn.
describe.each(Object.entries(testDatabases))("a server killed while files come and go (%s)", (name, open) => {
  const turns = new Turns(Object.keys(testDatabases).indexOf(name));
  let server: RestartableServer;
  let turn = 0;
  beforeAll(async () => {
    server = await RestartableServer.open(program.program, await open());
    // Room for one of our files, and not a byte more.
    const { workspace } = await server.done<{ workspace: { id: string } }>("GET", "/api/v1/me");
    await server.database.query(
      `INSERT INTO file_contents (id, workspace_id, sha256, size, activation_id, staged_at)
       VALUES ('fc_filler', '${workspace.id}', '${"0".repeat(64)}', ${FILE_LIMITS.workspaceBytes - SIZE}, NULL, NULL)`,
    );
  });
  afterAll(() => server.close());
  beforeEach(async () => {
    turn += 1;
    await server.revive();
    for (const { id } of await files()) await server.done("DELETE", `${FILES}/${id}`);
    await server.advance("2h");
    await expectSwept(0);
  });

  const files = async (): Promise<Shown[]> => (await server.done<{ data: Shown[] }>("GET", `${FILES}?limit=100`)).data;

  const bytesOf = (name: string): Buffer => {
    const bytes = Buffer.alloc(SIZE, `${name} of turn ${turn} `);
    bytes.write("%PDF-1.7\n");
    bytes.write("%%EOF\n", SIZE - 6);
    return bytes;
  };

  const upload = (name: string): Promise<Answered<Shown> | null> =>
    server.ask("POST", FILES, { title: name, fileName: `${name}.pdf`, contentBase64: bytesOf(name).toString("base64") }, `${name}-${turn}`);

  const count = async (sql: string): Promise<number> =>
    Number((await server.database.query<{ n: number }>(`SELECT count(*) AS n FROM ${sql}`))[0]?.n);
  const staged = (): Promise<number> => count("file_contents WHERE staged_at IS NOT NULL");

  /** Every content that is kept belongs to a file, and every file has all of its parts: at no time anything else is seen. */
  const expectWhole = async (): Promise<void> => {
    expect(
      await count(
        "file_contents c WHERE c.staged_at IS NULL AND c.id <> 'fc_filler' AND NOT EXISTS (SELECT 1 FROM lead_magnets m WHERE m.sha256 = c.sha256)",
      ),
    ).toBe(0);
    for (const { title, downloadUrl } of await files()) {
      // A server that starts again listens on another port.
      const { url } = server.server.api;
      const served = await fetch(`${url}${new URL(downloadUrl).pathname}`);
      expect([served.status, Buffer.from(await served.arrayBuffer()).equals(bytesOf(title))]).toEqual([200, true]);
    }
  };

  /** So many files are there, and the parts of these and of nothing else. */
  const expectSwept = async (kept: number): Promise<void> => {
    const parts = (): Promise<number> => count("file_parts");
    await until(
      20,
      async () => (await parts()) === kept * PARTS && (await staged()) === 0,
      async () => `${await parts()} parts and ${await staged()} staged contents are there`,
    );
    expect(await count("file_contents WHERE id <> 'fc_filler'")).toBe(kept);
    expect(await files()).toHaveLength(kept);
    await expectWhole();
  };

  test.each(
    turns.rows<[string, CrashPoint, number]>([
      ["before COMMIT of its room", beforeCommit(RESERVE), 0],
      ["after COMMIT of its room", afterCommit(RESERVE), 1],
      ["before COMMIT of its third part", beforeCommit(WRITE, 3), 1],
      ["after COMMIT of its third part", afterCommit(WRITE, 3), 1],
      ["after COMMIT of its last part", afterCommit(WRITE, PARTS), 1],
      ["before COMMIT of the file", beforeCommit(KEEP), 1],
    ]),
  )(
    "an upload, %s: nothing of it is seen, its room is free within the hour, and then there is room for exactly one",
    async (_step, order, left) => {
      expect((await server.killed(order, () => upload("first"))).result).toBeNull();
      expect(await files()).toEqual([]);
      expect(await staged()).toBe(left);
      await expectWhole();
      const again = await upload("second");
      expect(again).toMatchObject(left === 0 ? { status: 201 } : { status: 409, body: { error: { code: "storage_quota_exceeded" } } });
      await server.advance("61m");
      if (left > 0) {
        await expectSwept(0);
        expect(await upload("first")).toMatchObject({ status: 201, replayed: false });
      }
      await expectSwept(1);
      expect(await upload("third")).toMatchObject({ status: 409 });
      await expectSwept(1);
    },
  );

  test.each(
    turns.rows<[string, CrashPoint]>([
      ["after COMMIT of the file", afterCommit(KEEP)],
      ["before its answer is written", { at: "answer", having: [`^POST ${FILES}`] }],
    ]),
  )("an upload, %s: the file is there once, and a repeat is told of it", async (_step, order) => {
    expect((await server.killed(order, () => upload("first"))).result).toBeNull();
    await expectSwept(1);
    const [there] = await files();
    expect(await upload("first")).toMatchObject({ status: 201, replayed: true, body: { id: there?.id } });
    expect(await upload("second")).toMatchObject({ status: 409 });
    await expectSwept(1);
  });

  test.each(
    turns.rows<[string, CrashPoint]>([
      ["before COMMIT of giving up", beforeCommit(GIVE_UP)],
      ["after COMMIT of giving up", afterCommit(GIVE_UP)],
      ["before COMMIT of the sweep", beforeCommit(SWEEP)],
      ["after COMMIT of the sweep", afterCommit(SWEEP)],
    ]),
  )("what an upload left behind, %s: it goes when the server is back", async (_step, order) => {
    await server.killed(afterCommit(WRITE, 4), () => upload("first"));
    await server.killed(order, () => server.advance("61m").catch(() => {}));
    await server.advance("61m");
    await expectSwept(0);
    expect(await upload("second")).toMatchObject({ status: 201 });
    await expectSwept(1);
  });

  test.each(
    turns.rows<[string, CrashPoint, number]>([
      ["before COMMIT", beforeCommit(DROP), 1],
      ["after COMMIT, before its parts are gone", afterCommit(DROP), 0],
      ["before COMMIT of the sweep", beforeCommit(SWEEP), 0],
    ]),
  )("the end of a file, %s: it is there whole, or its room is free", async (_step, order, left) => {
    const id = (await upload("first"))?.body.id;
    await server.killed(order, () => server.ask("DELETE", `${FILES}/${id}`));
    await server.advance("5m");
    await expectSwept(left);
    expect((await upload("second"))?.status).toBe(left === 1 ? 409 : 201);
    await expectSwept(1);
  });

  turns.test("a connection that breaks, wherever it does, leaves a whole file or nothing, and no room taken", async () => {
    const body = JSON.stringify({ title: "first", fileName: "a.pdf", contentBase64: bytesOf("first").toString("base64") });
    const { url, apiKey } = server.server.api;
    const head = `POST ${FILES} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${apiKey}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    // Files that may come yet: a server that is busy reads what was sent before the cut, and stores it, a little later.
    let owed = 0;
    for (const share of [0, 0.5, 1, 1, 1, 1]) {
      if (share === 1) owed += 1;
      const line = await wire(url);
      line.write(head + body.slice(0, body.length * share));
      // A look into the database finds it some of the time.
      if (share === 1) await server.database.query("SELECT count(*) AS n FROM file_parts");
      line.cut();
      await until(
        20,
        async () => (await staged()) === 0 && (await count("file_parts")) % PARTS === 0,
        async () => `${await staged()} contents are staged`,
      );
      const there = await files();
      expect(there.length).toBeLessThanOrEqual(owed);
      owed -= there.length;
      await expectWhole();
      for (const { id } of there) await server.done("DELETE", `${FILES}/${id}`);
    }
    // The last of them may be stored only now: then it is deleted, too.
    let tries = 0;
    await until(
      20,
      async () => {
        for (const { id } of await files()) await server.done("DELETE", `${FILES}/${id}`);
        tries += 1;
        return (await upload(`last-${tries}`))?.status === 201;
      },
      async () => "there is no room",
    );
    await expectSwept(1);
  });
});
