import { describe, expect, onTestFinished, test } from "vitest";
import { hostileMails } from "../../test/hostile-mails.ts";
import { longestTurn } from "../../test/longest-turn.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import { cutMessage, insertParts } from "./parts.ts";

const ADA = "ada@example.com";
const CRLF = "\r\n";
const SOURCES: Readonly<Record<string, () => Buffer>> = {
  ...hostileMails,
  "thirty megabytes of line ends": () => Buffer.concat([Buffer.from(`Subject: x${CRLF}${CRLF}`), Buffer.alloc(30 * 1024 * 1024, CRLF)]),
  "300 levels of parts": () => {
    const level = (_: unknown, i: number): string => `Content-Type: multipart/mixed; boundary=b${i}${CRLF}${CRLF}--b${i}${CRLF}`;
    return Buffer.from(`X-Of: levels${CRLF}${Array.from({ length: 300 }, level).join("")}`);
  },
  "500 messages in one another": () => Buffer.from(`Content-Type: message/rfc822${CRLF}${CRLF}`.repeat(500)),
};

/** A server in production with a test key, and what puts a mail into its inbox as it is. */
async function start() {
  const world = await createWorld({ dev: false });
  onTestFinished(() => world.dispose());
  const { deps } = world.app;
  const capture = async (raw: Buffer, subject: string): Promise<string> => {
    const id = deps.ids("mail");
    const { first, others } = await cutMessage(raw);
    await deps.db.tx(async (tx) => {
      const row = { id, emailId: null, workspaceId: world.workspaceId, to: ADA, from: "x@example.com", subject, test: true };
      await tx.insertAll(tx.t.inbox, [{ ...row, size: raw.length, raw: first, receivedAt: deps.clock.now() }]);
      await insertParts(tx, [{ mailId: id, others }]);
    });
    return id;
  };
  return { world, capture };
}

const get = async (world: TestWorld, path: string): Promise<{ status: number; body: string }> => {
  const answer = await world.fetch(world.url + path, { headers: { authorization: `Bearer ${world.apiKey}` } });
  return { status: answer.status, body: await answer.text() };
};

describe("whatever a captured mail contains", () => {
  test("it is answered without long turns, and does not keep others from being found", async () => {
    const { world, capture } = await start();
    const nice = await capture(Buffer.from(`Subject: Nice${CRLF}${CRLF}The needle is here.`), "Nice");
    // Modules are loaded before anything is measured.
    expect(JSON.parse((await get(world, `/api/v1/test-inbox/${nice}`)).body)).toMatchObject({ truncated: false, text: expect.any(String) });
    const turns: Record<string, number> = {};
    const answers: Record<string, readonly number[]> = {};
    for (const [name, make] of Object.entries(SOURCES)) {
      const id = await capture(make(), name);
      const query = new URLSearchParams({ subject: name, timeout: "0" });
      turns[name] = await longestTurn(async () => {
        const one = await get(world, `/api/v1/test-inbox/${id}`);
        const waited = await get(world, `/api/v1/test-inbox/wait?${query}`);
        const raw = await get(world, `/api/v1/test-inbox/${id}/raw`);
        answers[name] = [one.status, waited.status, raw.status];
        expect([name, JSON.parse(one.body).id]).toEqual([name, id]);
      });
      // A search looks for ten seconds at most: on a busy machine, not through all of these mails.
      if (Object.keys(turns).length === 3) {
        const searched = await get(world, "/api/v1/test-inbox?text=NEEDLE");
        expect([searched.status, JSON.parse(searched.body).data]).toMatchObject([200, [{ id: nice }]]);
        expect(JSON.parse(searched.body).pagination.totalIsMinimum).toBe(true);
      }
    }
    expect((await get(world, "/api/v1/test-inbox?text=NEEDLE")).status).toBe(200);
    expect(Object.entries(answers).filter(([, codes]) => codes.some((code) => code !== 200))).toEqual([]);
    // A turn that reads a megabyte of line ends takes 10 to 30 seconds.
    expect(Object.entries(turns).filter(([, ms]) => ms > 1000)).toEqual([]);
  }, 300_000);

  test("its headers are read even when its parts are not, and a large file is there in full", async () => {
    const { world, capture } = await start();
    const deep = await capture(SOURCES["300 levels of parts"]?.() ?? Buffer.alloc(0), "deep");
    const read = await world.sdk.testInbox.get(deep);
    expect(read).toMatchObject({ html: null, text: null, attachments: [], truncated: true });
    expect(read.headers).toContainEqual({ name: "X-Of", value: "levels" });
    const file = Buffer.alloc(3_000_000, "abcdefg");
    const lines = file.toString("base64").replace(/.{76}/g, `$&${CRLF}`);
    const part = (type: string, content: string): string => `--x${CRLF}Content-Type: ${type}${CRLF}${content}${CRLF}`;
    const large = await capture(
      Buffer.from(
        `Content-Type: multipart/mixed; boundary=x${CRLF}${CRLF}${part("text/plain", `${CRLF}Hello 4711`)}${part("application/pdf; name=a.pdf", `Content-Transfer-Encoding: base64${CRLF}${CRLF}${lines}`)}--x--${CRLF}`,
      ),
      "large",
    );
    expect(await world.sdk.testInbox.get(large)).toMatchObject({
      ...{ text: "Hello 4711\n", codes: ["4711"], truncated: false },
      attachments: [{ filename: "a.pdf", contentType: "application/pdf", size: file.length }],
    });
  });
});

test("in the dashboard's frame, mail that cannot be read is not found, and what can be read is shown", async () => {
  await using world = await createWorld();
  const { deps } = world.app;
  const frame = async (raw: string): Promise<number> => {
    const id = deps.ids("mail");
    const row = { id, emailId: null, workspaceId: world.workspaceId, to: ADA, from: "x@example.com", subject: "x", test: true };
    const bytes = Buffer.from(raw);
    await deps.db.tx((tx) => tx.insertAll(tx.t.inbox, [{ ...row, size: bytes.length, raw: bytes, receivedAt: deps.clock.now() }]));
    return (await world.fetch(`${world.url}/dashboard/frame/inbox/${id}?workspace=${world.workspaceId}`)).status;
  };
  const html = `Content-Type: text/html${CRLF}${CRLF}<p>Hi</p>${CRLF}`;
  expect(await frame(html + CRLF.repeat(400_000))).toBe(200);
  expect(await frame(String(SOURCES["300 levels of parts"]?.()))).toBe(404);
});
