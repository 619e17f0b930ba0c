import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Mailsvc } from "@mailsvc/sdk";
import { AgentEvent } from "@mailsvc/sdk/contract";
import { asc } from "drizzle-orm";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { connectAgent } from "../../../test/agent-at-work.ts";
import { activateAgent, listAgent, type Receiver, startReceiver } from "../../../test/marketplace.ts";
import { createDatabase, dropDatabases } from "../../../test/postgres.ts";
import { type App, createApp } from "../../app.ts";
import { postgresBackend } from "../../backend.pg.ts";
import { sqliteBackend } from "../../backend.sqlite.ts";
import type { Backend } from "../../backend.ts";
import { readConfig } from "../../config.ts";
import { ControllableClock } from "../../lib/controllable-clock.ts";
import { noRecords } from "../../lib/domain-records.ts";
import { silentLog } from "../../lib/log.ts";
import { seededRandom } from "../../lib/random.ts";
import { version } from "../../version.ts";

const T = Date.parse("2026-01-01T00:00:00Z");
const MINUTE = 60_000;
const WORLD = "http://mailsvc.test";
const SECRET = Buffer.alloc(32, 7).toString("base64");

/** A process, from its start to its end. */
interface Life {
  readonly app: App;
  readonly clock: ControllableClock;
  readonly fetch: typeof fetch;
  readonly url: string;
  readonly sdk: Mailsvc;
  /** Time passes. */
  pass(ms: number): Promise<void>;
}

let seed = 0;
let apiKey = "";

const live = async (backend: Backend, now: number): Promise<Life> => {
  const clock = new ControllableClock(now, "frozen");
  const config = readConfig({ flags: { "secret-key": SECRET }, env: {}, dev: true });
  const app = await createApp({
    config,
    version,
    backend,
    clock,
    random: seededRandom(++seed),
    log: silentLog,
    dns: noRecords,
    baseUrl: () => WORLD,
  });
  apiKey = app.installation.apiKey ?? apiKey;
  const inProcess: typeof fetch = async (input, init) => (await app.http.routed()).fetch(new Request(input, init));
  return {
    app,
    clock,
    fetch: inProcess,
    url: WORLD,
    sdk: new Mailsvc({ apiKey, baseUrl: WORLD, fetch: inProcess }),
    pass: async (ms) => void (await clock.advanceTo(clock.now() + ms, () => app.deps.queue.idle())),
  };
};

/** A crash: the process stores nothing more. */
const die = async ({ app: { deps } }: Life): Promise<void> => {
  await deps.queue.stop();
  await deps.db.close();
};

const failures = async ({ app }: Life): Promise<AgentEvent[]> => {
  const { webhookEvents: e } = app.deps.db.read.t;
  const rows = await app.deps.db.read.select({ body: e.body }).from(e).orderBy(asc(e.sequence));
  return rows.map(({ body }) => AgentEvent.parse(JSON.parse(body))).filter(({ type }) => type === "run_force_failed");
};

const places: Record<string, () => Promise<{ open: () => Promise<Backend>; clear: () => Promise<void> }>> = {
  sqlite: async () => {
    const folder = mkdtempSync(join(tmpdir(), "mailsvc-lives-"));
    return {
      open: () => sqliteBackend(folder, { synchronous: "OFF" }),
      clear: async () => rmSync(folder, { recursive: true, force: true }),
    };
  },
  postgres: async () => {
    const { url, drop } = await createDatabase();
    return { open: () => postgresBackend(url), clear: drop };
  },
};

afterAll(dropDatabases);

describe.each(Object.keys(places))("a run outlives its server (%s)", (kind) => {
  let after: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of after.reverse()) await end();
    after = [];
  });

  const begin = async () => {
    const place = await (places[kind] as (typeof places)[string])();
    after.push(place.clear);
    const hooks: Receiver = await startReceiver();
    after.push(() => hooks[Symbol.asyncDispose]());
    const life = await live(await place.open(), T);
    await listAgent(life.sdk, hooks.url, { permissions: ["agent:write_runs", "agent:read_runs"] });
    const activation = await activateAgent(life.sdk);
    const agent = await connectAgent({ ...life, apiKey } as never, hooks, activation.id);
    const { runId } = await agent.client.runs.start({ title: "Long" });
    const statusIn = async ({ sdk }: Life) => (await sdk.runs.get(activation.id, runId)).status;
    return { ...place, life, runId, statusIn };
  };

  test("a short restart does not change the windows", async () => {
    const { life, open, statusIn } = await begin();
    await life.pass(10 * MINUTE);
    await life.app.close();
    const next = await live(await open(), T + 10 * MINUTE + 20_000);
    await next.pass(4 * MINUTE + 39_999);
    expect(await statusIn(next)).toBe("RUNNING");
    await next.pass(1);
    expect(await statusIn(next)).toBe("FAILED");
    expect(await failures(next)).toMatchObject([{ timestamp: "2026-01-01T00:15:00.000Z", lastHeartbeatAt: "2026-01-01T00:00:00.000Z" }]);
    await next.app.close();
  });

  test("a server that was down for twenty minutes fails no run; silent runs fail fifteen minutes after its return", async () => {
    const { life, open, statusIn } = await begin();
    await life.pass(MINUTE);
    await die(life);
    const next = await live(await open(), T + 21 * MINUTE);
    expect(await statusIn(next)).toBe("RUNNING");
    await next.pass(15 * MINUTE - 1);
    expect(await statusIn(next)).toBe("RUNNING");
    expect(await failures(next)).toEqual([]);
    await next.pass(1);
    expect(await statusIn(next)).toBe("FAILED");
    expect(await failures(next)).toMatchObject([{ timestamp: "2026-01-01T00:36:00.000Z" }]);
    await next.app.close();
  });

  test("a server that dies between a run's failure and its event sends the event once after its return", async () => {
    const { life, open, statusIn } = await begin();
    await life.app.close();
    const short = await live(await open(), T + 20_000);
    // Its jobs no longer run.
    await short.app.deps.queue.stop();
    short.clock.reset(T + 15 * MINUTE, "frozen");
    expect(await statusIn(short)).toBe("FAILED");
    expect(await failures(short)).toEqual([]);
    await short.app.close();
    const next = await live(await open(), T + 15 * MINUTE + 10_000);
    await next.pass(0);
    expect(await statusIn(next)).toBe("FAILED");
    await next.pass(60 * MINUTE);
    expect(await failures(next)).toMatchObject([{ timestamp: "2026-01-01T00:15:00.000Z" }]);
    await next.app.close();
  });

  test("a restored snapshot has the windows of its time", async () => {
    const { life, statusIn } = await begin();
    await life.pass(10 * MINUTE);
    await life.sdk.world.snapshot({ name: "ten" });
    await life.pass(60 * MINUTE);
    expect(await statusIn(life)).toBe("FAILED");
    await life.sdk.world.restore({ name: "ten" });
    expect(await statusIn(life)).toBe("RUNNING");
    await life.pass(5 * MINUTE - 1);
    expect(await statusIn(life)).toBe("RUNNING");
    await life.pass(1);
    expect(await statusIn(life)).toBe("FAILED");
    expect(await failures(life)).toMatchObject([{ timestamp: "2026-01-01T00:15:00.000Z" }]);
    await life.app.close();
  });
});
