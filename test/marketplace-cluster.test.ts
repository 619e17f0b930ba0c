import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Hook, hook } from "../packages/server/test/hook.ts";
import { dropDatabases } from "../packages/server/test/postgres.ts";
import { call, until } from "./support/api.ts";
import {
  buildCrashingProgram,
  type CrashingProgram,
  type CrashingServer,
  type CrashPoint,
  startCrashingServer,
} from "./support/crashing-server.ts";
import { copiesOf, type TestDatabase, testDatabases } from "./support/test-database.ts";

/** Two servers on one Postgres, whose clocks are the machine's. */
let program: CrashingProgram;
let database: TestDatabase;
let hooks: Hook;
let one: CrashingServer;
let other: CrashingServer;
let slug = "";
let listed = 0;

const start = (): Promise<CrashingServer> =>
  startCrashingServer({ program: program.program, folder: database.folder, flags: ["--dev", ...database.flags] });

beforeAll(async () => {
  program = await buildCrashingProgram();
  database = await testDatabases.postgres();
  hooks = await hook();
  [one, other] = await Promise.all([start(), start()]);
  await call(one.api, "POST", "/api/v1/marketplace/plan", { plan: "scale" });
});
afterAll(async () => {
  await Promise.all([one, other].map(({ process }) => process.kill("SIGKILL")));
  await hooks[Symbol.asyncDispose]();
  await database.clear();
  program.remove();
  await dropDatabases();
});
beforeEach(async () => {
  if (one.process.child.signalCode !== null) one = await start();
  hooks.script = () => 200;
  hooks.calls.length = 0;
  listed += 1;
  slug = `agent-${listed}`;
  const listing = { slug, name: slug, webhookUrl: hooks.url, permissions: ["agent:write_runs"] };
  await call(one.api, "POST", "/api/v1/marketplace/listings", listing);
  const payment = await call<{ id: string }>(one.api, "POST", `/api/v1/marketplace/listings/${slug}/checkout`);
  await call(one.api, "POST", `/api/v1/marketplace/payments/${payment.id}/confirm`);
});

const count = async (sql: string): Promise<number> => Number((await database.query<{ n: number }>(sql))[0]?.n);

const turnOn = () =>
  call<{ id: string }>(one.api, "POST", "/api/v1/marketplace/activations", {
    agentSlug: slug,
    acceptedPermissions: ["agent:write_runs"],
  });

const keyCame = async (): Promise<string> => {
  await until(
    100,
    async () => hooks.calls.length > 0,
    async () => "no key has come",
  );
  const event = hooks.calls[0]?.event;
  return event?.type === "agent.activated" ? event.apiKey : "";
};

// Brands, and runs of each.
const BRANDS = 40;
const RUNS = 15;
// Jobs that look for overdue runs, all due at once: as many of them run at a time as the two servers let.
const SWEEPS = 40;

/** Runs by the hundred whose windows have ended a second ago, and more jobs than needed that find out. `before` runs just before these are there. */
const overdueRuns = async (before: () => void): Promise<void> => {
  const { id } = await turnOn();
  const agent = { url: other.api.url, apiKey: await keyCame() };
  await call(agent, "POST", `/api/agents/activations/${id}/runs/start`, { runId: "the-pattern" });
  const columnsOf = async (table: string): Promise<string[]> => {
    const [row] = await database.query(`SELECT * FROM ${table} WHERE ${table === "runs" ? "activation_id" : "id"} = '${id}'`);
    return Object.keys(row ?? {});
  };
  for (const sql of copiesOf(await columnsOf("activations"), id, BRANDS)) await database.query(sql);
  const changed: Record<string, string> = {
    id: "substr(r.id, 1, 18) || substr(a.id, 25) || lpad(n::text, 6, '0')",
    activation_id: "a.id",
    workspace_id: "a.workspace_id",
    run_id: "'run-number-' || n",
    deadline_at: `${Date.now() - 1000}`,
  };
  const columns = await columnsOf("runs");
  before();
  // One statement, so that no sweep runs in between.
  await database.query(`
    WITH copied AS (
      INSERT INTO runs (${columns.join(", ")}) SELECT ${columns.map((name) => changed[name] ?? `r.${name}`).join(", ")}
      FROM runs r, activations a, generate_series(1, ${RUNS}) n
      WHERE r.activation_id = '${id}' AND a.listing_id = (SELECT listing_id FROM activations WHERE id = '${id}') AND a.id <> '${id}')
    INSERT INTO jobs (kind, payload, state, run_at, attempts, max_attempts, claims, created_at, lane, interruptions)
    SELECT 'agent.runs.sweep', '{}', 'ready', ${Date.now() - 1000}, 0, 10, 0, ${Date.now()}, 0, 0 FROM generate_series(1, ${SWEEPS})`);
};

