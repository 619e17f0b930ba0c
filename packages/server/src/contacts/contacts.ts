import type { Contact, ContactEventType, ContactPatch, ContactStatus, ContactUpsert, CustomValue, NewContact } from "@mailsvc/sdk/contract";
import { addressKey, CONTACT_LIMITS, parseAddress } from "@mailsvc/sdk/contract";
import type { Reader, Tx } from "../db/db.ts";
import type { Deps } from "../deps.ts";
import { type ContactEvent, recordOfContacts } from "../events/events.ts";
import { ApiError, invalid, notFound } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import { fold } from "../lib/fold.ts";
import { suppressionsOf } from "../suppressions/suppressions.ts";
import { Tally, tagKey } from "./counts.ts";
import { foldCountsSoon } from "./jobs.ts";
import type { ContactLinks } from "./memberships.ts";
import { type ContactRow, deleteContactRow, findById, findByKey, findByKeys, insertContacts, updateContactRow } from "./store.ts";

export { type ContactLinks, membershipsOf } from "./memberships.ts";
export type { ContactRow } from "./store.ts";
export { tagKey };

/** Where a contact or a change came from; stands in the event. */
export type ContactSource = "api" | "import" | "form" | "automation" | "delivery";

export function showContact(row: ContactRow): Contact {
  return {
    id: row.id,
    email: row.email,
    firstName: row.firstName,
    lastName: row.lastName,
    phone: row.phone,
    tags: row.tags,
    customFields: row.customFields,
    status: row.status,
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt),
  };
}

/** One contact by its id. Throws ApiError not_found. */
export async function findContact(q: Tx | Reader, workspaceId: string, id: string): Promise<ContactRow> {
  const row = await findById(q, workspaceId, id);
  if (!row) throw notFound("contact", id);
  return row;
}

/** The contact of an address, in whatever case it is written; null when there is none. */
export function findContactByEmail(q: Tx | Reader, workspaceId: string, email: string): Promise<ContactRow | null> {
  return findByKey(q, workspaceId, addressKey(email));
}

/** A row for a new contact, without its number. */
export function newRow(deps: Deps, workspaceId: string, input: NewContact, status: ContactStatus): Omit<ContactRow, "seq"> {
  const now = deps.clock.now();
  const { address } = parseAddress(input.email);
  const [firstName, lastName, phone] = [orNone(input.firstName), orNone(input.lastName), orNone(input.phone)];
  return {
    id: deps.ids("con"),
    workspaceId,
    email: address,
    emailKey: addressKey(address),
    firstName,
    lastName,
    phone,
    status,
    tags: distinct(input.tags ?? []),
    customFields: input.customFields ?? {},
    searchText: searchTextOf({ email: address, firstName, lastName }),
    createdAt: now,
    updatedAt: now,
  };
}

/** A contact as a change leaves it; the same object when nothing differs. */
export function patchedRow(deps: Deps, before: ContactRow, patch: Omit<ContactPatch, "status">, status: ContactStatus): ContactRow {
  const after: ContactRow = {
    ...before,
    ...(patch.firstName !== undefined && { firstName: orNone(patch.firstName) }),
    ...(patch.lastName !== undefined && { lastName: orNone(patch.lastName) }),
    ...(patch.phone !== undefined && { phone: orNone(patch.phone) }),
    ...(patch.tags !== undefined && { tags: distinct(patch.tags) }),
    ...(patch.customFields !== undefined && { customFields: mergedFields(before.customFields, patch.customFields) }),
    status,
  };
  if (changesOf(before, after).length === 0 && before.status === after.status) return before;
  return { ...after, searchText: searchTextOf(after), updatedAt: deps.clock.now() };
}

const FIELDS = ["firstName", "lastName", "phone", "tags", "customFields"] as const;

const MOVED: Readonly<Record<ContactStatus, ContactEventType>> = {
  SUBSCRIBED: "contact.subscribed",
  UNSUBSCRIBED: "contact.unsubscribed",
  BOUNCED: "contact.bounced",
  COMPLAINED: "contact.complained",
};

interface Cause {
  source: ContactSource;
  emailId?: string | null | undefined;
}

