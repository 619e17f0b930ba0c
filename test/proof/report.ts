import { cpus, totalmem } from "node:os";
import type { Entry } from "./journal.ts";
import type { Part } from "./part.ts";

/** All steps of one part, added up. */
interface Summary {
  readonly part: Part;
  readonly steps: number;
  readonly planned: number;
  readonly seconds: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly failures: readonly string[];
}

export function summarize(part: Part, planned: number, all: readonly Entry[]): Summary {
  const entries = all.filter((entry) => entry.part === part.name);
  const counts: Record<string, number> = {};
  for (const entry of entries) for (const [name, n] of Object.entries(entry.counts)) counts[name] = (counts[name] ?? 0) + n;
  return {
    part,
    steps: entries.length,
    planned,
    seconds: entries.reduce((sum, { seconds }) => sum + seconds, 0),
    counts,
    rows: addUp(entries.flatMap(({ rows }) => rows as Readonly<Record<string, unknown>>[])),
    failures: entries.flatMap(({ failures }) => failures),
  };
}

/** Rows of one suite and database become one; seeds belong to single runs. */
function addUp(rows: readonly Readonly<Record<string, unknown>>[]): Record<string, unknown>[] {
  const sums = new Map<string, Record<string, unknown>>();
  for (const { seed: _, ...row } of rows) {
    const key = JSON.stringify(Object.values(row).filter((value) => typeof value === "string"));
    const sum = sums.get(key);
    if (sum === undefined) sums.set(key, { ...row });
    else for (const [name, value] of Object.entries(row)) if (typeof value === "number") sum[name] = Number(sum[name]) + value;
  }
  return [...sums.values()];
}

/** Subject of a report. */
export interface About {
  /** The version that was tried; of a run that went on with another one, each with its steps. */
  readonly commit: string;
  readonly startedAt: string;
  readonly endedAt: string;
}

/** The table of docs/reliability.md. */
export function toMarkdown(summaries: readonly Summary[], about: About): string {
  const counted = summaries
    .filter(({ steps }) => steps > 0)
    .map(
      ({ part, steps, planned, counts, failures, seconds }) =>
        `| ${part.title} | ${steps} of ${planned} | ${describe(counts)} | ${failures.length} | ${duration(seconds)} |`,
    );
  const kills = summaries.find(({ part }) => part.name === "kills");
  const rows = (kills?.rows ?? []).map(
    (row) =>
      `| ${row.suite} | ${row.database} | ${number(row.kills)} | ${number(row.acknowledged)} | ${number(row.missing)} | ${number(row.repeated)} | ${row.unlisted === null ? "" : number(row.unlisted)} |`,
  );
  return [
    `Commit ${about.commit}, ${about.startedAt.slice(0, 10)}, ${machine()}.`,
    "",
    "| Part | Steps done | Counted | Failures | Time |",
    "| --- | --- | --- | --- | --- |",
    ...counted,
    "",
    ...(rows.length === 0
      ? []
      : [
          "| Killed while under way | Database | Kills | Acknowledged | Missing | Came again | of these not listed |",
          "| --- | --- | --- | --- | --- | --- | --- |",
          ...rows,
          "",
        ]),
  ].join("\n");
}

/** The report as one page without scripts. */
export function toHtml(summaries: readonly Summary[], about: About): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>mailsvc: proof</title>
<style>
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; }
th, td { text-align: left; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid #8884; vertical-align: top; }
td.n { text-align: right; font-variant-numeric: tabular-nums; }
.good { color: light-dark(#0a6b2d, #6fdc8c); } .bad { color: light-dark(#b00020, #ff8a80); }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #8881; padding: 1rem; border-radius: .5rem; }
</style></head><body>
<h1>What mailsvc claims, tried</h1>
<p>Commit ${escapeHtml(about.commit)} · ${escapeHtml(machine())} · ${escapeHtml(about.startedAt)} to ${escapeHtml(about.endedAt)}</p>
${summaries.map(toSection).join("\n")}
</body></html>
`;
}

function toSection(summary: Summary): string {
  const { part, steps, planned, seconds, counts, rows, failures } = summary;
  const state =
    failures.length > 0
      ? `<strong class="bad">${failures.length} failed</strong>`
      : steps === planned
        ? '<strong class="good">All held</strong>'
        : "Not finished";
  return `<section><h2>${escapeHtml(part.title)}</h2><p>${escapeHtml(part.meaning)}</p>
<p>${state} · ${steps} of ${planned} steps · ${duration(seconds)}${steps > 0 ? ` · ${escapeHtml(describe(counts))}` : ""}</p>
${rows.length > 0 ? toTable(rows) : ""}${failures.map((failure) => `<pre>${escapeHtml(failure)}</pre>`).join("")}</section>`;
}

function toTable(rows: readonly Readonly<Record<string, unknown>>[]): string {
  const names = Object.keys(rows[0] ?? {});
  const cell = (value: unknown): string =>
    typeof value === "number" ? `<td class="n">${number(value)}</td>` : `<td>${escapeHtml(value === null ? "" : String(value))}</td>`;
  return `<table><thead><tr>${names.map((name) => `<th>${escapeHtml(name)}</th>`).join("")}</tr></thead>
<tbody>${rows.map((row) => `<tr>${names.map((name) => cell(row[name])).join("")}</tr>`).join("")}</tbody></table>`;
}

const WORDS: Readonly<Record<string, string>> = {
  unlisted: "repeated without being listed",
  serverErrors: "answers of 5xx",
  unexpected: "answers that are not as described",
};

function describe(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, n]) => `${number(n)} ${WORDS[name] ?? name}`)
    .join(", ");
}

function number(value: unknown): string {
  return Number(value).toLocaleString("en-US", { maximumFractionDigits: 1 });
}

function duration(seconds: number): string {
  return seconds < 90 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
}

function machine(): string {
  const [cpu] = cpus();
  return `${cpus().length} cores (${cpu?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
}
