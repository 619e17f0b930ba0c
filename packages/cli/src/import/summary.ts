import { CONSENT_TARGETS, type ColumnTarget, formatCustomColumn, formatTarget, listShared, type Reject } from "@mailsvc/sdk/contact-files";
import type { AutomationStart } from "@mailsvc/sdk/contract";
import { safeText } from "../text/safe-text.ts";
import { renderDetails } from "../text/table.ts";
import { formatNumber } from "../text/units.ts";
import type { Style } from "../types.ts";
import type { ImportResult, ImportState } from "./importer.ts";
import type { ImportKind } from "./kind.ts";

/** A fault of a row, as the summary lists it. */
export interface ShownFault {
  line: number;
  column: string;
  field: string;
  code: string;
  message: string;
}

/** The result of an import. */
export interface Summary {
  file: string;
  dryRun: boolean;
  /** False when it stopped before the end of the file. */
  complete: boolean;
  /** Rows processed, including those of earlier runs; the counts and `failed` add up to it. */
  rows: number;
  counts: Readonly<Record<string, number>>;
  /** The automations that contacts entered, or would enter with startAutomations. */
  automations: readonly AutomationStart[];
  startAutomations: boolean;
  /** The import on the server, which can be undone, and the tag of its people. */
  importId: string | null;
  tag: string | null;
  failed: number;
  /** Rows processed by earlier runs. */
  resumedAt: number;
  columns: { name: string; field: string | null }[];
  /** The first rows that failed in this run. */
  errors: ShownFault[];
  errorsFile: string | null;
  /** The progress file from which the import can be resumed. */
  resumeFile: string | null;
}

const CONSENT_FIELDS: ReadonlySet<string> = new Set(["status", ...CONSENT_TARGETS]);

export function describeColumns(names: readonly string[], targets: readonly ColumnTarget[]): Summary["columns"] {
  return targets.map((target, i) => ({ name: names[i]?.trim() ?? "", field: formatField(target) }));
}

/** `line 12, E-mail: "ada" has no @.` */
export function formatReject({ line, faults }: Reject, style: Style): string[] {
  return faults.map(
    ({ column, message }) => `${style.bold(`line ${line}`)}${column === "" ? "" : `, ${safeText(column)}`}: ${safeText(message)}`,
  );
}

export function listShownFaults({ line, faults }: Reject): ShownFault[] {
  return faults.map((fault) => ({ line, ...fault }));
}

/** The summary as JSON: counts in display order, and the other numbers. */
export function summaryToJson({ counts, ...summary }: Summary, kind: ImportKind): Record<string, unknown> {
  return {
    file: summary.file,
    dryRun: summary.dryRun,
    complete: summary.complete,
    rows: summary.rows,
    ...Object.fromEntries(kind.outcomes.map((name) => [name, counts[name] ?? 0])),
    failed: summary.failed,
    ...Object.fromEntries(
      ["suppressed", "optedOut", "neverAgreed", "joined", "asked"].flatMap((name) =>
        counts[name] === undefined ? [] : [[name, counts[name]]],
      ),
    ),
    ...(kind.consent
      ? { automations: summary.automations, startAutomations: summary.startAutomations, import: summary.importId, tag: summary.tag }
      : {}),
    resumedAt: summary.resumedAt,
    columns: summary.columns,
    errors: summary.errors,
    errorsFile: summary.errorsFile,
    resumeFile: summary.resumeFile,
  };
}

