import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { AGENT_SCOPES } from "@mailsvc/sdk/contract";
import fc from "fast-check";
import { Redis } from "ioredis";
import pg from "pg";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { recordCounts } from "../../../test/support/proof-counts.ts";
import { createDatabase } from "../../server/test/postgres.ts";
import { Mortal } from "../test/mortal.ts";
import { masterKey, never, perform } from "../test/perform.ts";
import { startRedis } from "../test/redis.ts";
import { createAgent } from "./agent.ts";
import type { Run } from "./run.ts";
import { fileStore } from "./stores/file.ts";
import { memoryStore } from "./stores/memory.ts";
import { postgresStore } from "./stores/postgres.ts";
import { redisStore } from "./stores/redis.ts";
import { sqliteStore } from "./stores/sqlite.ts";
import type { Store } from "./stores/store.ts";
import { TestMarketplace } from "./testing.ts";

/** Performs work that is interrupted by so many pauses, one after the other. */
async function interrupt(work: (run: Run, pass: number, hold: () => Promise<never>) => Promise<void>, pauses: number) {
  let pass = 0;
  const holds: (() => void)[] = [];
  const { market, activation } = await perform(async (run) => {
    pass += 1;
    await work(run, pass, () => {
      for (const held of holds.splice(0)) held();
      return never(run.signal);
    });
  });
  for (let i = 0; i < pauses; i += 1) {
    await activation.pause();
    await activation.resume();
    await market.until("the next pass", () => pass === i + 2);
  }
  await market.until("the end", async () => (await activation.runs())[0]?.status === "COMPLETED");
  const [run] = await activation.runs();
  return { run, logs: await activation.logs(run?.runId ?? "") };
}

test("work that goes on from its checkpoint does each item once, and logs it once", async () => {
  const items: number[] = [];
  const { run, logs } = await interrupt(async (run, pass, hold) => {
    run.log("begins");
    let at = run.lastCheckpoint as { next: number } | null;
    if (at === null) {
      await run.step("setup", async () => 1);
      at = { next: 0 };
    }
    for (let i = at.next; i < 6; i += 1) {
      items.push(i);
      run.log(`item ${i}`);
      await run.checkpoint({ next: i + 1 });
      if (i === 2 * pass - 1 && pass < 3) await hold();
    }
  }, 2);
  expect(items).toEqual([0, 1, 2, 3, 4, 5]);
  expect(logs).toEqual(["begins", ...items.map((i) => `item ${i}`)]);
  expect(run).toMatchObject({ status: "COMPLETED" });
});

test("what is reported after a nested step is reported also when the step is not performed again", async () => {
  const { run, logs } = await interrupt(async (run, pass, hold) => {
    run.log("begins");
    await run.step("outer", async () => {
      run.log("inside");
      return (await run.step("inner", async () => 1)) + 1;
    });
    if (pass === 1) await hold();
    await run.checkpoint({ pass });
    run.log("after");
    run.progress(77);
  }, 1);
  expect(logs).toEqual(["begins", "inside", "after"]);
  expect(run).toMatchObject({ progress: { percent: 77 } });
});

test("a step inside of another one has its own name, whichever of them was performed again", async () => {
  const seen: unknown[] = [];
  await interrupt(async (run, pass, hold) => {
    await run.step("outer", () => run.step("name", async () => "inside"));
    if (pass === 1) await hold();
    seen.push(await run.step("name", async () => "beside"));
  }, 1);
  expect(seen).toEqual(["beside"]);
});

test("400 steps with results of 5 kB write at most 4 MB", async () => {
  let bytes = 0;
  const inner = memoryStore();
  const swap: Store["swap"] = (key, from, to, ttlMs) => {
    bytes += key.length + (to?.length ?? 0);
    return inner.swap(key, from, to, ttlMs);
  };
  const { market, activation } = await perform(
    async (run) => {
      for (let i = 0; i < 400; i += 1) {
        await run.step(`step-${i}`, async () => "x".repeat(5000));
        run.log(`Step ${i}`);
      }
    },
    { store: { ...inner, swap } },
  );
  await market.until("the end", async () => (await activation.runs())[0]?.status === "COMPLETED");
  expect(bytes).toBeLessThan(4_000_000);
});

