import type { Contact, ContactDetail, Erasure, Person } from "@mailsvc/sdk/contract";
import { safeText } from "../safe-text.ts";
import type { Session } from "../session.ts";
import type { Style } from "../tty.ts";
import type { View } from "./index.ts";
import { statusColor } from "./status.ts";
import { type Column, details, table } from "./table.ts";
import { instant, stamp } from "./time.ts";

/** A contact in a table. */
export const contactColumns: Column<Contact>[] = [
  { title: "id", value: (c) => c.id },
  { title: "email", value: (c) => c.email, flexible: true },
  { title: "name", value: nameOf, flexible: true },
  { title: "status", value: (c) => c.status, paint: statusColor },
  { title: "tags", value: (c) => c.tags.join(", "), flexible: true, spare: 2 },
  { title: "created (utc)", value: (c) => stamp(c.createdAt), paint: (s, t) => s.dim(t), spare: 1 },
];

export const contactViews: Readonly<Record<string, View>> = {
  "contacts.list": { columns: contactColumns, empty: "No contacts yet. Bring some: mailsvc contacts import --help" },
  "contacts.create": { object: one },
  "contacts.upsert": { object: one },
  "contacts.update": { object: one },
  "contacts.delete": { object: one },
  "contacts.get": { object: detail },
  "people.get": { object: person },
  "people.erase": { object: erased },
};

function nameOf({ firstName, lastName }: Contact): string {
  return [firstName, lastName].filter(Boolean).join(" ");
}

function facts(contact: Contact, style: Style): string {
  return details(
    [
      ["id", contact.id],
      ["email", contact.email],
      ["name", nameOf(contact)],
      ["phone", contact.phone],
      ["status", contact.status],
      ["tags", contact.tags.join(", ")],
      ["created", instant(contact.createdAt)],
      ["updated", instant(contact.updatedAt)],
    ],
    style,
  );
}

function fields(contact: Contact, style: Style): string[] {
  const entries = Object.entries(contact.customFields);
  return entries.length > 0
    ? [
        `${style.bold("Custom fields")}\n${details(
          entries.map(([name, value]) => [`  ${safeText(name)}`, value === null ? "null" : value]),
          style,
        )}`,
      ]
    : [];
}

function one(contact: Contact, { term: { out } }: Session): string {
  return [facts(contact, out), ...fields(contact, out)].join("\n\n");
}

function detail(contact: ContactDetail, { term: { out } }: Session): string {
  const names = (title: string, all: ContactDetail["lists"]): string[] =>
    all.length > 0 ? [`${out.bold(title)}\n${all.map((m) => `  ${safeText(m.name)}  ${out.dim(safeText(m.id))}`).join("\n")}`] : [];
  return [facts(contact, out), ...fields(contact, out), ...names("Lists", contact.lists), ...names("Segments", contact.segments)].join(
    "\n\n",
  );
}

function person(found: Person, session: Session): string {
  const { out, columns } = session.term;
  const suppressed = found.suppression;
  const mail = table(
    found.emails,
    [
      { title: "email", value: (e) => e.id },
      { title: "status", value: (e) => e.status, paint: statusColor },
      { title: "subject", value: (e) => e.subject, flexible: true },
      { title: "created (utc)", value: (e) => stamp(e.createdAt), paint: (s, t) => s.dim(t), spare: 1 },
    ],
    out,
    columns,
  );
  return [
    found.contact ? detail(found.contact, session) : `${safeText(found.email)}  ${out.dim("is no contact")}`,
    ...(suppressed ? [out.yellow(`Suppressed (${suppressed.reason}, ${suppressed.scope}) since ${stamp(suppressed.createdAt)}`)] : []),
    ...(found.emails.length > 0 ? [`${out.bold(found.nextCursor ? `The last ${found.emails.length} emails` : "Emails")}\n${mail}`] : []),
    out.dim("All of it, as it was stored: --json"),
  ].join("\n\n");
}

function erased(gone: Erasure, { term: { out } }: Session): string {
  const parts = (["contacts", "emails", "captured", "events", "answers"] as const).filter((what) => gone[what] > 0);
  return [
    `${out.green("erased")} ${parts.map((what) => `${gone[what]} ${what}`).join(", ") || "the address"}`,
    ...(gone.staysSuppressed ? [out.dim("The address stays suppressed: kept is a hash from which it cannot be read.")] : []),
  ].join("\n");
}