const FAILED = 'update "runs" set .*"failure_reason"';

test.each<[string, CrashPoint | null]>([
  ["both of which live", null],
  ["one of which is killed before a COMMIT", { at: "before commit", having: [FAILED], nth: 2 }],
  ["one of which is killed after a COMMIT", { at: "after commit", having: [FAILED], nth: 2 }],
])("two servers, %s, fail each overdue run once and tell of each", async (_how, order) => {
  if (order) one.crashAt(order);
  // The other server rests until this one has died, because it could have done all the work before.
  await overdueRuns(() => void (order && other.process.child.kill("SIGSTOP")));
  if (order) {
    const ended = await one.process.ended.finally(() => other.process.child.kill("SIGCONT"));
    expect(ended).toEqual({ code: null, signal: "SIGKILL" });
  }
  const all = BRANDS * RUNS;
  const told = (): Set<string> =>
    new Set(hooks.calls.flatMap(({ event }) => (event.type === "run_force_failed" ? [`${event.activationId} ${event.runId}`] : [])));
  await until(
    100,
    async () => told().size === all,
    async () => `${told().size} of ${all} were told; ${await count("SELECT count(*) AS n FROM runs WHERE status = 'RUNNING'")} run`,
  );
  const ofListing = `(SELECT a.id FROM activations a JOIN listings l ON l.id = a.listing_id WHERE l.slug = '${slug}')`;
  expect(await count(`SELECT count(*) AS n FROM runs WHERE status = 'FAILED' AND activation_id IN ${ofListing}`)).toBe(all);
  expect(await count(`SELECT count(*) AS n FROM webhook_events WHERE type = 'run_force_failed' AND stream_id IN ${ofListing}`)).toBe(all);
  // One event per run: repeated deliveries have the same id.
  expect(new Set(hooks.calls.filter(({ event }) => event.type === "run_force_failed").map(({ event }) => event.id)).size).toBe(all);
  const gaps = `SELECT e.stream_id FROM webhook_events e JOIN activations a ON a.id = e.stream_id WHERE a.id IN ${ofListing}
    GROUP BY e.stream_id, a.sequence HAVING count(*) <> a.sequence OR max(e.sequence) <> a.sequence`;
  expect(await database.query(gaps)).toEqual([]);
  // The jobs of the killed server end too.
  const left = "SELECT count(*) AS n FROM jobs WHERE claimed_by IS NOT NULL";
  await until(
    100,
    async () => (await count(left)) === 0,
    async () => `${await count(left)} jobs are held`,
  );
});

test("an event that was on its way when its server died is sent by the other one, long before its lease ends", async () => {
  let died = 0;
  hooks.script = () => {
    if (hooks.calls.length > 1) return 200;
    return () => {
      died = performance.now();
      void one.process.kill("SIGKILL");
    };
  };
  await turnOn().catch(() => {});
  await until(
    100,
    async () => hooks.calls.length > 1,
    async () => "no server took it over",
  );
  // A server counts as dead after five seconds without a heartbeat; the lease is thirty.
  expect(performance.now() - died).toBeLessThan(25_000);
  expect(new Set(hooks.calls.map(({ bytes }) => bytes.toString("hex"))).size).toBe(1);
  const settled = "SELECT count(*) AS n FROM webhook_events WHERE settled_at IS NULL";
  await until(
    100,
    async () => (await count(settled)) === 0,
    async () => `${await count(settled)} events are open`,
  );
  expect(await count("SELECT count(*) AS n FROM activations WHERE key_delivered_at IS NULL AND workspace_id LIKE 'ws\\_%'")).toBe(0);
});
