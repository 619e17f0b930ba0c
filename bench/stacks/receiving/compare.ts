import { setTimeout as sleep } from "node:timers/promises";
import { deliverSmtp } from "../../../packages/server/test/smtp-client.ts";
import { cpuOf } from "../../cpu.ts";
import { median } from "../../figure.ts";
import { countFlushes, toFlushes } from "../flushes.ts";
import { memoryOf } from "../memory.ts";
import { byTurns, type Chosen, choose, printTable, toCount } from "../page.ts";
import { buildMail, RECIPIENT, RECORDS, SENDER } from "./mails.ts";
import { NameServer } from "./name-server.ts";
import { libraries, onPostgres, onSqlite, type Receiver, type RunningReceiver } from "./receivers.ts";

/** All receivers, in the order of the table. */
const RECEIVERS: readonly Receiver[] = [onSqlite, onPostgres, libraries];

// The compilers are done by then.
const WARM_UP = 300;
const MAILS = 500;
const AT_A_TIME = 4;
// Mails whose flushes are counted.
const SINGLE = 50;
// Work of a receiver after its answer counts, too.
const AFTER_MS = 2000;

const COLUMNS = [
  ["Receiver", "text"],
  ["A mail is flushed, by", "text"],
  ["Flushes", "number"],
  ["Received", "number"],
  ["Processor time", "number"],
  ["Memory", "number"],
] as const;

interface Reception {
  /** Mails a second. */
  readonly rate: number;
  /** Processor time for each mail, of all processes and threads, µs. */
  readonly cpu: number;
  /** Memory of all processes at the end of the load, MB. */
  readonly memory: number;
}

/** Measures receivers of mail, and prints the table of docs/comparison.md. It wants port 53 of 127.0.0.1, and to be the name server there. */
export async function compareReceiving(chosen: Chosen, rounds: number): Promise<void> {
  const names = await NameServer.start(RECORDS);
  const mails: Buffer[] = [];
  for (let n = 0; n < WARM_UP + MAILS; n += 1) mails.push(await buildMail(n));
  const results = await byTurns(choose(RECEIVERS, chosen), rounds, (receiver) => measure(receiver, mails));
  const rows: string[] = [];
  for (const [receiver, all] of results) rows.push(toRow(receiver, all, await measureFlushes(receiver, mails)));
  names.stop();
  printTable({ flag: "--receiving", columns: COLUMNS, rows }, chosen);
}

function toRow({ name, durability }: Receiver, receptions: readonly Reception[], flushes: number): string {
  const of = (key: keyof Reception): string => toCount(median(receptions.map((one) => one[key])));
  return `| ${name} | ${durability} | ${toFlushes(flushes)} | ${of("rate")}/s | ${of("cpu")} µs | ${of("memory")} MB |`;
}

async function measure(receiver: Receiver, mails: readonly Buffer[]): Promise<Reception> {
  const running = await receiver.start();
  try {
    await deliverAll(running, mails.slice(0, WARM_UP));
    await running.assertProven();
    await sleep(AFTER_MS);
    const [from, before] = [performance.now(), cpuOf(running.pids())];
    await deliverAll(running, mails.slice(WARM_UP));
    const rate = (MAILS * 1000) / (performance.now() - from);
    await sleep(AFTER_MS);
    return { rate, cpu: (cpuOf(running.pids()) - before) / MAILS, memory: memoryOf(running.pids()) };
  } finally {
    await running.stop();
  }
}

/** Counts the flushes of a receiver for each mail, while it takes one after the other. */
async function measureFlushes(receiver: Receiver, mails: readonly Buffer[]): Promise<number> {
  const running = await receiver.start();
  try {
    await deliverAll(running, mails.slice(0, 5), 1);
    return (await countFlushes(running.pids(), () => deliverAll(running, mails.slice(5, 5 + SINGLE), 1))) / SINGLE;
  } finally {
    await running.stop();
  }
}

async function deliverAll({ port }: RunningReceiver, mails: readonly Buffer[], atATime = AT_A_TIME): Promise<void> {
  const left = mails.values();
  const deliverSome = async (): Promise<void> => {
    for (const mail of left) {
      const code = await deliverSmtp(port, RECIPIENT, mail, SENDER);
      if (code !== 250) throw new Error(`A mail was answered with ${code}.`);
    }
  };
  await Promise.all(Array.from({ length: atATime }, deliverSome));
}
