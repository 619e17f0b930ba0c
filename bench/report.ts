import { cpus, loadavg, totalmem, type } from "node:os";
import Database from "better-sqlite3";
import { type Bench, type Figure, reached } from "./figure.ts";

/** How many processes wanted a core in the last minute. */
export function busy(): string {
  return `load ${(loadavg()[0] ?? 0).toFixed(1)}`;
}

/** The machine and the versions behind the figures. */
export function machine(): string {
  const [first] = cpus();
  const db = new Database(":memory:");
  const { v: sqlite } = db.prepare("SELECT sqlite_version() AS v").get() as { v: string };
  db.close();
  return [
    new Date().toISOString().slice(0, 16).replace("T", " "),
    `${cpus().length} cores, ${first?.model.trim() ?? "unknown"}`,
    `${Math.round(totalmem() / 2 ** 30)} GiB, ${type()}`,
    `Node ${process.versions.node}, SQLite ${sqlite}`,
  ].join(" · ");
}

export function asLine({ name, value, unit, against, ratio }: Figure): string {
  return JSON.stringify({ name, value, unit, against, ratio });
}

const WIDTHS = [24, 22, 18, 24, 9, 8, 4];

/** A figure for a terminal. */
export function asRow(figure: Figure): string {
  return cells(figure)
    .map((cell, i) => cell.padEnd(WIDTHS[i] ?? 0))
    .join(" ")
    .trimEnd();
}

/** The whole of RESULTS.md. */
export function asResults(about: string, done: readonly { bench: Bench; figures: readonly Figure[] }[]): string {
  const table = [
    ["Figure", "Median", "Rounds", "Against", "Ratio", "Goal", "Reached"],
    ["---", "---", "---", "---", "---", "---", "---"],
    ...done.flatMap(({ figures }) => figures.map(cells)),
  ];
  return [
    "# Results",
    "",
    `The last run: ${about}.`,
    "",
    "Written by `npm run bench -- --save`. Rates differ from machine to machine and hour to hour; the ratios are taken side by side in one run, with the",
    "server on one core and the load on another, and are what to compare. A goal is for the ratio, or for the figure itself where there is none.",
    "",
    ...table.map((row) => `| ${row.join(" | ")} |`),
    "",
    "## What they mean",
    "",
    ...done.map(({ bench }) => `- **${bench.name}**: ${bench.meaning}`),
    "",
  ].join("\n");
}

function digits(value: number): string {
  return Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en-US") : String(Number(value.toPrecision(3)));
}

function goalOf({ ratio, goal }: Figure): string {
  return goal ? `${goal.op} ${goal.than}${ratio === null ? "" : "x"}` : "";
}

function verdict(figure: Figure): string {
  return { true: "yes", false: "NO", null: "" }[String(reached(figure)) as "true" | "false" | "null"];
}

function rangeOf({ rounds = [] }: Figure): string {
  return rounds.length > 1 ? `${digits(Math.min(...rounds))} to ${digits(Math.max(...rounds))}` : "";
}

function cells(figure: Figure): string[] {
  const { name, value, unit, against, ratio } = figure;
  return [
    name,
    `${digits(value)} ${unit}`,
    rangeOf(figure),
    against ?? "",
    ratio === null ? "" : `${digits(ratio)}x`,
    goalOf(figure),
    verdict(figure),
  ];
}
