import { cpus, loadavg, totalmem, type } from "node:os";
import Database from "better-sqlite3";
import { type Bench, type Figure, reached } from "./figure.ts";

/** Formats the load average of the last minute. */
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

/** Result of one bench, as stored in results.json. */
export interface Result {
  /** The name of the bench. */
  readonly bench: string;
  /** The machine, the versions and the load. */
  readonly about: string;
  readonly figures: readonly Figure[];
}

/** The results that are kept after a run: its own, and those that an earlier run has of other benches. In the order of `benches`. */
export function mergeResults(benches: readonly Pick<Bench, "name">[], earlier: readonly Result[], now: readonly Result[]): Result[] {
  return benches.flatMap(({ name }) => now.find(({ bench }) => bench === name) ?? earlier.find(({ bench }) => bench === name) ?? []);
}

/** The whole of RESULTS.md: a section for each bench that was ever saved. */
export function asResults(benches: readonly Pick<Bench, "name" | "meaning">[], results: readonly Result[]): string {
  const meaningOf = new Map(benches.map(({ name, meaning }) => [name, meaning]));
  return [
    "# Results",
    "",
    "Written by `npm run bench -- [NAME …] --save`, which measures some benchmarks again and keeps the others. Rates differ from machine to machine and",
    "hour to hour; the ratios are taken side by side in one run, with the server on one core and the load on another, and are what to compare. A goal",
    "is for the ratio, or for the figure itself where there is none.",
    "",
    ...results.flatMap(({ bench, about, figures }) => [
      `## ${bench}`,
      "",
      meaningOf.get(bench) ?? "",
      "",
      toTable(figures),
      "",
      `<sub>${about}</sub>`,
      "",
    ]),
  ].join("\n");
}

function toTable(figures: readonly Figure[]): string {
  const rows = [["Figure", "Median", "Rounds", "Against", "Ratio", "Goal", "Reached"], Array(7).fill("---"), ...figures.map(cells)];
  return rows.map((row) => `| ${row.join(" | ")} |`).join("\n");
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