/** A part of the work of a run. */
type Part =
  | { readonly kind: "log" | "progress" | "checkpoint" | "step" | "credits" | "approval" | "proposal" | "wakeup" }
  | { readonly kind: "nested"; readonly parts: readonly Part[] };

const part: fc.Arbitrary<Part> = fc.letrec<{ part: Part }>((tie) => ({
  part: fc.oneof(
    { maxDepth: 2, depthSize: "small" },
    { weight: 6, arbitrary: fc.constantFrom<Part>(...(["log", "progress", "checkpoint", "step"] as const).map((kind) => ({ kind }))) },
    {
      weight: 3,
      arbitrary: fc.constantFrom<Part>(...(["credits", "approval", "proposal", "wakeup"] as const).map((kind) => ({ kind }))),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom("nested" as const), parts: fc.array(tie("part"), { maxLength: 3 }) }) },
  ),
})).part;

/** Performs parts; `says` counts what is reported. */
async function performParts(run: Run, parts: readonly Part[], place: string, effects: string[]): Promise<void> {
  for (const [i, one] of parts.entries()) {
    const name = `${place}${i}`;
    if (one.kind === "log") run.log(name);
    else if (one.kind === "progress") run.progress(Math.min(100, i), name);
    else if (one.kind === "checkpoint") await run.checkpoint(name);
    else if (one.kind === "credits") await run.credits("audit", { amount: 1 });
    else if (one.kind === "step") await run.step("step", async () => void effects.push(name));
    else if (one.kind === "approval") await run.approval("ask", { title: name, text: name });
    else if (one.kind === "proposal")
      await run.proposeCampaign("propose", { text: name, campaign: { name, subject: name, html: `<p>${name}</p>`, lists: [] } });
    else if (one.kind === "wakeup") await run.wakeup("sleep", { delaySeconds: 10 + i });
    else if (one.kind === "nested") await run.step("nested", () => performParts(run, one.parts, `${name}.`, effects));
  }
}

const LEASE_MS = 100;

const SLUG = "agent-under-test";
const ADDED = "lists:read_metadata";

/** The brand sets something, and accepts a scope that the agent asks for besides. */
async function changeConsent({ world }: TestMarketplace, id: string): Promise<void> {
  const { permissions } = await world.builder.sdk.listings.get(SLUG);
  await world.sdk.activations.update(id, { settings: { tone: "cool" } });
  const { version } = await world.builder.sdk.listings.update(SLUG, { permissions: [...permissions, ADDED] });
  await world.sdk.activations.accept(id, { version });
}

/** Answers all that is asked. */
async function approveAll({ world: { sdk } }: TestMarketplace): Promise<void> {
  for (const { id, approval } of (await sdk.approvals.list()).data) {
    const proposal = approval?.proposal && { hash: approval.proposal.hash, fromEmail: "news@acme.example" };
    await sdk.messages.answer(id, { decision: "approve", ...proposal });
  }
}

/** Everything that a run has left behind at its end. */
async function readRecord({ world }: TestMarketplace, activation: TestActivation, { runId, status, progress }: RunOf) {
  const { db } = world.app.deps;
  const messages = await activation.messages();
  const [row] = await db.read.select().from(db.read.t.runs);
  return {
    status,
    progress,
    checkpoint: row?.checkpoint,
    asked: messages.filter(({ type }) => type === "APPROVAL_REQUEST").length,
    said: messages.flatMap(({ type, text }) => (type === "TEXT" ? [text] : [])).sort(),
    proposed: (await activation.proposed()).map(({ name, subject, html, sent }) => [name, subject, html, sent]),
    campaigns: (await world.sdk.campaigns.list()).pagination.total,
    credits: await activation.balance(),
    logs: await activation.logs(runId),
  };
}

type TestActivation = Awaited<ReturnType<TestMarketplace["activate"]>>;
type RunOf = Awaited<ReturnType<TestActivation["runs"]>>[number];

/** Processes that were killed in all tests. */
let kills = 0;

