import { type AutomationDetail, type AutomationStats, describeStep, describeTrigger, type StepStats } from "@mailsvc/sdk/contract";
import { safeText } from "../text/safe-text.ts";
import { type Column, renderTable } from "../text/table.ts";
import { formatNumber } from "../text/units.ts";
import type { Style, Terminal } from "../types.ts";
import { type GraphLine, layOutGraph } from "./graph-layout.ts";
import { paintStatus } from "./status.ts";

/** Draws an automation from top to bottom, with the numbers of each step. */
export function drawAutomation(automation: AutomationDetail, stats: AutomationStats, { out, columns }: Terminal): string {
  const byId = new Map(stats.steps.map((step) => [step.stepId, step]));
  const rows = layOutGraph(automation).map((line) => toRow(line, automation, stats, byId));
  const former = stats.steps.filter(({ type, waiting }) => type === null && waiting > 0);
  return [
    formatHead(automation, stats, out),
    renderTable(rows, COLUMNS, out, columns),
    ...(former.length === 0
      ? []
      : [
          `${out.yellow("Waiting in older versions:")} ${safeText(former.map(({ stepId, waiting }) => `${stepId} ${waiting}`).join(", "))}`,
        ]),
  ].join("\n\n");
}

interface Row {
  readonly drawing: string;
  readonly what: string;
  readonly entered: number | null;
  /** Null for what is no step. */
  readonly step: StepStats | null;
}

const COLUMNS: Column<Row>[] = [
  { title: "step", value: (row) => row.drawing, flexible: true, paint: paintDrawing },
  { title: "what it does", value: (row) => row.what, flexible: true, priority: 1, paint: (style, text) => style.dim(blank(text)) },
  { title: "entered", value: (row) => row.entered, paint: (_style, text) => blank(text) },
  { title: "waiting", value: (row) => row.step?.waiting, paint: (style, text) => paintNumber(style, style.yellow, text) },
  { title: "done", value: (row) => row.step?.completed, paint: (style, text) => paintNumber(style, style.green, text) },
  { title: "skipped", value: (row) => row.step?.skipped, paint: (style, text) => paintNumber(style, style.red, text) },
];

const GLYPHS = { trigger: "○", step: "●", choice: "◆", exit: "■" } as const;

function toRow(line: GraphLine, automation: AutomationDetail, { entered }: AutomationStats, byId: ReadonlyMap<string, StepStats>): Row {
  switch (line.kind) {
    case "trigger":
      return { drawing: `${GLYPHS.trigger} trigger`, what: describeTrigger(automation.trigger), entered, step: null };
    case "step": {
      const { step, indent } = line;
      const numbers = byId.get(step.id) ?? null;
      const glyph = step.type === "exit" ? GLYPHS.exit : numbers?.branches ? GLYPHS.choice : GLYPHS.step;
      return { drawing: `${indent}${glyph} ${step.id}`, what: describeStep(step), entered: numbers?.entered ?? 0, step: numbers };
    }
    case "branch": {
      const { indent, stepId, name, to, back } = line;
      const target = to === undefined ? "" : to === null ? " ends" : ` ${back ? "↑" : "→"} ${to}`;
      return { drawing: `${indent}${name}${target}`, what: "", entered: byId.get(stepId)?.branches?.[name] ?? 0, step: null };
    }
    case "jump":
      return { drawing: `${line.indent}${line.back ? "↑" : "→"} ${line.to}`, what: "", entered: null, step: null };
  }
}

function formatHead(a: AutomationDetail, stats: AutomationStats, style: Style): string {
  const numbers = (["entered", "inside", "completed", "exited", "failed"] as const)
    .filter((name) => stats[name] > 0 || name === "entered")
    .map((name) => `${formatNumber(stats[name])} ${name}`);
  const goal =
    a.goal &&
    `${formatNumber(a.goalConversions)} ${a.goalConversions === 1 ? "goal" : "goals"} (${(a.goalConversionRate * 100).toFixed(1)} %)`;
  const revenue = a.revenueGenerated > 0 ? `${a.revenueGenerated.toFixed(2)} ${a.currency}` : null;
  const version = a.shownVersion === a.version ? `version ${a.version}` : `version ${a.shownVersion} of ${a.version}`;
  const state = `${paintStatus(style, a.status)}${a.archivedAt === null ? "" : ", archived"}`;
  return [
    `${style.bold(safeText(a.name))}  ${state}  ${style.dim(version)}`,
    [...numbers, goal, revenue].filter((part) => part !== null).join(style.dim(" · ")),
  ].join("\n");
}

/** A line that is no step has no numbers. */
function blank(text: string): string {
  return text === "–" ? " " : text;
}

function paintNumber(style: Style, paint: (text: string) => string, text: string): string {
  return text === "0" ? style.dim(text) : paint(blank(text));
}

/** Dims the lines, and paints the glyph of a step. */
function paintDrawing(style: Style, text: string): string {
  const [, indent = "", glyph = "", name = ""] = /^([│├╰─ ]*)([○●◆■]?)(.*)$/u.exec(text) ?? [];
  const paint = { "○": style.cyan, "●": style.green, "◆": style.yellow, "■": style.red }[glyph];
  return `${style.dim(indent)}${paint ? paint(glyph) : ""}${glyph === "" ? style.dim(name) : name}`;
}
