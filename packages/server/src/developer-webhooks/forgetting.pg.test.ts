import { eq } from "drizzle-orm";
import pg from "pg";
import { afterAll, expect, test, vi } from "vitest";
import { asHeld } from "../../test/plain-event.ts";
import { createDatabase, dropDatabases, getServerVersion } from "../../test/postgres.ts";
import { receiver } from "../../test/receiver.ts";
import { deleteEvents, recordEvents } from "../events/events.ts";
import { createWorld } from "../testing.ts";
import { forgetDeliveries } from "./deliveries.ts";

afterAll(dropDatabases);

for (const order of ["bytes", "language"] as const)
  test(`deliveries of deleted events are found by their index where texts are sorted by ${order}`, async ({ skip }) => {
    if (order === "language" && (await getServerVersion()) < 15) skip("Postgres 14 sorts no database by ICU");
    const database = await createDatabase("empty", order);
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    try {
      await using world = await createWorld({ databaseUrl: database.url });
      await using hook = await receiver();
      const { sdk, app, workspaceId } = world;
      const { db } = app.deps;
      await sdk.webhooks.create({ url: hook.url });
      const record = (emailId: string, count: number): Promise<void> =>
        db.tx((tx) =>
          recordEvents(
            tx,
            app.deps,
            asHeld(Array.from({ length: count }, () => ({ workspaceId, type: "email.sent" as const, at: app.deps.clock.now(), emailId }))),
          ),
        );
      const [webhook] = await db.read.select().from(db.read.t.developerWebhooks);
      await record("em_0", 200);
      const { id } = (await sdk.emails.send({ from: "Acme <hello@acme.example>", to: "ada@example.com", subject: "x", text: "x" })) as {
        id: string;
      };
      await world.settle();
      // Many that stay.
      await client.query(
        `insert into webhook_deliveries (id, endpoint_id, stream_id, workspace_id, type, sequence, at, event_key, body, passes_hold, state, attempts, tries, settled_at)
         select 'whd_' || lpad(i::text, 26, '0'), $1, $1 || '.1', $2, 'email.sent', i, 1, i, '', false, 'delivered', 1, 1, 1
         from generate_series(100000, 140000) i`,
        [webhook?.id, workspaceId],
      );
      await client.query("vacuum analyze webhook_deliveries");
      const deletions: { text: string; values: unknown[] }[] = [];
      const query = pg.Client.prototype.query;
      vi.spyOn(pg.Client.prototype, "query").mockImplementation(function (this: pg.Client, ...args: unknown[]) {
        const [config, values] = args as [string | { text: string; values?: unknown[] }, unknown[]?];
        if (this !== client && typeof config === "object" && config.text.startsWith('delete from "webhook_deliveries"'))
          deletions.push({ text: config.text, values: values ?? config.values ?? [] });
        return Reflect.apply(query, this, args);
      });
      const listScans = async (): Promise<string[]> => {
        const plans = await Promise.all(
          deletions.splice(0).map(async ({ text, values }) => {
            const { rows } = await client.query<{ "QUERY PLAN": string }>(`explain ${text}`, values);
            return rows.map((row) => row["QUERY PLAN"]);
          }),
        );
        expect(plans.length).toBeGreaterThan(0);
        return plans.flat().filter((line) => line.includes("Seq Scan"));
      };
      await sdk.people.erase("ada@example.com");
      expect(await listScans()).toEqual([]);
      expect((await db.read.select().from(db.read.t.events)).filter(({ emailId }) => emailId === id)).toEqual([]);
      const { events: e, webhookDeliveries: d } = db.read.t;
      const before = await db.read.$count(d);
      // As retention does.
      await db.tx(async (tx) => forgetDeliveries(tx, await deleteEvents(tx, eq(e.emailId, "em_0"))));
      expect(await listScans()).toEqual([]);
      expect(await db.read.$count(d)).toBe(before - 200);
    } finally {
      vi.restoreAllMocks();
      await client.end();
      await database.drop();
    }
  });
