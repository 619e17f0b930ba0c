import pg from "pg";
import { afterAll, expect, test, vi } from "vitest";
import { createDatabase, dropDatabases } from "../../test/postgres.ts";
import { createWorld } from "../testing.ts";

afterAll(dropDatabases);

test("an entry that another transaction writes to while it falls due goes on after that one", async () => {
  const database = await createDatabase();
  const client = new pg.Client({ connectionString: database.url });
  // A transaction would see the same activity each time.
  const watcher = new pg.Client({ connectionString: database.url });
  await Promise.all([client.connect(), watcher.connect()]);
  try {
    await using world = await createWorld({ databaseUrl: database.url });
    const { sdk } = world;
    const cart = await sdk.automations.create({
      name: "Cart",
      trigger: { type: "event", name: "cart" },
      steps: [{ id: "wait", type: "delay", for: "1d" }],
      connections: [{ from: "trigger", to: "wait" }],
    });
    await sdk.automations.activate(cart.id);
    const { id } = await sdk.contacts.create({ email: "ada@example.com" });
    await sdk.events.track({ name: "cart", contact: id });
    await world.settle();
    await client.query("begin");
    await client.query("update automation_entries set revenue = 100");
    const advanced = world.clock.advance("1d");
    const waiting = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    await vi.waitFor(async () => expect((await watcher.query(waiting)).rowCount).toBe(1), { timeout: 20_000 });
    await client.query("commit");
    await advanced;
    expect(await sdk.automations.entries(cart.id).toArray()).toMatchObject([{ status: "COMPLETED", revenue: 1 }]);
  } finally {
    await Promise.all([client.end(), watcher.end()]);
    await database.drop();
  }
});
