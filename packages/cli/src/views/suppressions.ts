import type { MailsvcContract, Output, Suppression } from "@mailsvc/sdk/contract";
import type { Session } from "../session.ts";
import type { View } from "./index.ts";
import { type Column, details } from "./table.ts";
import { instant, stamp } from "./time.ts";

const columns: Column<Suppression>[] = [
  { title: "email", value: (s) => s.email, flexible: true },
  { title: "reason", value: (s) => s.reason },
  { title: "scope", value: (s) => s.scope },
  { title: "source", value: (s) => s.source },
  { title: "note", value: (s) => s.note, flexible: true },
  { title: "created (utc)", value: (s) => stamp(s.createdAt), paint: (s, t) => s.dim(t), spare: 1 },
];

export const suppressionViews: Readonly<Record<string, View>> = {
  "suppressions.list": { columns, empty: "No address is suppressed." },
  "suppressions.create": { object: one },
  "suppressions.get": { object: one },
  "suppressions.delete": { object: one },
  "suppressions.remove": { object: removed },
};

function one(s: Suppression, { term: { out } }: Session): string {
  return details(
    [
      ["id", s.id],
      ["email", s.email],
      ["scope", s.scope === "all" ? "all: no mail at all" : "marketing: transactional mail only"],
      ["reason", s.reason],
      ["source", s.source],
      ["email id", s.emailId],
      ["note", s.note],
      ["created", instant(s.createdAt)],
      ["updated", s.updatedAt === s.createdAt ? "" : stamp(s.updatedAt)],
    ],
    out,
  );
}

function removed(r: Output<MailsvcContract["suppressions"]["remove"]>, { term: { out } }: Session): string {
  return details([["removed", r.removed]], out);
}
