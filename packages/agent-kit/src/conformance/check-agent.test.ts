import { createServer, type Server } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Flaw, type Habit, PlainAgent } from "../../test/plain-agent.ts";
import { nodeHandler } from "../adapters/node.ts";
import { createAgent } from "../index.ts";
import { memoryStore } from "../stores/memory.ts";
import type { CheckReport } from "./check.ts";
import { checkAgent } from "./check-agent.ts";
import type { RunningAgent } from "./running-agent.ts";
import { STATE_CASES } from "./state-cases.ts";

// Shorter than for the agents of others: these answer within milliseconds, and call every 700 ms while they work. On a busy machine it
// may be seconds; an agent that is not quiet ends the wait with its first call.
const LIMITS = { waitMs: 10_000, takeOverMs: 40_000, quietMs: 2000, heartbeatMs: 6000 };

const failed = ({ results }: CheckReport) => results.flatMap(({ id, failure }) => (failure ? [[id, failure.mistake]] : []));
const skipped = ({ results }: CheckReport) => results.flatMap(({ id, skipped: reason }) => (reason ? [id] : []));

async function check(agent: PlainAgent): Promise<CheckReport> {
  const url = await agent.reserve();
  return checkAgent({ url, start: (variables) => agent.start(variables), only: "state-", ...LIMITS });
}

/** A flaw, the case that fails, and the mistake that it names. */
const WRONG: [Flaw, failed: string, mistake: RegExp][] = [
  ["keeps the key in memory", "state-restart", /memory only/],
  ["stores the key after the answer", "state-activated-restart", /written some time after the answer/],
  ["has one variable for the key", "state-own-key", /One variable/],
  ["keeps the last activation only", "state-own-key", /Only the last activation is kept/],
  ["keeps keys by brand", "state-activated-again", /stored by brand/],
  ["works on every copy", "state-repeated", /not deduplicated/],
  ["remembers ids in memory", "state-repeated-restart", /remembered in memory only/],
  ["takes one type of an activation for one event", "state-different", /by type, or by type and activation/],
  ["recognises repeats by their sequence", "state-own-key", /taken for a repeat/],
  ["forgets what it has acknowledged", "state-message-restart", /acknowledged before it is stored/],
  ["ignores the pause", "state-paused", /acknowledged and ignored/],
  ["calls every three seconds and ignores the pause", "state-paused", /acknowledged and ignored/],
  ["keeps the pause in memory", "state-paused-restart", /memory only/],
  ["stores the pause after the answer", "state-paused-restart", /some time after the answer/],
  ["learns of a pause by a refusal when it starts", "state-paused-restart", /memory only/],
  ["heeds the pause late", "state-paused", /acknowledged before it takes effect/],
  ["pauses for all brands", "state-paused-others", /stops the whole agent/],
  ["deletes the key at the pause", "state-resumed", /deleted at the pause/],
  ["ignores the end of a pause", "state-resumed", /agent.resumed is acknowledged and ignored/],
  ["keeps the end of a pause in memory", "state-restart", /stays paused/],
  ["stores the end of a pause after the answer", "state-resumed-restart", /stays paused/],
  ["ignores the end", "state-deactivated", /acknowledged and ignored/],
  ["calls every three seconds and ignores the end", "state-deactivated", /acknowledged and ignored/],
  ["heeds the end late", "state-deactivated", /acknowledged before it takes effect/],
  ["ends for all brands", "state-deactivated-others", /stops the whole agent/],
  ["keeps the end in memory", "state-deactivated-restart", /memory only/],
  ["sends no heartbeat", "state-heartbeat", /nothing is logged/],
  ["sends heartbeats for one activation only", "state-heartbeat", /another activation stays silent/],
  ["refuses events while it is paused", "state-resumed", /agent\.resumed is not acknowledged/],
  ["refuses a second activation", "state-own-key", /agent\.activated is not acknowledged/],
  ["works on everything again when it starts", "state-repeated-restart", /worked on again after it/],
  ["goes on with a failed run", "state-run-failed", /the run goes on/],
  ["keeps the end of a failed run in memory", "state-run-failed-restart", /memory only/],
];
/** Cases that nothing can be said about of an agent whose runs end within milliseconds. */
const WITHOUT_WORK = [
  "state-paused",
  "state-deactivated",
  "state-heartbeat",
  "state-paused-restart",
  "state-deactivated-restart",
  "state-run-failed",
  "state-run-failed-restart",
];
const RIGHT: (Habit | null)[] = [null, "recognises repeats by type, activation and run", "works before it answers"];

