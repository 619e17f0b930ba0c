import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { busy, machine } from "../report.ts";
import { haraka, postfix } from "./mail-servers.ts";
import { NextMailServer } from "./mailserver.ts";
import { mailsvcOnPostgres, mailsvcOnSqlite } from "./mailsvc.ts";
import { bullmqAlways, bullmqEverySecond, graphileWorker, pgBoss } from "./queues.ts";
import type { Stack } from "./stack.ts";
import type { TestTool } from "./test-tool.ts";
import { type ToolReport, tryTool } from "./test-tool-trial.ts";
import { TEST_TOOLS } from "./test-tools.ts";
import { measureSpeed, measureSurvival, type Speed, type Survival } from "./trial.ts";

const PAGE = fileURLToPath(new URL("../../docs/comparison.md", import.meta.url));
const MARKS = { from: "<!-- table: npm run bench:stacks -- --save -->\n", to: "<!-- end of the table -->" };
const TOOL_MARKS = { ...MARKS, from: "<!-- table: npm run bench:stacks -- --tools --save -->\n" };

/** All stacks, in the order of the table. */
const STACKS: readonly Stack[] = [mailsvcOnSqlite, mailsvcOnPostgres, bullmqAlways, bullmqEverySecond, graphileWorker, pgBoss, postfix, haraka];

interface Row {
  readonly stack: Stack;
  readonly speed: Speed;
  readonly survival: Survival;
}

/** Measures the stacks whose names contain one of the words, prints the table, and writes it into docs/comparison.md if `save` is true. */
export async function compare({ only, rounds, save }: { only: readonly string[]; rounds: number; save: boolean }): Promise<void> {
  const next = await NextMailServer.start();
  const rows: Row[] = [];
  for (const stack of STACKS.filter(({ name }) => isChosen(name, only))) {
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

/** Tries what people test their mail with, prints the table, and writes it into docs/comparison.md if `save` is true. */
export async function compareTools({ only, save }: { only: readonly string[]; save: boolean }): Promise<void> {
  const lines: string[] = [];
  for (const tool of TEST_TOOLS.filter(({ name }) => isChosen(name, only))) {
    console.error(`${tool.name} …`);
    lines.push(toToolLine(tool, await tryTool(tool)));
    console.error(lines.at(-1));
  }
  const head = [
    "| Tool | Takes | Ready | Sent and found | Memory | Kept after a kill | A bounce | A mail of an hour later |",
    "| --- | --- | ---: | ---: | ---: | ---: | --- | --- |",
  ];
  const text = `${machine()} · ${busy()} at the end\n\n${[...head, ...lines].join("\n")}\n`;
  console.log(text);
  if (save) writeFileSync(PAGE, replaceTable(readFileSync(PAGE, "utf8"), text, TOOL_MARKS));
}

function toToolLine({ name, takes }: TestTool, report: ToolReport): string {
  const { ready, found, memory, kept, sent, bounce, scheduled } = report;
  return (
    `| ${name} | ${takes} | ${Math.round(ready)} ms | ${found.toFixed(1)} ms | ${Math.round(memory)} MB | ${kept} of ${sent} | ` +
    `${bounce ?? "no way to ask for one"} | ${scheduled ?? "no schedules"} |`
  );
}

function isChosen(name: string, only: readonly string[]): boolean {
  return only.length === 0 || only.some((word) => name.toLowerCase().includes(word.toLowerCase()));
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

function replaceTable(page: string, text: string, marks = MARKS): string {
  const from = page.indexOf(marks.from);
  const to = page.indexOf(marks.to, from);
  if (from < 0 || to < 0) throw new Error("docs/comparison.md has no place for the table.");
  return page.slice(0, from) + marks.from + text + page.slice(to);
}
