import { createServer, type Server } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Flaw, PlainAgent } from "../../test/plain-agent.ts";
import { nodeHandler } from "../adapters/node.ts";
import { createAgent } from "../index.ts";
import { memoryStore } from "../stores/memory.ts";
import type { CheckReport } from "./check.ts";
import { checkAgent } from "./check-agent.ts";
import type { RunningAgent } from "./running-agent.ts";
import { STATE_CASES } from "./state-cases.ts";

// Shorter than for the agents of others: these answer within milliseconds, and call every 700 ms while they work. On a busy machine it
// may be seconds; an agent that is not quiet ends the wait with its first call.
const LIMITS = { waitMs: 5000, quietMs: 3500, heartbeatMs: 5000 };

const failed = ({ results }: CheckReport) => results.flatMap(({ id, failure }) => (failure ? [[id, failure.mistake]] : []));
const skipped = ({ results }: CheckReport) => results.flatMap(({ id, skipped: reason }) => (reason ? [id] : []));

async function check(agent: PlainAgent): Promise<CheckReport> {
  const url = await agent.reserve();
  return checkAgent({ url, start: (variables) => agent.start(variables), only: "state-", ...LIMITS });
}

const WRONG: [Flaw, failed: string, mistake: RegExp, skipped: string[]][] = [
  ["keeps the key in memory", "state-restart", /memory only/, ["state-paused-restart", "state-run-failed"]],
  [
    "has one variable for the key",
    "state-own-key",
    /One variable/,
    [
      "state-paused-others",
      "state-resumed",
      "state-deactivated",
      "state-activated-again",
      "state-heartbeat",
      "state-restart",
      "state-paused-restart",
      "state-run-failed",
    ],
  ],
  ["works on every copy", "state-repeated", /not deduplicated/, []],
  [
    "ignores the pause",
    "state-paused",
    /acknowledged and ignored/,
    ["state-paused-others", "state-resumed", "state-heartbeat", "state-restart", "state-paused-restart", "state-run-failed"],
  ],
  ["keeps the pause in memory", "state-paused-restart", /memory only/, []],
  [
    "deletes the key at the pause",
    "state-resumed",
    /deleted at the pause/,
    ["state-heartbeat", "state-restart", "state-paused-restart", "state-run-failed"],
  ],
  ["ignores the end", "state-deactivated", /acknowledged and ignored/, ["state-activated-again"]],
  ["sends no heartbeat", "state-heartbeat", /nothing is logged/, []],
  ["goes on with a failed run", "state-run-failed", /the run goes on/, []],
];

// They wait most of the time, so all of them are checked at once.
const MODES = ["inline", "inbox"] as const;
const kitReports = new Map<(typeof MODES)[number], Promise<CheckReport>>();
const reports = new Map<Flaw | null, Promise<CheckReport>>();
beforeAll(() => {
  for (const flaw of [null, ...WRONG.map(([name]) => name)]) {
    const report = check(new PlainAgent(flaw));
    report.catch(() => {});
    reports.set(flaw, report);
  }
  for (const mode of MODES) {
    const report = checkKitAgent(mode);
    report.catch(() => {});
    kitReports.set(mode, report);
  }
});
afterAll(() => Promise.allSettled([...reports.values(), ...kitReports.values()]));

test("an agent without the kit that does everything right passes all cases of state", async () => {
  const report = await reports.get(null);
  expect(report?.results.filter(({ passed }) => !passed)).toEqual([]);
  expect(report).toMatchObject({ passed: STATE_CASES.length, failed: 0, skipped: 0 });
});

// What follows from a failure is not graded, so that the report names one mistake.
test.each(WRONG)(
  "an agent that %s fails %s",
  async (flaw, id, mistake, unknown) => {
    const report = (await reports.get(flaw)) as CheckReport;
    expect(failed(report)).toEqual([[id, expect.stringMatching(mistake)]]);
    expect(skipped(report)).toEqual(unknown);
  },
  180_000,
);

test.each(MODES)(
  "an agent made with the kit passes: %s",
  async (mode) => {
    const report = (await kitReports.get(mode)) as CheckReport;
    expect(failed(report)).toEqual([]);
    // Its runs end within milliseconds: there is nothing that it could fail to stop.
    expect(skipped(report)).toEqual(["state-paused", "state-deactivated", "state-heartbeat", "state-paused-restart", "state-run-failed"]);
    expect(report.results.length).toBeGreaterThan(100);
  },
  180_000,
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
      .on("message.posted", (ctx) => ctx.client.messages.create({ text: "You wrote." }));
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

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
}