// They wait most of the time, so some of them are checked at once, after those whose webhooks are graded too.
const TOGETHER = 6;
const MODES = ["inline", "inbox"] as const;
const kitReports = new Map<(typeof MODES)[number], Promise<CheckReport>>();
const reports = new Map<Flaw | Habit | null, Promise<CheckReport>>();
beforeAll(() => {
  const limit = new Limit(TOGETHER);
  for (const mode of MODES) kitReports.set(mode, checkKitAgent(mode));
  const alone = Promise.allSettled(kitReports.values());
  const checkLater = (way: Flaw | Habit | null) => limit.run(() => alone.then(() => check(new PlainAgent(way))));
  for (const way of [...RIGHT, ...WRONG.map(([name]) => name)]) reports.set(way, checkLater(way));
  for (const report of [...kitReports.values(), ...reports.values()]) report.catch(() => {});
});
afterAll(() => Promise.allSettled([...reports.values(), ...kitReports.values()]));

test.each(RIGHT)(
  "an agent without the kit that does everything right passes all cases of state: %s",
  async (habit) => {
    const report = await reports.get(habit);
    expect(report?.results.filter(({ passed }) => !passed)).toEqual([]);
    expect(report).toMatchObject({ passed: STATE_CASES.length, failed: 0, skipped: 0 });
  },
  600_000,
);

// Consequences of a failure are not graded, so that the report names one mistake.
test.each(WRONG)(
  "an agent that %s fails %s",
  async (flaw, id, mistake) => {
    const report = (await reports.get(flaw)) as CheckReport;
    expect(failed(report)).toEqual([[id, expect.stringMatching(mistake)]]);
  },
  600_000,
);

test.each(MODES)(
  "an agent made with the kit passes: %s",
  async (mode) => {
    const report = (await kitReports.get(mode)) as CheckReport;
    expect(failed(report)).toEqual([]);
    // Its runs end within milliseconds: there is nothing that it could fail to stop.
    expect(skipped(report)).toEqual(WITHOUT_WORK);
    expect(report.results.length).toBeGreaterThan(100);
  },
  600_000,
);

test("an agent that never calls fails, and nothing else is graded", async () => {
  const url = await new PlainAgent(null).reserve();
  const start = async (): Promise<RunningAgent> => {
    const server = createServer((_request, response) => void response.writeHead(200).end());
    await new Promise<void>((listening) => server.listen(Number(new URL(url).port), "127.0.0.1", listening));
    return { kill: () => close(server) };
  };
  const report = await checkAgent({ url, start, only: "state-", ...LIMITS, waitMs: 300 });
  expect(failed(report)).toEqual([["state-key-used", expect.stringContaining("The key is not taken from apiKey")]]);
  expect(report).toMatchObject({ passed: 1, failed: 1, skipped: STATE_CASES.length - 2 });
  expect(report.results[1]?.failure).toMatchObject({
    problem: "it made no call after its activation and a message",
    curl: expect.stringMatching(/^curl -i -X POST .*agent\.activated/),
  });
});

/** Grades an agent on the kit: it says hello and answers messages, as that of the templates. */
async function checkKitAgent(mode: (typeof MODES)[number]): Promise<CheckReport> {
  const url = await new PlainAgent(null).reserve();
  const store = memoryStore();
  const start = async ({ AGENT_WEBHOOK_SECRET: secret = "", MAILSVC_URL: baseUrl = "" }: Readonly<Record<string, string>>) => {
    const agent = createAgent({ secret, baseUrl, store, mode, masterKey: Buffer.alloc(32, 1).toString("base64") })
      .on("agent.activated", (ctx) =>
        ctx.run({ title: "Hello" }, async (run) => void (await run.client.messages.create({ text: "Hello." }))),
      )
      .on("message.posted", (ctx) => ctx.client.messages.create({ text: "You wrote." }))
      // The samples name activations that there are not.
      .onError(() => {});
    const server = createServer(nodeHandler(agent));
    await new Promise<void>((listening) => server.listen(Number(new URL(url).port), "127.0.0.1", listening));
    agent.start();
    return {
      kill: async () => {
        await agent.stop();
        await close(server);
      },
    };
  };
  return checkAgent({ url, start, ...LIMITS, quietMs: 300 });
}

/** Runs so many at a time. */
class Limit {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(free: number) {
    this.#free = free;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free === 0) await new Promise<void>((go) => this.#waiting.push(go));
    else this.#free -= 1;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
}
