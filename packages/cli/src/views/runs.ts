import type { AgentSelf, Heartbeat, Run, RunLogEntry, Wakeup } from "@mailsvc/sdk/contract";
import type { Session } from "../session.ts";
import type { View } from "./index.ts";
import { dim, paintWork } from "./status.ts";
import { type Column, details } from "./table.ts";
import { instant, stamp } from "./time.ts";

const runColumns: Column<Run>[] = [
  { title: "run", value: (r) => r.runId },
  { title: "title", value: (r) => r.title, flexible: true },
  { title: "state", value: runState, paint: paintWork },
  { title: "done", value: (r) => (r.progress ? `${r.progress.percent} %` : ""), spare: 2 },
  { title: "credits", value: (r) => r.creditsConsumed, spare: 3 },
  { title: "started (utc)", value: (r) => stamp(r.startedAt), paint: dim, spare: 1 },
];

const logColumns: Column<RunLogEntry>[] = [
  { title: "when (utc)", value: (e) => stamp(e.at), paint: dim },
  { title: "level", value: (e) => e.level, paint: paintWork },
  { title: "message", value: (e) => e.message, flexible: true },
  { title: "data", value: (e) => e.data, flexible: true, spare: 1 },
];

const wakeupColumns: Column<Wakeup>[] = [
  { title: "id", value: (w) => w.wakeupId },
  { title: "state", value: (w) => w.status },
  { title: "at (utc)", value: (w) => stamp(w.fireAt) },
  { title: "reason", value: (w) => w.reason, flexible: true },
  { title: "run", value: (w) => w.runId, spare: 1 },
];

export const runViews: Readonly<Record<string, View>> = {
  "agent.self.get": { object: self },
  "runs.list": { columns: runColumns, empty: "It has done nothing yet." },
  "runs.get": { object: run },
  "runs.logs": { columns: logColumns },
  "runs.cancel": { object: run },
  "agent.runs.start": { object: agentRun },
  "agent.runs.log": { object: beat },
  "agent.runs.complete": { object: agentRun },
  "agent.runs.fail": { object: agentRun },
  "agent.runs.cancel": { object: agentRun },
  "agent.runs.list": { columns: runColumns, empty: "No runs yet. Start one: mailsvc agent runs start" },
  "agent.runs.get": { object: agentRun },
  "agent.runs.logs": { columns: logColumns },
  "agent.wakeups.create": { object: wakeup },
  "agent.wakeups.list": { columns: wakeupColumns, empty: "No wakeups yet. Ask for one: mailsvc agent wakeups create --help" },
  "agent.wakeups.get": { object: wakeup },
  "agent.wakeups.cancel": { object: wakeup },
};

function runState(r: Run): string {
  return r.status === "WAITING" ? `WAITING for ${r.waitingFor}` : r.failureReason === null ? r.status : `FAILED: ${r.failureReason}`;
}

function runFacts(r: Run, { term: { out, columns } }: Session, next = ""): string {
  return details(
    [
      ["run", r.runId],
      ["title", r.title],
      ["state", runState(r)],
      ["asked to stop", r.cancelRequested ? "yes" : ""],
      ["done", r.progress ? [`${r.progress.percent} %`, r.progress.label].filter(Boolean).join(", ") : ""],
      ["set off by", r.trigger ? [r.trigger.type, r.trigger.ref].filter(Boolean).join(" ") : ""],
      ["part of", r.parentRunId],
      ["credits", r.creditsConsumed],
      ["started", instant(r.startedAt)],
      ["last heard of", instant(r.lastHeartbeatAt)],
      [r.status === "WAITING" ? "waits until" : "log before", instant(r.deadlineAt)],
      ["ended", instant(r.finishedAt)],
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
  return runFacts(r, session);
}

function agentRun(r: Run, session: Session): string {
  return runFacts(r, session, r.status === "RUNNING" ? `mailsvc agent runs log ${r.runId} --message … (or complete, fail)` : "");
}

function beat(h: Heartbeat, { term: { out } }: Session): string {
  return [
    `${out.green(h.status)} ${h.accepted} ${h.accepted === 1 ? "entry" : "entries"} kept, next log before ${stamp(h.deadlineAt)} UTC`,
    ...(h.cancelRequested ? [out.yellow("The brand asks this run to stop.")] : []),
  ].join("\n");
}

function wakeup(w: Wakeup, { term: { out, columns } }: Session): string {
  return details(
    [
      ["id", w.wakeupId],
      ["state", w.status],
      ["at", instant(w.fireAt)],
      ["reason", w.reason],
      ["payload", w.payload],
      ["run", w.suspendRun ? `${w.runId}, which waits for it` : w.runId],
      ["woken", instant(w.firedAt)],
    ],
    out,
    columns,
  );
}

function self(a: AgentSelf, { term: { out, columns } }: Session): string {
  return details(
    [
      ["activation", a.activationId],
      ["agent", a.agentSlug],
      ["works for", a.organizationName],
      ["state", a.pauseReasons.length === 0 ? a.status : `${a.status}: ${a.pauseReasons.join(", ")}`],
      ["may", a.scopes.join(", ")],
      ["key", a.keyPreview],
      ["webhook failed", a.webhookLastError?.clearedAt === null ? a.webhookLastError.message : ""],
      ["since", instant(a.createdAt)],
    ],
    out,
    columns,
  );
}
