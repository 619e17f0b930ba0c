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
import { ControllableClock } from "../packages/server/src/lib/controllable-clock.ts";
import { noRecords } from "../packages/server/src/lib/domain-records.ts";
import { silentLog } from "../packages/server/src/lib/log.ts";
import { secureRandom } from "../packages/server/src/lib/random.ts";
import { version } from "../packages/server/src/version.ts";
import { createDatabase } from "../packages/server/test/postgres.ts";
import { receiver } from "../packages/server/test/receiver.ts";

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
  /** Work that was under way. */
  readonly inFlight: InFlight;
}

interface InFlight {
  /** A webhook that does not answer. */
  readonly webhookId: string;
  /** Its entries get a tag after two days. */
  readonly automationId: string;
  /** The contact whose creation the automation waits after, and the webhook has not been told. */
  readonly contactId: string;
  /** A campaign that is being sent, and how many get it. */
  readonly campaignId: string;
  readonly recipients: number;
  /** The latest events, newest first. */
  readonly events: readonly string[];
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

test("there is data of the first version", () => {
  expect(names).toContain("0.1.0");
});

describe.each(names)("the data of %s", (name) => {
  const fixture = JSON.parse(readFileSync(join(fixtures, `${name}.json`), "utf8")) as Fixture;

  /** Opens the data with this version, some minutes after it was made, for as long as `use` takes. */
  async function open(
    { data, databaseUrl, dev }: { data: string; databaseUrl: string | null; dev: boolean },
    known: Known,
    use: (sdk: Mailsvc, advance: (ms: number) => Promise<void>) => Promise<void>,
  ): Promise<void> {
    const flags = { data, "secret-key": fixture.secretKey, ...(!dev && { "trust-sender": "acme.example" }) };
    // Keeps scheduled work from falling due as the years go by.
    const clock = new ControllableClock(Date.parse(fixture.madeAt) + 180_000, "frozen");
    const app = await createApp({
      config: readConfig({ flags, env: {}, dev }),
      version,
      backend: databaseUrl === null ? await sqliteBackend(data) : await postgresBackend(databaseUrl),
      clock,
      random: secureRandom(),
      log: silentLog,
      dns: noRecords,
      baseUrl: () => URL_OF_SERVER,
    });
    try {
      const inProcess: typeof fetch = async (input, init) => (await app.http.routed()).fetch(new Request(input, init));
      const sdk = new Mailsvc({ baseUrl: URL_OF_SERVER, apiKey: known.apiKey, fetch: inProcess });
      await use(sdk, async (ms) => void (await clock.advanceTo(clock.now() + ms, app.deps.queue.idle)));
      await app.deps.queue.idle();
    } finally {
      await app.close();
    }
  }

  /** Opens the data twice, the first time migrates it, and then goes on with what was under way. */
  async function expectKnown(data: string, databaseUrl: string | null, known: Known): Promise<void> {
    for (const added of [0, 1]) await open({ data, databaseUrl, dev: false }, known, (sdk) => expectServed(sdk, known, added));
    // In dev mode a webhook may be on this machine.
    await open({ data, databaseUrl, dev: true }, known, (sdk, advance) => expectToGoOn(sdk, advance, known.inFlight));
  }

  async function expectToGoOn(sdk: Mailsvc, advance: (ms: number) => Promise<void>, known: InFlight): Promise<void> {
    const kept = await sdk.events.list({ limit: 100 }).toArray();
    expect(kept.map(({ id }) => id)).toEqual(expect.arrayContaining([...known.events]));
    expect(await sdk.campaigns.get(known.campaignId)).toMatchObject({ status: "SENDING" });
    expect((await sdk.automations.entries(known.automationId)).data).toMatchObject([{ contactId: known.contactId, status: "ACTIVE" }]);
    expect((await sdk.webhooks.deliveries(known.webhookId)).data).toMatchObject([{ state: "queued" }]);

    await using hooks = await receiver();
    await sdk.webhooks.update(known.webhookId, { url: hooks.url });
    await advance(3 * 86_400_000);

    expect(hooks.received.map(({ event }) => event)).toMatchObject([{ type: "contact.created", contactId: known.contactId }]);
    expect((await sdk.webhooks.deliveries(known.webhookId)).data).toMatchObject([{ state: "delivered" }]);
    expect((await sdk.contacts.get(known.contactId)).tags).toEqual(["welcomed"]);
    expect((await sdk.automations.entries(known.automationId)).data).toMatchObject([{ status: "COMPLETED" }]);
    expect(await sdk.campaigns.get(known.campaignId)).toMatchObject({ status: "SENT" });
    const recipients = await sdk.campaigns.recipients(known.campaignId).toArray();
    expect(new Set(recipients.map(({ to }) => to)).size).toBe(known.recipients);
    expect(await sdk.campaigns.verify(known.campaignId)).toMatchObject({ correct: true, differences: [] });
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
