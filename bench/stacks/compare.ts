import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { busy, machine } from "../report.ts";
import { haraka, postfix } from "./mail-servers.ts";
import { NextMailServer } from "./mailserver.ts";
import { mailsvcOnPostgres, mailsvcOnSqlite } from "./mailsvc.ts";
import { bullmqAlways, bullmqEverySecond, graphileWorker } from "./queues.ts";
import type { Stack } from "./stack.ts";
import { measureSpeed, measureSurvival, type Speed, type Survival } from "./trial.ts";

const PAGE = fileURLToPath(new URL("../../docs/comparison.md", import.meta.url));
const MARKS = { from: "<!-- table: npm run bench:stacks -- --save -->\n", to: "<!-- end of the table -->" };

/** All stacks, in the order of the table. */
const STACKS: readonly Stack[] = [mailsvcOnSqlite, mailsvcOnPostgres, bullmqAlways, bullmqEverySecond, graphileWorker, postfix, haraka];

interface Row {
  readonly stack: Stack;
  readonly speed: Speed;
  readonly survival: Survival;
}

/** Measures the stacks whose names contain one of the words, prints the table, and writes it into docs/comparison.md if `save` is true. */
export async function compare({ only, rounds, save }: { only: readonly string[]; rounds: number; save: boolean }): Promise<void> {
  const next = await NextMailServer.start();
  const rows: Row[] = [];
  for (const stack of STACKS.filter(
    ({ name }) => only.length === 0 || only.some((word) => name.toLowerCase().includes(word.toLowerCase())),
  )) {
    const missing = stack.missing();
    if (missing !== null) {
      console.error(`${stack.name}: left out, ${missing}.`);
      continue;
    }
    console.error(`${stack.name} …`);
    const row = { stack, speed: await measureSpeed(stack, next, rounds), survival: await measureSurvival(stack, next, Math.random) };
    console.error(toLine(row));
    rows.push(row);
  }
  await next.stop();
  const text = `${machine()} · ${busy()} at the end\n\n${toTable(rows)}\n`;
  console.log(text);
  if (save) writeFileSync(PAGE, replaceTable(readFileSync(PAGE, "utf8"), text));
}

function toTable(rows: readonly Row[]): string {
  const head = [
    "| Stack | A mail is on disk | Accepted | Delivered | Processor time | Memory | Missing | Doubled | of these not listed |",
    "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
  ];
  return [...head, ...rows.map(toLine)].join("\n");
}

function toLine({ stack: { name, durability }, speed, survival }: Row): string {
  const number = (value: number): string => Math.round(value).toLocaleString("en-US");
  return (
    `| ${name} | ${durability} | ${number(speed.accepted)}/s | ${number(speed.delivered)}/s | ${number(speed.cpu)} µs | ${number(speed.memory)} MB | ` +
    `${number(survival.missing)} of ${number(survival.acknowledged)} | ${number(survival.doubled)} | ${number(survival.unlisted)} |`
  );
}

function replaceTable(page: string, text: string): string {
  const [before, rest = ""] = page.split(MARKS.from);
  const after = rest.split(MARKS.to)[1];
  if (after === undefined) throw new Error("docs/comparison.md has no place for the table.");
  return `${before}${MARKS.from}${text}${MARKS.to}${after}`;
}
