import type { AgentCredits, CreditEntry, CreditTransaction, MailsvcContract, Output } from "@mailsvc/sdk/contract";
import { type Column, renderDetails } from "../text/table.ts";
import { formatInstant, formatTimestamp } from "../text/units.ts";
import type { Session } from "../types.ts";
import { dim } from "./status.ts";
import type { View } from "./view.ts";

const creditColumns: Column<CreditEntry>[] = [
  { title: "id", value: (e) => e.id, priority: 3 },
  { title: "what", value: (e) => e.kind },
  { title: "amount", value: (e) => e.amount },
  { title: "balance", value: (e) => e.balanceAfter },
  { title: "for", value: (e) => [e.action, e.description].filter(Boolean).join(": "), flexible: true },
  { title: "agent", value: (e) => e.activationId, priority: 2 },
  { title: "when (utc)", value: (e) => formatTimestamp(e.createdAt), paint: dim, priority: 1 },
];

const transactionColumns: Column<CreditTransaction>[] = [
  { title: "id", value: (t) => t.transactionId },
  { title: "what", value: (t) => t.kind },
  { title: "amount", value: (t) => t.amount },
  { title: "left", value: (t) => t.balanceAfter },
  { title: "for", value: (t) => [t.action, t.description].filter(Boolean).join(": "), flexible: true },
  { title: "run", value: (t) => t.runId, priority: 2 },
  { title: "when (utc)", value: (t) => formatTimestamp(t.createdAt), paint: dim, priority: 1 },
];

export const creditViews: Readonly<Record<string, View>> = {
  "credits.get": { object: balance },
  "credits.grant": { object: granted },
  "credits.list": { columns: creditColumns, empty: "No credits yet. Add some: mailsvc credits grant 100" },
  "agent.credits.get": { object: allowance },
  "agent.credits.list": { columns: transactionColumns },
  "agent.credits.consume": { object: transaction },
  "agent.credits.refund": { object: transaction },
};

function granted(e: CreditEntry, { term: { out } }: Session): string {
  return `${out.green("added")} ${e.amount}, ${e.balanceAfter} in all`;
}

function balance({ balance: n }: Output<MailsvcContract["credits"]["get"]>): string {
  return `${n} credits`;
}

function transaction(t: CreditTransaction, { term: { out } }: Session): string {
  return `${out.green(t.kind === "refund" ? "given back" : "spent")} ${t.amount}, ${t.balanceAfter} left`;
}

function allowance(c: AgentCredits, { term: { out, columns } }: Session): string {
  return renderDetails(
    [
      ["left", c.balance],
      ["this month", c.periodLimit === null ? `${c.periodUsed}, no limit` : `${c.periodUsed} of ${c.periodLimit}`],
      ["month ends", formatInstant(c.resetsAt)],
    ],
    out,
    columns,
  );
}
