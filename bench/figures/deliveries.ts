import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onCore } from "../cores.ts";
import { type Bench, type Figure, median } from "../figure.ts";
import { outputOf } from "../runs.ts";

const EVENTS = 20_000;
const CONNECTIONS = 64;
const ROUNDS = 3;
const HANGING = 500;
const PENDING = 100_000;

const file = fileURLToPath(new URL("../peers/deliveries.ts", import.meta.url));
const node = [process.execPath, "--import", fileURLToPath(new URL("../../scripts/sources.mjs", import.meta.url)), file];

/** Speed and fairness of the delivery of events to webhooks. */
export const deliveries: Bench = {
  name: "deliveries",
  meaning:
    `rate: signed deliveries a second of ${EVENTS.toLocaleString("en-US")} events that wait, from the outbox to a webhook and back, each outcome on disk. ` +
    "campaign: the events of a campaign to a developer's webhook, from their commit on: numbered, written for it, made, signed and sent. " +
    `pool: a bare undici Pool with as many connections (${CONNECTIONS}) to the same webhook, which neither signs nor stores; the ratio is the median of those within each round. ` +
    `backlog: the same with ${PENDING.toLocaleString("en-US")} other events waiting for webhooks whose turn is later. ` +
    `fair: from the commit of an event to its arrival at a good webhook while ${HANGING} others, with 10 events each, take requests and never answer. `,
  run: async () => {
    const ours: number[] = [];
    const pool: number[] = [];
    const campaign: number[] = [];
    const backlog: number[] = [];
    const fair: number[] = [];
    const receiver = await startReceiver();
    const run = async (what: string, ...numbers: number[]): Promise<number> =>
      Number(await outputOf([...onCore(0), ...node, what, receiver.port, ...numbers.map(String)]));
    try {
      for (let i = 0; i < ROUNDS; i++) {
        pool.push(await run("pool", EVENTS, CONNECTIONS));
        ours.push(await run("mailsvc", EVENTS, 0));
        campaign.push(await run("campaign", EVENTS));
        backlog.push(await run("mailsvc", EVENTS, PENDING));
        fair.push(await run("fair", HANGING, 10));
      }
    } finally {
      await receiver.stop();
    }
    const ratio = (one: readonly number[], other: readonly number[]): number =>
      median(one.map((value, i) => value / (other[i] ?? Number.NaN)));
    return [
      {
        ...figure("deliveries.rate", ours, "deliveries/s"),
        against: "bare undici Pool",
        ratio: ratio(ours, pool),
        goal: { op: ">=", than: 0.5 },
      },
      {
        ...figure("deliveries.campaign", campaign, "deliveries/s"),
        against: "bare undici Pool",
        ratio: ratio(campaign, pool),
        goal: { op: ">=", than: 0.5 },
      },
      figure("deliveries.pool", pool, "requests/s"),
      { ...figure("deliveries.backlog", backlog, "deliveries/s"), against: "without a backlog", ratio: ratio(backlog, ours) },
      { ...figure("deliveries.fair.p99", fair, "ms"), goal: { op: "<", than: 1000 } },
    ];
  },
};

/** Starts the webhook on the second core, and answers its port and how to end it. */
async function startReceiver(): Promise<{ port: string; stop: () => Promise<void> }> {
  const [command = "", ...args] = [...onCore(1), ...node, "receiver"];
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  const closed = once(child, "close");
  const [port] = (await once(createInterface(child.stdout), "line")) as [string];
  return {
    port,
    stop: async () => {
      child.kill("SIGKILL");
      await closed;
    },
  };
}

function figure(name: string, rounds: number[], unit: string): Figure {
  return {
    name,
    value: median(rounds),
    unit,
    against: null,
    ratio: null,
    rounds,
  };
}
