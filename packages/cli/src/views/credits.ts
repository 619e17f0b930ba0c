import type { AgentCredits, CreditEntry, CreditTransaction, MailsvcContract, Output } from "@mailsvc/sdk/contract";
import type { Session } from "../session.ts";
import type { View } from "./index.ts";
import { dim } from "./status.ts";
import { type Column, details } from "./table.ts";
import { instant, stamp } from "./time.ts";

const creditColumns: Column<CreditEntry>[] = [
  { title: "id", value: (e) => e.id, spare: 3 },
  { title: "what", value: (e) => e.kind },
  { title: "amount", value: (e) => e.amount },
  { title: "balance", value: (e) => e.balanceAfter },
  { title: "for", value: (e) => [e.action, e.description].filter(Boolean).join(": "), flexible: true },
  { title: "agent", value: (e) => e.activationId, spare: 2 },
  { title: "when (utc)", value: (e) => stamp(e.createdAt), paint: dim, spare: 1 },
];

const transactionColumns: Column<CreditTransaction>[] = [
  { title: "id", value: (t) => t.transactionId },
  { title: "what", value: (t) => t.kind },
  { title: "amount", value: (t) => t.amount },
  { title: "left", value: (t) => t.balanceAfter },
  { title: "for", value: (t) => [t.action, t.description].filter(Boolean).join(": "), flexible: true },
  { title: "run", value: (t) => t.runId, spare: 2 },
  { title: "when (utc)", value: (t) => stamp(t.createdAt), paint: dim, spare: 1 },
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
  return details(
    [
      ["left", c.balance],
      ["this month", c.periodLimit === null ? `${c.periodUsed}, no limit` : `${c.periodUsed} of ${c.periodLimit}`],
      ["month ends", instant(c.resetsAt)],
    ],
    out,
    columns,
  );
}