/** Performs a run in processes that are killed, and returns its record at its end. */
async function live(parts: readonly Part[], lives: readonly number[], mode: "inbox" | "inline", store: Store) {
  const market = await TestMarketplace.create({ scopes: AGENT_SCOPES.filter((scope) => scope !== ADDED) });
  try {
    const effects: string[] = [];
    let mortal = new Mortal(Number.POSITIVE_INFINITY);
    // Inline, each kill costs a delivery, and the service waits longer and longer: in the end the run would fail for want of heartbeats.
    const rest = lives.slice(0, mode === "inline" ? 2 : 4);
    const start = () => {
      mortal = new Mortal(rest.shift() ?? Number.POSITIVE_INFINITY);
      const agent = createAgent({
        ...market.options,
        mode,
        masterKey,
        leaseMs: LEASE_MS,
        store: mortal.store(store),
        fetch: mortal.fetch(market.options.fetch),
      })
        .on("agent.activated", (ctx) => ctx.run({}, (run) => performParts(run, parts, "", effects)))
        .on("agent.settings_changed", async ({ event, client }) => {
          await client.messages.create({ text: JSON.stringify(event.settings), externalId: event.id });
        })
        .on("agent.scopes_changed", async ({ event, client }) => {
          await client.messages.create({ text: event.added.join(), externalId: event.id });
        });
      agent.start();
      market.serve(mortal.agent(agent));
    };
    await market.world.builder.sdk.listings.update(SLUG, {
      settingsSchema: { type: "object", properties: { tone: { type: "string" } } },
    });
    start();
    const activation = await market.activate();
    await changeConsent(market, activation.id);
    for (let i = 0; i < 400; i += 1) {
      if (mortal.isDead) {
        kills += 1;
        // Leases of a killed process expire.
        await new Promise((done) => setTimeout(done, LEASE_MS));
        start();
      }
      const [run] = await activation.runs();
      if (run && ["COMPLETED", "FAILED", "CANCELLED"].includes(run.status)) {
        const record = await readRecord(market, activation, run);
        if (record.said.length === 2) return { ...record, effects };
      }
      await approveAll(market);
      await market.advance("3s");
      await new Promise((done) => setTimeout(done, 10));
    }
    throw new Error(`No end: ${JSON.stringify({ parts, lives, mode })}`);
  } finally {
    await market.dispose();
  }
}

const folder = (): string => {
  const path = mkdtempSync(join(tmpdir(), "agent-kit-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
};

/** Opens a new store, and closes it after the test. */
const STORES: Readonly<Record<string, () => Promise<() => Store>>> = {
  memory: async () => () => memoryStore(),
  sqlite: async () => () => sqliteStore(new DatabaseSync(join(folder(), "agent.db"))),
  "a file": async () => () => fileStore(join(folder(), "agent.ndjson")),
  redis: async () => {
    const server = await startRedis();
    const client = new Redis(server.port, "127.0.0.1");
    onTestFinished(async () => {
      client.disconnect();
      await server.stop();
    });
    let count = 0;
    return () => redisStore(client, { prefix: `agent-${++count}:` });
  },
  postgres: async () => {
    const database = await createDatabase("empty");
    const pool = new pg.Pool({ connectionString: database.url, max: 4 });
    onTestFinished(async () => {
      await pool.end();
      await database.drop();
    });
    let count = 0;
    return () => postgresStore(pool, { table: `agent_${++count}` });
  },
};

afterAll(() => recordCounts({ "kills in the model": kills }));

test.each(Object.entries(STORES))(
  "over %s, a run that is killed at any moment ends with the same record as one that is not",
  { timeout: 600_000 },
  async (_name, open) => {
    const createStore = await open();
    await fc.assert(
      fc.asyncProperty(
        fc.array(part, { minLength: 1, maxLength: 7 }),
        fc.array(
          fc.integer({ min: 4, max: 120 }).map((calls) => calls / 2),
          { maxLength: 4 },
        ),
        fc.constantFrom("inbox", "inline"),
        async (parts, lives, mode) => {
          const { effects: once, ...expected } = await live(parts, [], mode, memoryStore());
          const { effects, ...record } = await live(parts, lives, mode, createStore());
          expect(record).toEqual(expected);
          // A kill between the end of a step and the writing of its result repeats it; nothing else does.
          expect(new Set(effects)).toEqual(new Set(once));
          expect(effects.length - once.length).toBeLessThanOrEqual(lives.length);
        },
      ),
      {
        numRuns: Number(process.env["PROPERTY_RUNS"] ?? 2),
        endOnFailure: true,
      },
    );
  },
);
