import type {
  AgentCredits,
  AgentMessage,
  AgentSelf,
  CreditEntry,
  CreditTransaction,
  Heartbeat,
  MailsvcContract,
  Message,
  Output,
  Run,
  RunLogEntry,
  Wakeup,
} from "@mailsvc/sdk/contract";
import { safeLines } from "../safe-text.ts";
import type { Session } from "../session.ts";
import type { Style } from "../tty.ts";
import type { View } from "./index.ts";
import { type Column, details, paragraphs } from "./table.ts";
import { instant, stamp } from "./time.ts";

const GOOD = new Set(["RUNNING", "COMPLETED", "APPROVED", "ANSWERED"]);
const BAD = new Set(["FAILED", "REJECTED", "EXPIRED", "error"]);
const WAITING = new Set(["WAITING", "PENDING", "warn"]);

const paint = (style: Style, text: string): string => {
  const word = text.split(/[: ]/)[0] ?? text;
  if (GOOD.has(word)) return style.green(text);
  if (BAD.has(word)) return style.red(text);
  return WAITING.has(word) ? style.yellow(text) : text;
};
const dim = (style: Style, text: string): string => style.dim(text);

/** What a message is, and where its question stands. */
const kind = ({ type, approval }: Message): string =>
  approval ? `${approval.status} ${approval.title}` : type.toLowerCase().replace("_", " ");

const messageColumns: Column<Message>[] = [
  { title: "no", value: (m) => m.sequence },
  { title: "id", value: (m) => m.id },
  { title: "from", value: (m) => m.author.role },
  { title: "what", value: kind, flexible: true, paint },
  { title: "text", value: (m) => m.text, flexible: true },
  { title: "when (utc)", value: (m) => stamp(m.createdAt), paint: dim, spare: 1 },
];

const waitingColumns: Column<AgentMessage>[] = [
  { title: "id", value: (m) => m.id },
  { title: "agent", value: (m) => m.agentSlug, flexible: true },
  { title: "what", value: kind, flexible: true, paint },
  { title: "text", value: (m) => m.text, flexible: true },
  { title: "when (utc)", value: (m) => stamp(m.createdAt), paint: dim, spare: 1 },
];

const questionColumns: Column<AgentMessage>[] = [
  { title: "id", value: (m) => m.id },
  { title: "agent", value: (m) => m.agentSlug, flexible: true },
  { title: "asks", value: (m) => m.approval?.title, flexible: true },
  { title: "state", value: (m) => m.approval?.status, paint },
  { title: "options", value: (m) => m.approval?.options.map((o) => o.id).join(", "), flexible: true, spare: 2 },
  { title: "until (utc)", value: (m) => stamp(m.approval?.answeredAt ?? m.approval?.expiresAt), paint: dim, spare: 1 },
];

/** The command that answers; where it is yes or no, in those words. */
const answerCommand = (id: string, options: readonly string[]): string =>
  options.join() === "approve,reject"
    ? `mailsvc approvals approve ${id} (or reject)`
    : `mailsvc messages answer ${id} ${options.join("|")}`;

const answerHint = ({ id, approval }: Message): string | null =>
  approval?.status === "PENDING"
    ? answerCommand(
        id,
        approval.options.map((o) => o.id),
      )
    : null;

const answerFirst = (rows: readonly AgentMessage[]): string | undefined => {
  const asked = rows.find((m) => m.approval?.status === "PENDING");
  return asked && (answerHint(asked) ?? undefined);
};

const lookAtFirst = ([first]: readonly AgentMessage[]): string | undefined => first && `mailsvc messages get ${first.id}`;

const message = (m: Message, { term: { out, columns } }: Session): string =>
  [
    details(
      [
        ["id", m.id],
        ["from", m.author.role],
        ["activation", m.activationId],
        ["run", m.runId],
        ["answers", m.inReplyTo],
        ["written", instant(m.createdAt)],
        ["read", instant(m.readAt)],
        ["asks", m.approval?.title],
        ["state", m.approval?.status],
        ["options", m.approval?.options.map((o) => `${o.id} (${o.label})`).join(", ")],
        ["decision", m.approval?.decision],
        ["comment", m.approval?.comment],
        ["expires", m.approval?.status === "PENDING" ? instant(m.approval.expiresAt) : ""],
        ["next", answerHint(m)],
      ],
      out,
      columns,
    ),
    "",
    paragraphs(safeLines(m.text), columns),
  ].join("\n");

const unread = ({ unread: n }: Output<MailsvcContract["messages"]["read"]>): string => (n === 0 ? "All read." : `${n} still unread.`);

const runState = (r: Run): string =>
  r.status === "WAITING" ? `WAITING for ${r.waitingFor}` : r.failureReason === null ? r.status : `FAILED: ${r.failureReason}`;

const runColumns: Column<Run>[] = [
  { title: "run", value: (r) => r.runId },
  { title: "title", value: (r) => r.title, flexible: true },
  { title: "state", value: runState, paint },
  { title: "done", value: (r) => (r.progress ? `${r.progress.percent} %` : ""), spare: 2 },
  { title: "credits", value: (r) => r.creditsConsumed, spare: 3 },
  { title: "started (utc)", value: (r) => stamp(r.startedAt), paint: dim, spare: 1 },
];

