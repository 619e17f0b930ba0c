import type { List, ListMember, MailsvcContract, Output } from "@mailsvc/sdk/contract";
import type { Session } from "../session.ts";
import type { View } from "./index.ts";
import { statusColor } from "./status.ts";
import { type Column, details } from "./table.ts";
import { instant, stamp } from "./time.ts";

const columns: Column<List>[] = [
  { title: "id", value: (l) => l.id },
  { title: "name", value: (l) => l.name, flexible: true },
  { title: "members", value: (l) => l.memberCount },
  { title: "pending", value: (l) => l.pendingCount },
  { title: "double opt-in", value: (l) => (l.doubleOptIn ? "yes" : "no") },
  { title: "created (utc)", value: (l) => stamp(l.createdAt), paint: (s, t) => s.dim(t), spare: 1 },
];

const memberColumns: Column<ListMember>[] = [
  { title: "contact", value: (m) => m.contact.id },
  { title: "email", value: (m) => m.contact.email, flexible: true },
  { title: "name", value: nameOf, flexible: true },
  { title: "status", value: (m) => m.status, paint: statusColor },
  { title: "joined (utc)", value: (m) => stamp(m.joinedAt), paint: (s, t) => s.dim(t), spare: 1 },
];

export const listViews: Readonly<Record<string, View>> = {
  "lists.list": { columns, empty: "No lists yet. Make one: mailsvc lists create <name>" },
  "lists.create": { object: one },
  "lists.get": { object: one },
  "lists.update": { object: one },
  "lists.delete": { object: one },
  "lists.contacts": { columns: memberColumns },
  "lists.add": { object: added },
  "lists.remove": { object: removed },
  "lists.removeOne": { object: member },
  "lists.resend": { object: member },
};

function one(l: List, { term: { out } }: Session): string {
  return details(
    [
      ["id", l.id],
      ["name", l.name],
      ["description", l.description],
      ["members", l.memberCount],
      ["pending", l.pendingCount],
      ["double opt-in", l.doubleOptIn ? "yes" : "no"],
      ["mail from", l.confirmationFrom],
      ["mail subject", l.confirmationSubject],
      ["created", instant(l.createdAt)],
      ["updated", instant(l.updatedAt)],
    ],
    out,
  );
}

function nameOf({ contact: { firstName, lastName } }: ListMember): string {
  return [firstName, lastName].filter(Boolean).join(" ");
}

function member(m: ListMember, { term: { out } }: Session): string {
  return details(
    [
      ["contact", m.contact.id],
      ["email", m.contact.email],
      ["name", nameOf(m)],
      ["status", m.status],
      ["added", instant(m.addedAt)],
      ["joined", instant(m.joinedAt)],
      ["can confirm until", instant(m.expiresAt)],
    ],
    out,
  );
}

function added(a: Output<MailsvcContract["lists"]["add"]>, { term: { out } }: Session): string {
  return details(
    [
      ["added", a.added],
      ["to confirm", a.pending],
      ["unchanged", a.unchanged],
    ],
    out,
  );
}

function removed(r: Output<MailsvcContract["lists"]["remove"]>, { term: { out } }: Session): string {
  return details([["removed", r.removed]], out);
}