/** A change of one contact: as it was, as it is to be. */
export interface Change {
  before: ContactRow;
  after: ContactRow;
}

/**
 * Writes new and changed contacts, with their tags, counts and events: the one way they are written. Changes that change
 * nothing are left out. All must be of one workspace.
 */
export async function writeContacts(
  tx: Tx,
  deps: Deps,
  created: readonly Omit<ContactRow, "seq">[],
  changes: readonly Change[],
  cause: Cause,
): Promise<ContactRow[]> {
  const tally = new Tally();
  const events: ContactEvent[] = [];
  const numbers = created.length > 0 ? await tx.nextNumbers(tx.t.contacts, created.length) : [];
  const rows = created.map((row, i): ContactRow => ({ ...row, seq: numbers[i] as number }));
  await insertContacts(tx, rows);
  for (const row of rows) {
    tally.add(row, 1);
    events.push(createdEvent(row, cause.source));
  }
  const real = changes.filter(({ before, after }) => before !== after);
  // Side by side: where the database is a connection away, its answers are waited for once.
  await Promise.all(real.map(({ before, after }) => updateContactRow(tx, before, after)));
  for (const { before, after } of real) {
    tally.add(before, -1);
    tally.add(after, 1);
    events.push(...eventsOf(before, after, cause));
  }
  await recordOfContacts(tx, events);
  await foldCountsSoon(tx, deps, await tally.write(tx));
  const [first] = rows.length > 0 ? rows : real.map(({ after }) => after);
  if (first)
    await deps.audience.changed(
      tx,
      deps,
      first.workspaceId,
      [...rows, ...real.map(({ after }) => after)].map((row) => row.seq),
    );
  return rows;
}

/** Creates a contact (SPEC 4, Set A). Throws ApiError duplicate_contact or email_suppressed. */
export async function createContact(
  tx: Tx,
  deps: Deps,
  workspaceId: string,
  input: NewContact,
  source: ContactSource = "api",
): Promise<ContactRow> {
  const row = newRow(deps, workspaceId, input, "SUBSCRIBED");
  const before = await findByKey(tx, workspaceId, row.emailKey);
  if (before)
    throw new ApiError("duplicate_contact", `${row.email} is a contact already: ${before.id}.`, {
      details: [{ path: "email", code: "duplicate_contact", message: "A contact with this address exists." }],
    });
  const suppression = (await suppressionsOf(tx, workspaceId, [row.emailKey])).get(row.emailKey);
  if (suppression)
    throw new ApiError("email_suppressed", `${row.email} is on the suppression list (${suppression.reason}).`, {
      details: [{ path: "email", code: "email_suppressed", message: "This address is on the suppression list." }],
    });
  const [written] = await writeContacts(tx, deps, [row], [], { source });
  return written as ContactRow;
}

/** Where a suppression for this reason puts a contact. */
export const STATUS_OF = {
  bounce: "BOUNCED",
  complaint: "COMPLAINED",
  unsubscribe: "UNSUBSCRIBED",
  manual: "UNSUBSCRIBED",
} as const satisfies Record<string, ContactStatus>;

export type SuppressionReason = keyof typeof STATUS_OF;

/** The status of an upsert that asks for `wanted`: nobody is subscribed again who has left, or is suppressed. */
export function upsertedStatus(
  before: ContactStatus | undefined,
  wanted: ContactUpsert["status"],
  suppressed: SuppressionReason | undefined,
): ContactStatus {
  const now = before ?? (suppressed ? STATUS_OF[suppressed] : "SUBSCRIBED");
  return wanted === "UNSUBSCRIBED" && now === "SUBSCRIBED" ? "UNSUBSCRIBED" : now;
}

