import { formatContactName, type List, type ListMember, type MailsvcContract, type Output } from "@mailsvc/sdk/contract";
import { type Column, renderDetails } from "../text/table.ts";
import { formatInstant, formatTimestamp } from "../text/units.ts";
import type { Session } from "../types.ts";
import { paintStatus } from "./status.ts";
import type { View } from "./view.ts";

const columns: Column<List>[] = [
  { title: "id", value: (l) => l.id },
  { title: "name", value: (l) => l.name, flexible: true },
  { title: "members", value: (l) => l.memberCount },
  { title: "pending", value: (l) => l.pendingCount },
  { title: "double opt-in", value: (l) => (l.doubleOptIn ? "yes" : "no") },
  { title: "created (utc)", value: (l) => formatTimestamp(l.createdAt), paint: (s, t) => s.dim(t), priority: 1 },
];

const memberColumns: Column<ListMember>[] = [
  { title: "contact", value: (m) => m.contact.id },
  { title: "email", value: (m) => m.contact.email, flexible: true },
  { title: "name", value: (m) => formatContactName(m.contact), flexible: true },
  { title: "status", value: (m) => m.status, paint: paintStatus },
  { title: "joined (utc)", value: (m) => formatTimestamp(m.joinedAt), paint: (s, t) => s.dim(t), priority: 1 },
];

export const listViews: Readonly<Record<string, View>> = {
  "lists.list": { columns, empty: "No lists yet. Create one: mailsvc lists create <name>" },
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
  return renderDetails(
    [
      ["id", l.id],
      ["name", l.name],
      ["description", l.description],
      ["members", l.memberCount],
      ["pending", l.pendingCount],
      ["double opt-in", l.doubleOptIn ? "yes" : "no"],
      ["mail from", l.confirmationFrom],
      ["mail subject", l.confirmationSubject],
      ["created", formatInstant(l.createdAt)],
      ["updated", formatInstant(l.updatedAt)],
    ],
    out,
  );
}

function member(m: ListMember, { term: { out } }: Session): string {
  return renderDetails(
    [
      ["contact", m.contact.id],
      ["email", m.contact.email],
      ["name", formatContactName(m.contact)],
      ["status", m.status],
      ["added", formatInstant(m.addedAt)],
      ["joined", formatInstant(m.joinedAt)],
      ["link expires", formatInstant(m.expiresAt)],
    ],
    out,
  );
}

function added(a: Output<MailsvcContract["lists"]["add"]>, { term: { out } }: Session): string {
  return renderDetails(
    [
      ["added", a.added],
      ["to confirm", a.pending],
      ["unchanged", a.unchanged],
    ],
    out,
  );
}

function removed(r: Output<MailsvcContract["lists"]["remove"]>, { term: { out } }: Session): string {
  return renderDetails([["removed", r.removed]], out);
}
