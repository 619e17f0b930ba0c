import {
  type Automation,
  type AutomationDetail,
  type AutomationEntry,
  type AutomationStats,
  type AutomationVersion,
  type DryRun,
  type DryRunStep,
  describeStep,
  describeTrigger,
  type StepStats,
} from "@mailsvc/sdk/contract";
import { safeText } from "../text/safe-text.ts";
import { type Column, renderDetails, renderTable } from "../text/table.ts";
import { formatInstant, formatTimestamp } from "../text/units.ts";
import type { Session } from "../types.ts";
import { paintStatus } from "./status.ts";
import type { View } from "./view.ts";

const columns: Column<Automation>[] = [
  { title: "id", value: (a) => a.id },
  { title: "name", value: (a) => a.name, flexible: true },
  { title: "status", value: (a) => a.status, paint: paintStatus },
  { title: "trigger", value: (a) => a.triggerType, priority: 2 },
  { title: "entered", value: (a) => a.totalEntered },
  { title: "completed", value: (a) => a.totalCompleted },
  { title: "goals", value: (a) => (a.goalType === null ? "" : a.goalConversions), priority: 3 },
];

const entryColumns: Column<AutomationEntry>[] = [
  { title: "contact", value: (e) => e.contactId },
  { title: "status", value: (e) => e.status, paint: paintStatus },
  { title: "path", value: (e) => e.path.map(formatTaken).join(" → "), flexible: true },
  { title: "next", value: (e) => e.stepId ?? e.reason ?? "" },
  { title: "due (utc)", value: (e) => formatTimestamp(e.dueAt), paint: (s, t) => s.dim(t), priority: 1 },
  { title: "entered (utc)", value: (e) => formatTimestamp(e.enteredAt), paint: (s, t) => s.dim(t), priority: 2 },
];

const versionColumns: Column<AutomationVersion>[] = [
  { title: "version", value: (v) => v.version },
  { title: "", value: (v) => (v.current ? "current" : "") },
  { title: "steps", value: (v) => v.steps },
  { title: "activated", value: (v) => (v.templates === null ? "" : "yes") },
  { title: "created (utc)", value: (v) => formatTimestamp(v.createdAt), paint: (s, t) => s.dim(t) },
];

const stepColumns: Column<StepStats>[] = [
  { title: "step", value: (s) => s.stepId, flexible: true },
  { title: "type", value: (s) => s.type ?? "in older versions", priority: 2 },
  { title: "entered", value: (s) => s.entered },
  { title: "waiting", value: (s) => s.waiting },
  { title: "completed", value: (s) => s.completed },
  { title: "skipped", value: (s) => s.skipped },
  { title: "branches", value: (s) => formatBranches(s.branches), priority: 1 },
];

const testColumns: Column<DryRunStep>[] = [
  { title: "at (utc)", value: (s) => formatTimestamp(s.at), paint: (style, t) => style.dim(t) },
  { title: "step", value: (s) => s.stepId },
  { title: "type", value: (s) => s.type, priority: 1 },
  { title: "what happens", value: formatDryRunStep, flexible: true },
];

const detail: View = { object: one };

export const automationViews: Readonly<Record<string, View>> = {
  "automations.list": { columns, empty: "No automations yet. Create one: mailsvc automations create --help" },
  "automations.create": detail,
  "automations.get": detail,
  "automations.update": detail,
  "automations.delete": detail,
  "automations.activate": detail,
  "automations.pause": detail,
  "automations.archive": detail,
  "automations.unarchive": detail,
  "automations.versions": { columns: versionColumns },
  "automations.stats": { object: stats },
  "automations.test": { object: dryRun },
  "automations.entries": { columns: entryColumns, empty: "No contact has entered yet." },
};

function one(a: AutomationDetail, { term: { out } }: Session): string {
  const details = renderDetails(
    [
      ["id", a.id],
      ["name", a.name],
      ["description", a.description],
      ["status", `${paintStatus(out, a.status)}${a.archivedAt === null ? "" : ", archived"}`],
      ["version", a.shownVersion === a.version ? a.version : `${a.shownVersion} of ${a.version}`],
      ["entered", a.totalEntered],
      ["completed", a.totalCompleted],
      ["goal", a.goal && `${describeTrigger(a.goal)}: ${a.goalConversions} (${(a.goalConversionRate * 100).toFixed(1)} %)`],
      [
        "revenue",
        a.revenueGenerated === 0 ? null : `${a.revenueGenerated.toFixed(2)} ${a.currency}, of which goals ${a.goalRevenue.toFixed(2)}`,
      ],
      ["re-entry", a.reEntryDelayHours === null ? "no" : `after ${a.reEntryDelayHours} h`],
      ["created", formatInstant(a.createdAt)],
      ["updated", formatInstant(a.updatedAt)],
    ],
    out,
  );
  const width = Math.max(...a.steps.map(({ id }) => id.length), "trigger".length);
  const line = (id: string, what: string): string => `  ${id.padEnd(width)}  ${safeText(what)}${formatWays(a, id, out.dim)}`;
  return [
    details,
    [out.bold("Steps"), line("trigger", describeTrigger(a.trigger)), ...a.steps.map((step) => line(step.id, describeStep(step)))].join(
      "\n",
    ),
  ].join("\n\n");
}

function stats({ steps, ...n }: AutomationStats, { term: { out, columns: width } }: Session): string {
  const totals = renderDetails(
    [
      ["entered", n.entered],
      ["inside", n.inside],
      ["completed", n.completed],
      ["exited", n.exited],
      ["failed", n.failed],
      ["goals", n.goalConversions],
    ],
    out,
  );
  return steps.length === 0 ? totals : `${totals}\n\n${renderTable(steps, stepColumns, out, width)}`;
}

function dryRun({ path, ...run }: DryRun, { term: { out, columns: width } }: Session): string {
  const head = run.mayEnter ? out.green("enters") : out.yellow(`would not enter: ${safeText(run.entryReason ?? "")}`);
  const end = `${paintStatus(out, run.status)}${run.reason === null ? "" : `: ${safeText(run.reason)}`}`;
  return [
    `${head} ${out.dim(formatInstant(run.enteredAt))}`,
    ...(path.length === 0 ? [] : [renderTable(path, testColumns, out, width)]),
    `${end} ${out.dim(formatInstant(run.endedAt))}`,
  ].join("\n");
}

function formatDryRunStep({ outcome, reason, branch, assumed, until, email }: DryRunStep): string {
  const told = [
    outcome === "skipped" ? `skipped: ${reason}` : reason,
    branch === null ? null : `→ ${branch}${assumed ? " (assumed)" : ""}`,
    until === null ? null : `until ${formatTimestamp(until)}`,
    email?.subject,
  ];
  return told.filter((part) => part).join("  ");
}

function formatBranches(branches: StepStats["branches"]): string {
  return Object.entries(branches ?? {})
    .map(([name, count]) => `${name} ${count}`)
    .join(", ");
}

/** Formats the next steps: `→ wait`, or `→ yes: thanks, no: remind`. */
function formatWays({ connections }: AutomationDetail, id: string, dim: (text: string) => string): string {
  const ways = connections.filter(({ from }) => from === id).map(({ to, branch }) => (branch === undefined ? to : `${branch}: ${to}`));
  return ways.length === 0 ? "" : dim(`  → ${safeText(ways.join(", "))}`);
}

function formatTaken({ stepId, outcome, branch, reason }: AutomationEntry["path"][number]): string {
  return `${stepId}${branch === null ? "" : `: ${branch}`}${outcome === "skipped" ? ` (skipped: ${reason})` : ""}`;
}
