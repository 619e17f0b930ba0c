import type { AgentSelf, Heartbeat, Run, RunLogEntry, Wakeup } from "@mailsvc/sdk/contract";
import { type Column, renderDetails } from "../text/table.ts";
import { formatInstant, formatTimestamp } from "../text/units.ts";
import type { Session } from "../types.ts";
import { dim, paintStatus } from "./status.ts";
import type { View } from "./view.ts";

const runColumns: Column<Run>[] = [
  { title: "run", value: (r) => r.runId },
  { title: "title", value: (r) => r.title, flexible: true },
  { title: "state", value: runState, paint: paintStatus },
  { title: "done", value: (r) => (r.progress ? `${r.progress.percent} %` : ""), priority: 2 },
  { title: "credits", value: (r) => r.creditsConsumed, priority: 3 },
  { title: "started (utc)", value: (r) => formatTimestamp(r.startedAt), paint: dim, priority: 1 },
];

const logColumns: Column<RunLogEntry>[] = [
  { title: "when (utc)", value: (e) => formatTimestamp(e.at), paint: dim },
  { title: "level", value: (e) => e.level, paint: paintStatus },
  { title: "message", value: (e) => e.message, flexible: true },
  { title: "data", value: (e) => e.data, flexible: true, priority: 1 },
];

const wakeupColumns: Column<Wakeup>[] = [
  { title: "id", value: (w) => w.wakeupId },
  { title: "state", value: (w) => w.status },
  { title: "at (utc)", value: (w) => formatTimestamp(w.fireAt) },
  { title: "reason", value: (w) => w.reason, flexible: true },
  { title: "run", value: (w) => w.runId, priority: 1 },
];

export const runViews: Readonly<Record<string, View>> = {
  "agent.self.get": { object: self },
  "runs.list": { columns: runColumns, empty: "No runs yet." },
  "runs.get": { object: run },
  "runs.logs": { columns: logColumns },
  "runs.cancel": { object: run },
  "agent.runs.start": { object: agentRun },
  "agent.runs.log": { object: formatHeartbeat },
  "agent.runs.complete": { object: agentRun },
  "agent.runs.fail": { object: agentRun },
  "agent.runs.cancel": { object: agentRun },
  "agent.runs.list": { columns: runColumns, empty: "No runs yet. Start one: mailsvc agent runs start" },
  "agent.runs.get": { object: agentRun },
  "agent.runs.logs": { columns: logColumns },
  "agent.wakeups.create": { object: wakeup },
  "agent.wakeups.list": { columns: wakeupColumns, empty: "No wakeups yet. Schedule one: mailsvc agent wakeups create --help" },
  "agent.wakeups.get": { object: wakeup },
  "agent.wakeups.cancel": { object: wakeup },
};

function runState(r: Run): string {
  return r.status === "WAITING" ? `WAITING for ${r.waitingFor}` : r.failureReason === null ? r.status : `FAILED: ${r.failureReason}`;
}

function formatRun(r: Run, { term: { out, columns } }: Session, next = ""): string {
  return renderDetails(
    [
      ["run", r.runId],
      ["title", r.title],
      ["state", runState(r)],
      ["asked to stop", r.cancelRequested ? "yes" : ""],
      ["done", r.progress ? [`${r.progress.percent} %`, r.progress.label].filter(Boolean).join(", ") : ""],
      ["set off by", r.trigger ? [r.trigger.type, r.trigger.ref].filter(Boolean).join(" ") : ""],
      ["part of", r.parentRunId],
      ["credits", r.creditsConsumed],
      ["started", formatInstant(r.startedAt)],
      ["last heard of", formatInstant(r.lastHeartbeatAt)],
      [r.status === "WAITING" ? "waits until" : "log before", formatInstant(r.deadlineAt)],
      ["ended", formatInstant(r.finishedAt)],
      ["summary", r.summary],
      ["error", r.error ? `${r.error.code}: ${r.error.message}` : ""],
      ["output", r.output],
      ["next", next],
    ],
    out,
    columns,
  );
}

function run(r: Run, session: Session): string {
  return formatRun(r, session);
}

function agentRun(r: Run, session: Session): string {
  return formatRun(r, session, r.status === "RUNNING" ? `mailsvc agent runs log ${r.runId} --message … (or complete, fail)` : "");
}

function formatHeartbeat(h: Heartbeat, { term: { out } }: Session): string {
  return [
    `${out.green(h.status)} ${h.accepted} ${h.accepted === 1 ? "entry" : "entries"} kept, next log before ${formatTimestamp(h.deadlineAt)} UTC`,
    ...(h.cancelRequested ? [out.yellow("The brand requested cancellation.")] : []),
  ].join("\n");
}

function wakeup(w: Wakeup, { term: { out, columns } }: Session): string {
  return renderDetails(
    [
      ["id", w.wakeupId],
      ["state", w.status],
      ["at", formatInstant(w.fireAt)],
      ["reason", w.reason],
      ["payload", w.payload],
      ["run", w.suspendRun ? `${w.runId}, which waits for it` : w.runId],
      ["woken", formatInstant(w.firedAt)],
    ],
    out,
    columns,
  );
}

function self(a: AgentSelf, { term: { out, columns } }: Session): string {
  return renderDetails(
    [
      ["activation", a.activationId],
      ["agent", a.agentSlug],
      ["works for", a.organizationName],
      ["state", a.pauseReasons.length === 0 ? a.status : `${a.status}: ${a.pauseReasons.join(", ")}`],
      ["may", a.scopes.join(", ")],
      ["key", a.keyPreview],
      ["webhook failed", a.webhookLastError?.clearedAt === null ? a.webhookLastError.message : ""],
      ["since", formatInstant(a.createdAt)],
    ],
    out,
    columns,
  );
}