/** Creates a contact, or updates the one with this address (SPEC 4, Set B). Never subscribes anybody again. */
export async function upsertContact(
  tx: Tx,
  deps: Deps,
  workspaceId: string,
  { status: wanted, ...input }: ContactUpsert,
  source: ContactSource = "api",
): Promise<{ contact: ContactRow; created: boolean }> {
  const emailKey = addressKey(parseAddress(input.email).address);
  const before = await findByKey(tx, workspaceId, emailKey);
  if (before) {
    const after = patchedRow(deps, before, input, upsertedStatus(before.status, wanted, undefined));
    await writeContacts(tx, deps, [], [{ before, after }], { source });
    return { contact: after, created: false };
  }
  const suppression = (await suppressionsOf(tx, workspaceId, [emailKey])).get(emailKey);
  const row = newRow(deps, workspaceId, input, upsertedStatus(undefined, wanted, suppression?.reason));
  const [contact] = await writeContacts(tx, deps, [row], [], { source });
  return { contact: contact as ContactRow, created: true };
}

/** Changes what was sent of a contact, and nothing else (SPEC 4). Throws ApiError not_found, invalid_state or email_suppressed. */
export async function updateContact(
  tx: Tx,
  deps: Deps,
  workspaceId: string,
  id: string,
  { status, ...patch }: ContactPatch,
  source: ContactSource = "api",
): Promise<ContactRow> {
  const before = await findContact(tx, workspaceId, id);
  if (status === "SUBSCRIBED" && before.status !== "SUBSCRIBED") await assertMayReturn(tx, before);
  const after = patchedRow(deps, before, patch, status ?? before.status);
  await writeContacts(tx, deps, [], [{ before, after }], { source });
  return after;
}

/** Adds and removes tags of a contact, leaving the others. Throws ApiError not_found. */
export async function changeTags(
  tx: Tx,
  deps: Deps,
  workspaceId: string,
  id: string,
  { add = [], remove = [] }: { add?: readonly string[]; remove?: readonly string[] },
  source: ContactSource,
): Promise<ContactRow> {
  const before = await findContact(tx, workspaceId, id);
  const gone = new Set(remove.map(tagKey));
  const after = patchedRow(deps, before, { tags: [...before.tags.filter((tag) => !gone.has(tagKey(tag))), ...add] }, before.status);
  await writeContacts(tx, deps, [], [{ before, after }], { source });
  return after;
}

/** Deletes a contact for good, with what other features keep of it (SPEC 4). Throws ApiError not_found. */
export async function deleteContact(
  tx: Tx,
  deps: Deps,
  workspaceId: string,
  id: string,
  links: readonly ContactLinks[],
): Promise<ContactRow> {
  const row = await findContact(tx, workspaceId, id);
  await deleteContactRow(tx, row);
  for (const link of links) await link.forget(tx, row);
  const tally = new Tally();
  tally.add(row, -1);
  await recordOfContacts(tx, [{ workspaceId, contactId: id, type: "contact.deleted", at: deps.clock.now() }]);
  await foldCountsSoon(tx, deps, await tally.write(tx));
  return row;
}

// A later reason overrides an earlier one only if it says more about the address.
const WEIGHT: Readonly<Record<ContactStatus, number>> = { SUBSCRIBED: 0, UNSUBSCRIBED: 1, BOUNCED: 2, COMPLAINED: 3 };

/** An address that was suppressed, in its compared form, and why. */
export interface SuppressedAddress {
  email: string;
  reason: SuppressionReason;
  emailId?: string | null | undefined;
}

/**
 * Moves the contacts of addresses that have just been suppressed to BOUNCED, COMPLAINED or UNSUBSCRIBED, in the transaction
 * that suppressed them. Those of no contact, and those that would only get better by it, are left as they are.
 */
export async function noteSuppressed(
  tx: Tx,
  deps: Deps,
  workspaceId: string,
  addresses: readonly SuppressedAddress[],
  source: ContactSource,
): Promise<void> {
  const one = addresses.length === 1 ? await findByKey(tx, workspaceId, addresses[0]?.email as string) : null;
  const found =
    addresses.length === 1
      ? new Map(one ? [[one.emailKey, one]] : [])
      : await findByKeys(
          tx,
          workspaceId,
          addresses.map((a) => a.email),
        );
  for (const { email, reason, emailId } of addresses) {
    const before = found.get(email);
    const status = STATUS_OF[reason];
    if (!before || WEIGHT[status] <= WEIGHT[before.status]) continue;
    const after = patchedRow(deps, before, {}, status);
    await writeContacts(tx, deps, [], [{ before, after }], { source, emailId });
    found.set(email, after);
  }
}

