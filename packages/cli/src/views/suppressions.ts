import type { MailsvcContract, Output, Suppression } from "@mailsvc/sdk/contract";
import { type Column, renderDetails } from "../text/table.ts";
import { formatInstant, formatTimestamp } from "../text/units.ts";
import type { Session } from "../types.ts";
import type { View } from "./view.ts";

const columns: Column<Suppression>[] = [
  { title: "email", value: (s) => s.email, flexible: true },
  { title: "reason", value: (s) => s.reason },
  { title: "scope", value: (s) => s.scope },
  { title: "source", value: (s) => s.source },
  { title: "note", value: (s) => s.note, flexible: true },
  { title: "created (utc)", value: (s) => formatTimestamp(s.createdAt), paint: (s, t) => s.dim(t), priority: 1 },
];

export const suppressionViews: Readonly<Record<string, View>> = {
  "suppressions.list": { columns, empty: "No suppressed addresses." },
  "suppressions.create": { object: one },
  "suppressions.get": { object: one },
  "suppressions.delete": { object: one },
  "suppressions.remove": { object: removed },
};

function one(s: Suppression, { term: { out } }: Session): string {
  return renderDetails(
    [
      ["id", s.id],
      ["email", s.email],
      ["scope", s.scope === "all" ? "all: no mail at all" : "marketing: transactional mail only"],
      ["reason", s.reason],
      ["source", s.source],
      ["email id", s.emailId],
      ["note", s.note],
      ["unsubscribed", s.unsubscribedAt === null ? "" : formatTimestamp(s.unsubscribedAt)],
      ["created", formatInstant(s.createdAt)],
      ["updated", s.updatedAt === s.createdAt ? "" : formatTimestamp(s.updatedAt)],
    ],
    out,
  );
}

function removed(r: Output<MailsvcContract["suppressions"]["remove"]>, { term: { out } }: Session): string {
  return renderDetails(
    [
      ["removed", r.removed],
      ["still unsubscribed", r.unsubscribed === 0 ? "" : `${r.unsubscribed}: marketing mail stays suppressed`],
    ],
    out,
  );
}