/** The summary for people. */
export function formatSummary(summary: Summary, kind: ImportKind, result: ImportResult, seconds: number, style: Style): string {
  const { counts } = summary;
  const suppressed = counts["suppressed"] ?? 0;
  const kept = summary.columns.flatMap(({ name, field }) => (field?.startsWith("custom.") && !/^custom\./i.test(name) ? [name] : []));
  const left = summary.columns.flatMap(({ name, field }) => (field === null && name !== "" ? [name] : []));
  const done = summary.rows - summary.resumedAt;
  return [
    formatHeadline(summary, result, style),
    renderDetails(
      [
        ["rows", `${formatNumber(summary.rows)}${seconds >= 1 ? `  (${formatNumber(Math.round(done / seconds))} a second)` : ""}`],
        ...kind.outcomes.map((name) => [name, (counts[name] ?? 0) > 0 ? formatNumber(counts[name] ?? 0) : ""] as const),
        ["suppressed", suppressed > 0 ? `${formatNumber(suppressed)} of those created are suppressed and not subscribed` : ""],
        [
          "opted out",
          (counts["optedOut"] ?? 0) > 0 ? `${formatNumber(counts["optedOut"] ?? 0)} said no, by ${listConsentColumns(summary)}` : "",
        ],
        [
          "never agreed",
          (counts["neverAgreed"] ?? 0) > 0
            ? `${formatNumber(counts["neverAgreed"] ?? 0)} have an empty cell for opt-in; they are not subscribed if they are new`
            : "",
        ],
        ["failed", summary.failed > 0 ? formatNumber(summary.failed) : ""],
        ["joined the list", (counts["joined"] ?? 0) > 0 ? formatNumber(counts["joined"] ?? 0) : ""],
        ["asked to confirm", (counts["asked"] ?? 0) > 0 ? formatNumber(counts["asked"] ?? 0) : ""],
        ...summary.automations.map((start) => ["automation", describeStart(start, summary)] as const),
        ["undo", summary.importId === null ? "" : `mailsvc contacts undo-import ${summary.tag ?? summary.importId}`],
        ...listShared(summary.columns).map(({ field, names }) => [field, `the first that is not empty: ${names.join(", ")}`] as const),
        ["kept as custom fields", kept.join(", ")],
        ["ignored columns", left.join(", ")],
        ["rows that failed", summary.failed > 0 ? (summary.errorsFile ?? "") : ""],
      ],
      style,
    ),
  ].join("\n");
}

/** The completed fraction from 0 to 1; null when the size is unknown. */
export function computeFraction({ consumed }: ImportState, size: number | null): number | null {
  return size === null || size === 0 ? null : Math.min(1, consumed / size);
}

/** Rows per second in this run, and the estimated seconds left (null when unknown). */
export function estimatePace(state: ImportState, size: number | null, began: number, now: number) {
  const seconds = Math.max(0.001, (now - began) / 1000);
  const rate = (state.rows - state.resumedAt) / seconds;
  const bytes = state.consumed - state.resumedBytes;
  const left = size === null || bytes <= 0 || seconds < 1 ? null : ((size - state.consumed) / bytes) * seconds;
  return { rate: Math.round(rate), left: left === null ? null : Math.ceil(left) };
}

/** `people.csv: 62 %, 124,000 rows, 18,240 a second, 787 failed` */
export function formatProgress(name: string, state: ImportState, size: number | null, rate: number): string {
  const done = computeFraction(state, size);
  return [
    ...(done === null ? [] : [`${Math.floor(done * 100)} %`]),
    `${formatNumber(state.rows)} rows`,
    `${formatNumber(rate)} a second`,
    ...(state.failed > 0 ? [`${formatNumber(state.failed)} failed`] : []),
  ]
    .join(", ")
    .replace(/^/, `${safeText(name)}: `);
}

function formatField(target: ColumnTarget): string | null {
  return target.to === "custom" ? formatCustomColumn(target.key) : target.to === "ignored" ? null : formatTarget(target);
}

function describeStart({ name, contacts }: AutomationStart, { dryRun, startAutomations }: Summary): string {
  const people = `${formatNumber(contacts)} ${contacts === 1 ? "person" : "people"}`;
  if (startAutomations) return `${people} ${dryRun ? "would enter" : "entered"} ${safeText(name)}`;
  return `${people} would enter ${safeText(name)} with --start-automations`;
}

function listConsentColumns({ columns }: Summary): string {
  return columns.flatMap(({ name, field }) => (CONSENT_FIELDS.has(field ?? "") ? [name] : [])).join(", ") || "their status or tags";
}

function formatHeadline(summary: Summary, result: ImportResult, style: Style): string {
  const file = safeText(summary.file);
  if (!summary.complete)
    return `${style.yellow(result.why === "cancelled" ? "Stopped" : "Not finished")} ${file} after ${formatNumber(summary.rows)} rows`;
  if (summary.dryRun) return `${style.green("Checked")} ${file}; nothing was stored`;
  return `${summary.failed > 0 ? style.yellow("Imported") : style.green("Imported")} ${file}`;
}