/** What people search in: a line each, so that no hit reaches over two of them, and after each character at least two more. */
function searchTextOf({ email, firstName, lastName }: Pick<ContactRow, "email" | "firstName" | "lastName">): string {
  return `${fold(email)}\n${fold(firstName ?? "")}\n${fold(lastName ?? "")}\n\n`;
}

/** Tags without repetitions; the first spelling stays. */
function distinct(tags: readonly string[]): string[] {
  const seen = new Map<string, string>();
  for (const tag of tags) if (!seen.has(tagKey(tag))) seen.set(tagKey(tag), tag);
  return [...seen.values()];
}

/** An empty name or number is none. */
function orNone(text: string | null | undefined): string | null {
  return text || null;
}

/** Fields set one by one. Throws ApiError validation_error when they become too many. */
function mergedFields(before: Record<string, CustomValue>, sent: Record<string, CustomValue>): Record<string, CustomValue> {
  const fields = { ...before, ...sent };
  const { customKeys, customBytes } = CONTACT_LIMITS;
  if (Object.keys(fields).length > customKeys || Buffer.byteLength(JSON.stringify(fields)) > customBytes)
    throw invalid(
      "customFields",
      "too_big",
      `With the fields there are, these would be more than ${customKeys}, or more than ${customBytes / 1024} KiB.`,
    );
  return fields;
}

function changesOf(before: ContactRow, after: ContactRow): string[] {
  return FIELDS.filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]));
}

/** The events a change makes. They name fields and tags, never what stands in a field. */
function eventsOf(before: ContactRow, after: ContactRow, { source, emailId = null }: Cause): ContactEvent[] {
  const about = { workspaceId: after.workspaceId, contactId: after.id, at: after.updatedAt, emailId };
  const changed = changesOf(before, after);
  const had = new Set(before.tags.map(tagKey));
  const has = new Set(after.tags.map(tagKey));
  const tagsAdded = after.tags.filter((tag) => !had.has(tagKey(tag)));
  const tagsRemoved = before.tags.filter((tag) => !has.has(tagKey(tag)));
  const events: ContactEvent[] = [];
  if (changed.length > 0)
    events.push({
      ...about,
      type: "contact.updated",
      data: { source, changed, ...(tagsAdded.length > 0 && { tagsAdded }), ...(tagsRemoved.length > 0 && { tagsRemoved }) },
    });
  if (before.status !== after.status) events.push({ ...about, type: MOVED[after.status], data: { source, before: before.status } });
  return events;
}

function createdEvent(row: ContactRow, source: ContactSource): ContactEvent {
  return {
    workspaceId: row.workspaceId,
    contactId: row.id,
    at: row.createdAt,
    type: "contact.created",
    data: { source, ...(row.tags.length > 0 && { tagsAdded: row.tags }) },
  };
}

/** Refuses to subscribe who is suppressed: a suppression is lifted on its own, knowingly. Throws ApiError invalid_state or email_suppressed. */
async function assertMayReturn(tx: Tx, row: ContactRow): Promise<void> {
  const suppression = (await suppressionsOf(tx, row.workspaceId, [row.emailKey])).get(row.emailKey);
  if (!suppression) return;
  const hint = `Lift the suppression first, if you are sure: mailsvc suppressions delete ${row.email}`;
  if (row.status === "BOUNCED" || row.status === "COMPLAINED")
    throw new ApiError("invalid_state", `This contact is ${row.status} and its address suppressed; it cannot be SUBSCRIBED.`, {
      details: [
        {
          path: "status",
          code: "invalid_state",
          message: `From ${row.status} there is no way to SUBSCRIBED while the address is suppressed.`,
        },
      ],
      hint,
    });
  throw new ApiError(
    "email_suppressed",
    `The address of this contact is on the suppression list (${suppression.reason}); it cannot be SUBSCRIBED.`,
    {
      details: [{ path: "status", code: "email_suppressed", message: "A suppressed address cannot be subscribed." }],
      hint,
    },
  );
}
