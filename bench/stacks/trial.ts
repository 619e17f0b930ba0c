import { setTimeout as sleep } from "node:timers/promises";
import { cpuOf } from "../cpu.ts";
import { countFlushes } from "./flushes.ts";
import type { NextMailServer } from "./mailserver.ts";
import { memoryOf } from "./memory.ts";
import { sendMails } from "./sender.ts";
import type { RunningStack, Stack } from "./stack.ts";

const SENDERS = 50;
const WARM_UP = 1000;
// Mails whose flushes are counted.
const SINGLE = 50;
const LOAD_MS = 10_000;
export const KILLS = 10;
// Between two kills, ms.
export const LIFE = { least: 300, most: 1500 };
// A mail that has not come by then, after the last one that came, is missing.
export const PATIENCE_MS = 60_000;

/** Speed of a stack. */
export interface Speed {
  /** Mails a second that were acknowledged. */
  readonly accepted: number;
  /** Mails a second from the first request to the last delivery. */
  readonly delivered: number;
  /** Processor time for each mail, of all processes of the stack, µs. */
  readonly cpu: number;
  /** Memory of all processes at the end of the load, MB. */
  readonly memory: number;
}

/** Fate of the mails that were acknowledged while a stack was killed again and again. */
export interface Survival {
  readonly acknowledged: number;
  /** Acknowledged and not delivered. */
  readonly missing: number;
  /** Delivered more than once. */
  readonly doubled: number;
  /** Delivered more than once, and not listed as such by the stack. */
  readonly unlisted: number;
}

/** Measures how fast a stack takes and delivers mail, from an empty queue on. */
export async function measureSpeed(stack: Stack, next: NextMailServer): Promise<Speed> {
  return withStack(stack, next, (running) => measureOnce(running, next));
}

/** Counts the flushes of a stack for each mail, while it takes one after the other. */
export async function measureFlushes(stack: Stack, next: NextMailServer): Promise<number> {
  return withStack(stack, next, async ({ entrance, pids }) => {
    // The first one of a connection may make files.
    await arrival(next, await sendMails(entrance, 1, (acknowledged) => acknowledged >= 5));
    const flushes = await countFlushes(pids(), () => sendMails(entrance, 1, (acknowledged) => acknowledged >= SINGLE));
    return flushes / SINGLE;
  });
}

/** Kills a stack ten times at random moments while it takes and delivers mail. `random` gives numbers from 0 to 1. */
export async function measureSurvival(stack: Stack, next: NextMailServer, random: () => number): Promise<Survival> {
  return withStack(stack, next, async (running) => {
    let over = false;
    const sending = sendMails(running.entrance, SENDERS, () => over);
    for (let i = 0; i < KILLS; i += 1) {
      await sleep(LIFE.least + random() * (LIFE.most - LIFE.least));
      await running.kill();
      await running.restart();
    }
    await sleep(LIFE.most);
    over = true;
    const acknowledged = await sending;
    await arrival(next, acknowledged);
    const inDoubt = new Set(await running.listInDoubt());
    const missing = [...acknowledged].filter((n) => !next.taken.has(n));
    const doubled = [...next.taken].filter(([, times]) => times > 1).map(([n]) => n);
    const unlisted = doubled.filter((n) => !inDoubt.has(n));
    return { acknowledged: acknowledged.size, missing: missing.length, doubled: doubled.length, unlisted: unlisted.length };
  });
}

async function withStack<T>(stack: Stack, next: NextMailServer, run: (running: RunningStack) => Promise<T>): Promise<T> {
  next.forget();
  const running = await stack.start(next.port);
  try {
    return await run(running);
  } finally {
    await running.stop();
  }
}

async function measureOnce(running: RunningStack, next: NextMailServer): Promise<Speed> {
  await arrival(next, await sendMails(running.entrance, SENDERS, (acknowledged) => acknowledged >= WARM_UP));
  next.forget();
  const cpuSoFar = (): number => running.cpu?.() ?? cpuOf(running.pids());
  const [from, before] = [performance.now(), cpuSoFar()];
  const acknowledged = await sendMails(running.entrance, SENDERS, () => performance.now() - from > LOAD_MS);
  const accepted = (acknowledged.size * 1000) / (performance.now() - from);
  const memory = memoryOf(running.pids());
  const missing = await arrival(next, acknowledged);
  if (missing > 0) throw new Error(`${missing} of ${acknowledged.size} mails did not arrive.`);
  const cpu = (cpuSoFar() - before) / acknowledged.size;
  return { accepted, delivered: (acknowledged.size * 1000) / (next.lastAt - from), cpu, memory };
}

/** Waits until all mails have come, or none has for a minute. Returns how many are missing. */
async function arrival(next: NextMailServer, mails: ReadonlySet<number>): Promise<number> {
  const from = performance.now();
  for (;;) {
    const missing = [...mails].filter((n) => !next.taken.has(n)).length;
    if (missing === 0 || performance.now() - Math.max(from, next.lastAt) > PATIENCE_MS) return missing;
    await sleep(50);
  }
}
