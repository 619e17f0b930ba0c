import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { zstdDecompressSync } from "node:zlib";
import { Mailsvc } from "@mailsvc/sdk";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createApp } from "../packages/server/src/app.ts";
import { postgresBackend } from "../packages/server/src/backend.pg.ts";
import { sqliteBackend } from "../packages/server/src/backend.sqlite.ts";
import { readConfig } from "../packages/server/src/config.ts";
import { controllableClock } from "../packages/server/src/lib/controllable-clock.ts";
import { silentLog } from "../packages/server/src/lib/log.ts";
import { secureRandom } from "../packages/server/src/lib/random.ts";
import { version } from "../packages/server/src/version.ts";
import { createDatabase } from "../packages/server/test/postgres.ts";

// Data of earlier versions, made by scripts/upgrade-fixture.mjs: each release adds its own, and none is ever changed.
const fixtures = fileURLToPath(new URL("fixtures/upgrades/", import.meta.url));
const names = globSync("*.json", { cwd: fixtures })
  .map((file) => basename(file, ".json"))
  .sort();

const URL_OF_SERVER = "http://mailsvc.test";

interface Known {
  readonly apiKey: string;
  readonly emails: readonly { readonly id: string; readonly status: string }[];
  readonly totals: Readonly<Record<string, number>>;
  readonly listId: string;
  readonly templateId: string;
  readonly activationId: string;
}

interface Fixture {
  readonly madeAt: string;
  readonly secretKey: string;
  readonly sqlite: Known;
  readonly postgres: Known;
}

const unpack = (file: string): Buffer => zstdDecompressSync(readFileSync(join(fixtures, file)));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "mailsvc-upgrade-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("there is data of earlier versions", () => {
  expect(names).toEqual(expect.arrayContaining(["0.1.0-single-file", "0.1.0"]));
});

describe.each(names)("the data of %s", (name) => {
  const fixture = JSON.parse(readFileSync(join(fixtures, `${name}.json`), "utf8")) as Fixture;

  /** Opens the data twice with this version, an hour after it was made: the first time migrates it. */
  async function expectKnown(data: string, databaseUrl: string | null, known: Known): Promise<void> {
    for (const added of [0, 1]) {
      const flags = { data, "secret-key": fixture.secretKey, "trust-sender": "acme.example" };
      const app = await createApp({
        config: readConfig({ flags, env: {}, dev: false }),
        version,
        backend: databaseUrl === null ? await sqliteBackend(data) : await postgresBackend(databaseUrl),
        // What is due later must not become so while the years go by.
        clock: controllableClock(Date.parse(fixture.madeAt) + 3_600_000, "frozen"),
        random: secureRandom(),
        log: silentLog,
        dns: { txt: async () => [] },
        baseUrl: () => URL_OF_SERVER,
      });
      try {
        const inProcess: typeof fetch = async (input, init) => (await app.http.routed()).fetch(new Request(input, init));
        await expectServed(new Mailsvc({ baseUrl: URL_OF_SERVER, apiKey: known.apiKey, fetch: inProcess }), known, added);
        await app.deps.queue.idle();
      } finally {
        await app.close();
      }
    }
  }

  async function expectServed(sdk: Mailsvc, known: Known, added: number): Promise<void> {
    const lists = {
      "/contacts": sdk.contacts,
      "/lists": sdk.lists,
      "/segments": sdk.segments,
      "/suppressions": sdk.suppressions,
      "/templates": sdk.templates,
      "/emails": sdk.emails,
    };
    for (const [path, total] of Object.entries(known.totals)) {
      const { pagination } = await lists[path as keyof typeof lists].list();
      expect([path, pagination.total]).toEqual([path, path === "/emails" ? total + added : total]);
    }
    for (const email of known.emails) expect(await sdk.emails.get(email.id)).toMatchObject(email);
    expect(await sdk.lists.get(known.listId)).toMatchObject({ name: "News" });
    expect(await sdk.templates.get(known.templateId)).toMatchObject({ slug: "welcome" });
    expect(await sdk.activations.get(known.activationId)).toMatchObject({ id: known.activationId, status: "active" });
    const { id } = await sdk.emails.send({ from: "hello@acme.example", to: "new@example.com", subject: "New", text: "New" });
    expect(await sdk.emails.get(id)).toMatchObject({ to: "new@example.com" });
  }

  test("is opened and served on SQLite", async () => {
    const data = join(folder, name);
    mkdirSync(data);
    writeFileSync(join(data, "mailsvc.db"), unpack(`${name}.db.zst`));
    await expectKnown(data, null, fixture.sqlite);
  });

  test("is opened and served on Postgres", async () => {
    const database = await createDatabase("empty");
    try {
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      await client.query(unpack(`${name}.sql.zst`).toString());
      await client.end();
      await expectKnown(join(folder, `${name}-pg`), database.url, fixture.postgres);
    } finally {
      await database.drop();
    }
  });
});
