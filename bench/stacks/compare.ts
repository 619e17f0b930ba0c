import { median } from "../figure.ts";
import { exim, openSmtpd } from "./debian-relays.ts";
import { toFlushes } from "./flushes.ts";
import { haraka, postfix } from "./mail-servers.ts";
import { NextMailServer } from "./mailserver.ts";
import { mailsvcOnPostgres, mailsvcOnSqlite } from "./mailsvc.ts";
import { byTurns, type Chosen, choose, printTable, toCount } from "./page.ts";
import { bullmqAlways, bullmqEverySecond, graphileWorker, pgBoss } from "./queues.ts";
import type { Stack } from "./stack.ts";
import { measureFlushes, measureSpeed, measureSurvival, type Speed, type Survival } from "./trial.ts";

/** All stacks, in the order of the table. */
const STACKS: readonly Stack[] = [
  mailsvcOnSqlite,
  mailsvcOnPostgres,
  bullmqAlways,
  bullmqEverySecond,
  graphileWorker,
  pgBoss,
  postfix,
  exim,
  openSmtpd,
  haraka,
];

/** Measures the stacks, and prints the table of docs/comparison.md. */
export async function compare(chosen: Chosen, rounds: number): Promise<void> {
  const next = await NextMailServer.start();
  const speeds = await byTurns(choose(STACKS, chosen), rounds, (stack) => measureSpeed(stack, next));
  const rows: string[] = [];
  for (const [stack, all] of speeds) {
    console.error(`${stack.name}, flushes and kills …`);
    const flushes = await measureFlushes(stack, next);
    rows.push(toRow(stack, all, { flushes, survival: await measureSurvival(stack, next, Math.random) }));
    console.error(rows.at(-1));
  }
  await next.stop();
  const texts = ["Stack", "A mail is on disk"].map((title) => [title, "text"] as const);
  const numbers = ["Flushes", "Accepted", "Delivered", "Processor time", "Memory", "Missing", "Doubled", "of these not listed"];
  printTable({ flag: "", columns: [...texts, ...numbers.map((title) => [title, "number"] as const)], rows }, chosen);
}

function toRow(
  { name, durability }: Stack,
  speeds: readonly Speed[],
  { flushes, survival }: { readonly flushes: number; readonly survival: Survival },
): string {
  const of = (key: keyof Speed): string => toCount(median(speeds.map((speed) => speed[key])));
  return (
    `| ${name} | ${durability} | ${toFlushes(flushes)} | ${of("accepted")}/s | ${of("delivered")}/s | ${of("cpu")} µs | ${of("memory")} MB | ` +
    `${toCount(survival.missing)} of ${toCount(survival.acknowledged)} | ${toCount(survival.doubled)} | ${toCount(survival.unlisted)} |`
  );
}