const runFacts = (r: Run, { term: { out, columns } }: Session, next = ""): string =>
  details(
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

const run = (r: Run, session: Session): string => runFacts(r, session);

const agentRun = (r: Run, session: Session): string =>
  runFacts(r, session, r.status === "RUNNING" ? `mailsvc agent runs log ${r.runId} --message … (or complete, fail)` : "");

const logColumns: Column<RunLogEntry>[] = [
  { title: "when (utc)", value: (e) => stamp(e.at), paint: dim },
  { title: "level", value: (e) => e.level, paint },
  { title: "message", value: (e) => e.message, flexible: true },
  { title: "data", value: (e) => e.data, flexible: true, spare: 1 },
];

const creditColumns: Column<CreditEntry>[] = [
  { title: "id", value: (e) => e.id, spare: 3 },
  { title: "what", value: (e) => e.kind },
  { title: "amount", value: (e) => e.amount },
  { title: "balance", value: (e) => e.balanceAfter },
  { title: "for", value: (e) => [e.action, e.description].filter(Boolean).join(": "), flexible: true },
  { title: "agent", value: (e) => e.activationId, spare: 2 },
  { title: "when (utc)", value: (e) => stamp(e.createdAt), paint: dim, spare: 1 },
];

const granted = (e: CreditEntry, { term: { out } }: Session): string => `${out.green("added")} ${e.amount}, ${e.balanceAfter} in all`;

const balance = ({ balance: n }: Output<MailsvcContract["credits"]["get"]>): string => `${n} credits`;

const transactionColumns: Column<CreditTransaction>[] = [
  { title: "id", value: (t) => t.transactionId },
  { title: "what", value: (t) => t.kind },
  { title: "amount", value: (t) => t.amount },
  { title: "left", value: (t) => t.balanceAfter },
  { title: "for", value: (t) => [t.action, t.description].filter(Boolean).join(": "), flexible: true },
  { title: "run", value: (t) => t.runId, spare: 2 },
  { title: "when (utc)", value: (t) => stamp(t.createdAt), paint: dim, spare: 1 },
];

const transaction = (t: CreditTransaction, { term: { out } }: Session): string =>
  `${out.green(t.kind === "refund" ? "given back" : "spent")} ${t.amount}, ${t.balanceAfter} left`;

const allowance = (c: AgentCredits, { term: { out, columns } }: Session): string =>
  details(
    [
      ["left", c.balance],
      ["this month", c.periodLimit === null ? `${c.periodUsed}, no limit` : `${c.periodUsed} of ${c.periodLimit}`],
      ["month ends", instant(c.resetsAt)],
    ],
    out,
    columns,
  );

const beat = (h: Heartbeat, { term: { out } }: Session): string =>
  [
    `${out.green(h.status)} ${h.accepted} ${h.accepted === 1 ? "entry" : "entries"} kept, next log before ${stamp(h.deadlineAt)} UTC`,
    ...(h.cancelRequested ? [out.yellow("The brand asks this run to stop.")] : []),
  ].join("\n");

const wakeupColumns: Column<Wakeup>[] = [
  { title: "id", value: (w) => w.wakeupId },
  { title: "state", value: (w) => w.status },
  { title: "at (utc)", value: (w) => stamp(w.fireAt) },
  { title: "reason", value: (w) => w.reason, flexible: true },
  { title: "run", value: (w) => w.runId, spare: 1 },
];

const wakeup = (w: Wakeup, { term: { out, columns } }: Session): string =>
  details(
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

const self = (a: AgentSelf, { term: { out, columns } }: Session): string =>
  details(
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

export const agentViews: Readonly<Record<string, View>> = {
  "agent.self.get": { object: self },
  "approvals.list": { columns: questionColumns, empty: "No agent waits for an answer.", next: answerFirst },
  "messages.inbox": { columns: waitingColumns, empty: "Nothing waits for you.", next: lookAtFirst },
  "messages.list": { columns: messageColumns, empty: "Nothing was said yet." },
  "messages.create": { object: message },
  "messages.get": { object: message },
  "messages.answer": { object: message },
  "messages.read": { object: unread },
  "runs.list": { columns: runColumns, empty: "It has done nothing yet." },
  "runs.get": { object: run },
  "runs.logs": { columns: logColumns },
  "runs.cancel": { object: run },
  "credits.get": { object: balance },
  "credits.grant": { object: granted },
  "credits.list": { columns: creditColumns, empty: "No credits yet. Add some: mailsvc credits grant 100" },
  "agent.messages.list": { columns: messageColumns },
  "agent.messages.get": { object: message },
  "agent.messages.create": { object: message },
  "agent.messages.cancel": { object: message },
  "agent.messages.read": { object: unread },
  "agent.runs.start": { object: agentRun },
  "agent.runs.log": { object: beat },
  "agent.runs.complete": { object: agentRun },
  "agent.runs.fail": { object: agentRun },
  "agent.runs.cancel": { object: agentRun },
  "agent.runs.list": { columns: runColumns, empty: "No runs yet. Start one: mailsvc agent runs start" },
  "agent.runs.get": { object: agentRun },
  "agent.runs.logs": { columns: logColumns },
  "agent.credits.get": { object: allowance },
  "agent.credits.list": { columns: transactionColumns },
  "agent.credits.consume": { object: transaction },
  "agent.credits.refund": { object: transaction },
  "agent.wakeups.create": { object: wakeup },
  "agent.wakeups.list": { columns: wakeupColumns, empty: "No wakeups yet. Ask for one: mailsvc agent wakeups create --help" },
  "agent.wakeups.get": { object: wakeup },
  "agent.wakeups.cancel": { object: wakeup },
};
