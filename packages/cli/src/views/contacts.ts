import {
  CONTACT_TEXT_FIELDS,
  CONTACT_TEXTS,
  type Contact,
  type ContactDetail,
  type Erasure,
  formatContactName,
  isPartOfName,
  type Person,
} from "@mailsvc/sdk/contract";
import { safeText } from "../text/safe-text.ts";
import { type Column, renderDetails, renderTable } from "../text/table.ts";
import { formatInstant, formatTimestamp } from "../text/units.ts";
import type { Session, Style } from "../types.ts";
import { paintStatus } from "./status.ts";
import type { View } from "./view.ts";

/** The columns of a table of contacts. */
export const contactColumns: Column<Contact>[] = [
  { title: "id", value: (c) => c.id },
  { title: "email", value: (c) => c.email, flexible: true },
  { title: "name", value: formatContactName, flexible: true },
  { title: "status", value: (c) => c.status, paint: paintStatus },
  { title: "tags", value: (c) => c.tags.join(", "), flexible: true, priority: 2 },
  { title: "created (utc)", value: (c) => formatTimestamp(c.createdAt), paint: (s, t) => s.dim(t), priority: 1 },
];

export const contactViews: Readonly<Record<string, View>> = {
  "contacts.list": { columns: contactColumns, empty: "No contacts yet. Import some: mailsvc contacts import --help" },
  "contacts.create": { object: one },
  "contacts.upsert": { object: one },
  "contacts.update": { object: one },
  "contacts.delete": { object: one },
  "contacts.get": { object: detail },
  "people.get": { object: person },
  "people.erase": { object: erased },
};

// The first and last name are shown as one.
const OTHER_TEXTS = CONTACT_TEXT_FIELDS.filter((field) => !isPartOfName(field));

function formatFields(contact: Contact, style: Style): string {
  return renderDetails(
    [
      ["id", contact.id],
      ["email", contact.email],
      ["external id", contact.externalId],
      ["name", formatContactName(contact)],
      ...OTHER_TEXTS.map((field): [string, string | null] => [CONTACT_TEXTS[field].noun, contact[field]]),
      ["status", contact.status],
      ["tags", contact.tags.join(", ")],
      ["created", formatInstant(contact.createdAt)],
      ["updated", formatInstant(contact.updatedAt)],
    ],
    style,
  );
}

function fields(contact: Contact, style: Style): string[] {
  const entries = Object.entries(contact.customFields);
  return entries.length > 0
    ? [
        `${style.bold("Custom fields")}\n${renderDetails(
          entries.map(([name, value]) => [`  ${safeText(name)}`, value === null ? "null" : value]),
          style,
        )}`,
      ]
    : [];
}

function one(contact: Contact, { term: { out } }: Session): string {
  return [formatFields(contact, out), ...fields(contact, out)].join("\n\n");
}

function detail(contact: ContactDetail, { term: { out } }: Session): string {
  const names = (title: string, all: ContactDetail["lists"]): string[] =>
    all.length > 0 ? [`${out.bold(title)}\n${all.map((m) => `  ${safeText(m.name)}  ${out.dim(safeText(m.id))}`).join("\n")}`] : [];
  return [
    formatFields(contact, out),
    ...fields(contact, out),
    ...names("Lists", contact.lists),
    ...names("Segments", contact.segments),
  ].join("\n\n");
}

function person(found: Person, session: Session): string {
  const { out } = session.term;
  const suppressed = found.suppression;
  return [
    found.contact ? detail(found.contact, session) : `${safeText(found.email)}  ${out.dim("is not a contact")}`,
    ...(suppressed
      ? [out.yellow(`Suppressed (${suppressed.reason}, ${suppressed.scope}) since ${formatTimestamp(suppressed.createdAt)}`)]
      : []),
    ...personTables(found, session),
    out.dim("Use --json for the complete record."),
    ...(found.nextCursor ? [out.dim(`Older mail: mailsvc people get ${found.email} --cursor ${found.nextCursor}`)] : []),
  ].join("\n\n");
}

/** Tables of a person's sign-ups, automations and mail, without empty ones. */
function personTables(found: Person, { term: { out, columns } }: Session): string[] {
  const section = <Row>(title: string, rows: readonly Row[], cells: Column<Row>[]): string[] =>
    rows.length > 0 ? [`${out.bold(title)}\n${renderTable(rows, cells, out, columns)}`] : [];
  return [
    ...section("Sign-ups", found.signUps, [
      { title: "landing page", value: (s) => s.landingPageId },
      { title: "consent", value: (s) => s.consentText, flexible: true },
      { title: "at (utc)", value: (s) => formatTimestamp(s.createdAt), paint: (s, t) => s.dim(t), priority: 1 },
    ]),
    ...section("Automations", found.automationEntries, [
      { title: "automation", value: (e) => e.automationName, flexible: true },
      { title: "status", value: (e) => e.status, paint: paintStatus },
      { title: "entered (utc)", value: (e) => formatTimestamp(e.enteredAt), paint: (s, t) => s.dim(t), priority: 1 },
    ]),
    ...section("Emails", found.emails, [
      { title: "email", value: (e) => e.id },
      { title: "status", value: (e) => e.status, paint: paintStatus },
      { title: "subject", value: (e) => e.subject, flexible: true },
      { title: "created (utc)", value: (e) => formatTimestamp(e.createdAt), paint: (s, t) => s.dim(t), priority: 1 },
    ]),
    ...section("Received mail", found.received, [
      { title: "mail", value: (m) => m.id },
      { title: "subject", value: (m) => m.subject, flexible: true },
      { title: "received (utc)", value: (m) => formatTimestamp(m.receivedAt), paint: (s, t) => s.dim(t), priority: 1 },
    ]),
  ];
}

function erased(gone: Erasure, { term: { out } }: Session): string {
  const parts = (["contacts", "emails", "received", "captured", "events", "answers"] as const).filter((what) => gone[what] > 0);
  return [
    `${out.green("erased")} ${parts.map((what) => `${gone[what]} ${what}`).join(", ") || "the address"}`,
    ...(gone.staysSuppressed ? [out.dim("The address stays suppressed: kept is a hash from which it cannot be read.")] : []),
  ].join("\n");
}
