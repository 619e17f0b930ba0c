import type { Automation, AutomationDetail, AutomationEntry, AutomationStep, AutomationTrigger } from "@mailsvc/sdk/contract";
import { safeText } from "../runtime/safe-text.ts";
import type { Session } from "../types.ts";
import { paintStatus } from "./status.ts";
import { type Column, renderDetails } from "./table.ts";
import { formatInstant, formatTimestamp } from "./time.ts";
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

const detail: View = { object: one };

export const automationViews: Readonly<Record<string, View>> = {
  "automations.list": { columns, empty: "No automations yet. Create one: mailsvc automations create --help" },
  "automations.create": detail,
  "automations.get": detail,
  "automations.update": detail,
  "automations.delete": detail,
  "automations.activate": detail,
  "automations.pause": detail,
  "automations.entries": { columns: entryColumns, empty: "No contact has entered yet." },
};

function one(a: AutomationDetail, { term: { out } }: Session): string {
  const details = renderDetails(
    [
      ["id", a.id],
      ["name", a.name],
      ["description", a.description],
      ["status", paintStatus(out, a.status)],
      ["version", a.version],
      ["entered", a.totalEntered],
      ["completed", a.totalCompleted],
      ["goal", a.goal && `${formatTrigger(a.goal)}: ${a.goalConversions} (${(a.goalConversionRate * 100).toFixed(1)} %)`],
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
    [out.bold("Steps"), line("trigger", formatTrigger(a.trigger)), ...a.steps.map((step) => line(step.id, formatStep(step)))].join("\n"),
  ].join("\n\n");
}

/** Where a step leads: `→ wait`, or `→ yes: thanks, no: remind`. */
function formatWays({ connections }: AutomationDetail, id: string, dim: (text: string) => string): string {
  const ways = connections.filter(({ from }) => from === id).map(({ to, branch }) => (branch === undefined ? to : `${branch}: ${to}`));
  return ways.length === 0 ? "" : dim(`  → ${safeText(ways.join(", "))}`);
}

function formatTaken({ stepId, outcome, branch, reason }: AutomationEntry["path"][number]): string {
  return `${stepId}${branch === null ? "" : `: ${branch}`}${outcome === "skipped" ? ` (skipped: ${reason})` : ""}`;
}

function formatTrigger(trigger: AutomationTrigger): string {
  const { type, ...rest } = trigger;
  return [type, ...Object.values(rest)].join(" ");
}

function formatStep(step: AutomationStep): string {
  const { id: _id, type, ...rest } = step;
  return [type, ...Object.values(rest).map((value) => (typeof value === "string" ? value : JSON.stringify(value)))].join(" ");
}
