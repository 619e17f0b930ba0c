import type { ContactPatch, ContactStatus, EventType, NewContact } from "@mailsvc/sdk/contract";
import { addressKey, CONTACT_TEXT_FIELDS, mapContactTexts, parseAddress } from "@mailsvc/sdk/contract";
import type { Tx } from "../db/db.ts";
import { assumeContactHeld, type HeldEmailId } from "../db/held.ts";
import { type NewEvent, recordEvents } from "../events/events.ts";
import { invalid } from "../lib/api-error.ts";
import { CountChanges, scheduleFold } from "./counters.ts";
import type { ContactDeps } from "./deps.ts";
import { emptyToNull, isReachableDomain, mergeCustomFields, tagKey, toSearchText, uniqueTags } from "./normalize.ts";
import { type ContactRow, insertContacts, inTurns, updateContactRow } from "./store.ts";

/** Source of a contact or a change, as events name it. */
export type ContactSource = "api" | "import" | "form" | "automation" | "delivery" | "unsubscribe" | "preferences";

/** Reason contacts are written. */
export interface Cause {
  source: ContactSource;
  /** The email that caused it. */
  emailId?: HeldEmailId | null | undefined;
  campaignId?: string | null | undefined;
  /** Nobody enters an automation by it. */
  startsNothing?: boolean | undefined;
}

/** A change of one contact. `patchContact` returns `before` itself if nothing differs. */
export interface ContactChange {
  before: ContactRow;
  after: ContactRow;
}

const PATCHABLE = ["email", "externalId", ...CONTACT_TEXT_FIELDS, "tags", "customFields"] as const;

const STATUS_EVENTS: Readonly<Record<ContactStatus, EventType & `contact.${string}`>> = {
  SUBSCRIBED: "contact.subscribed",
  UNSUBSCRIBED: "contact.unsubscribed",
  BOUNCED: "contact.bounced",
  COMPLAINED: "contact.complained",
};

/** The row of a new contact, without its `seq`. Throws ApiError validation_error for a domain that cannot receive email. */
export function buildContact(deps: ContactDeps, workspaceId: string, input: NewContact, status: ContactStatus): Omit<ContactRow, "seq"> {
  const now = deps.clock.now();
  const { address, key } = readAddress(deps, input.email);
  const texts = mapContactTexts((field) => emptyToNull(input[field]));
  return {
    id: deps.ids("con"),
    workspaceId,
    email: address,
    emailKey: key,
    externalId: emptyToNull(input.externalId),
    ...texts,
    status,
    tags: uniqueTags(input.tags ?? []),
    customFields: mergeCustomFields({}, input.customFields ?? {}),
    searchText: toSearchText({ email: address, ...texts }),
    createdAt: now,
    updatedAt: now,
  };
}

/** An address of a contact. Throws ApiError validation_error for a domain that cannot receive email. */
function readAddress(deps: ContactDeps, email: string): { readonly address: string; readonly key: string } {
  const { address, key, domain } = parseAddress(email);
  if (!isReachableDomain(deps.config, domain))
    throw invalid("email", "reserved_domain", `${domain} cannot receive email: its top-level domain is reserved. Use another address.`);
  return { address, key };
}

/** The address of a contact after a patch; another spelling of the one that it has changes nothing. */
function patchAddress(deps: ContactDeps, { email, emailKey }: ContactRow, wanted: string | undefined) {
  if (wanted === undefined || addressKey(wanted) === emailKey) return { email, emailKey };
  const { address, key } = readAddress(deps, wanted);
  return { email: address, emailKey: key };
}

/**
 * A contact with a patch and a status applied; the same object if nothing differs. Who changes the address decides the status with
 * `resolveMovedStatus`, and sees to it that the address and the externalId are free.
 */
export function patchContact(
  deps: ContactDeps,
  before: ContactRow,
  patch: Omit<ContactPatch, "status">,
  status: ContactStatus,
): ContactRow {
  const after: ContactRow = {
    ...before,
    ...patchAddress(deps, before, patch.email),
    ...(patch.externalId !== undefined && { externalId: emptyToNull(patch.externalId) }),
    ...mapContactTexts((field) => (patch[field] === undefined ? before[field] : emptyToNull(patch[field]))),
    ...(patch.tags !== undefined && { tags: uniqueTags(patch.tags) }),
    ...(patch.customFields !== undefined && { customFields: mergeCustomFields(before.customFields, patch.customFields) }),
    status,
  };
  if (listChangedFields(before, after).length === 0 && before.status === after.status) return before;
  return { ...after, searchText: toSearchText(after), updatedAt: deps.clock.now() };
}

/**
 * Writes new and changed contacts with their tags, counters and events, and tells segments. This is the only way contacts are
 * written. Changes whose `after` is their `before` are skipped. All contacts must be of one workspace. Returns the new rows.
 */
export async function saveContacts(
  tx: Tx,
  deps: ContactDeps,
  created: readonly Omit<ContactRow, "seq">[],
  changes: readonly ContactChange[],
  cause: Cause,
): Promise<ContactRow[]> {
  const counts = new CountChanges();
  const events: NewEvent[] = [];
  const seqs = created.length > 0 ? await tx.nextNumbers(tx.t.contacts, created.length) : [];
  const rows = created.map((row, i): ContactRow => ({ ...row, seq: seqs[i] as number }));
  await insertContacts(tx, rows);
  await inTurns(tx, rows, (row) => {
    counts.add(row, 1);
    events.push(buildCreatedEvent(row, cause));
  });
  const effective = changes.filter(({ before, after }) => before !== after);
  await inTurns(tx, effective, ({ before, after }) => updateContactRow(tx, before, after));
  const moved = effective.filter(({ before, after }) => before.emailKey !== after.emailKey).map(({ after }) => after);
  if (moved.length > 0) await deps.contactHooks.addressesChanged(tx, moved);
  await inTurns(tx, effective, ({ before, after }) => {
    counts.add(before, -1);
    counts.add(after, 1);
    events.push(...buildChangeEvents(before, after, cause));
  });
  await recordEvents(tx, deps, events);
  await scheduleFold(tx, deps, await counts.write(tx));
  const written = [...rows, ...effective.map(({ after }) => after)];
  const [first] = written;
  if (first)
    await deps.contactHooks.contactsChanged(
      tx,
      first.workspaceId,
      written.map((row) => row.seq),
      cause.startsNothing,
    );
  return rows;
}

/** The events that `saveContacts` would record. */
export function listWriteEvents(created: readonly Omit<ContactRow, "seq">[], changes: readonly ContactChange[], cause: Cause): NewEvent[] {
  return [
    ...created.map((row) => buildCreatedEvent(row, cause)),
    ...changes.flatMap(({ before, after }) => (before === after ? [] : buildChangeEvents(before, after, cause))),
  ];
}

/** Counts a deleted contact out and records `contact.deleted`. */
export async function recordDeletion(tx: Tx, deps: ContactDeps, row: ContactRow): Promise<void> {
  const counts = new CountChanges();
  counts.add(row, -1);
  await recordEvents(tx, deps, [
    { workspaceId: row.workspaceId, contactId: assumeContactHeld(row).id, type: "contact.deleted", at: deps.clock.now() },
  ]);
  await scheduleFold(tx, deps, await counts.write(tx));
}

function listChangedFields(before: ContactRow, after: ContactRow): string[] {
  return PATCHABLE.filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]));
}

/** Events name fields and tags, never the value of a field: the log may outlive the person. */
function buildChangeEvents(
  before: ContactRow,
  after: ContactRow,
  { source, emailId = null, campaignId = null, startsNothing }: Cause,
): NewEvent[] {
  const common = {
    workspaceId: after.workspaceId,
    contactId: assumeContactHeld(after).id,
    at: after.updatedAt,
    emailId,
    campaignId,
    startsNothing,
  };
  const changed = listChangedFields(before, after);
  const [keysBefore, keysAfter] = [new Set(before.tags.map(tagKey)), new Set(after.tags.map(tagKey))];
  const tagsAdded = after.tags.filter((tag) => !keysBefore.has(tagKey(tag)));
  const tagsRemoved = before.tags.filter((tag) => !keysAfter.has(tagKey(tag)));
  const events: NewEvent[] = [];
  if (changed.length > 0)
    events.push({
      ...common,
      type: "contact.updated",
      data: { source, changed, ...(tagsAdded.length > 0 && { tagsAdded }), ...(tagsRemoved.length > 0 && { tagsRemoved }) },
    });
  if (before.status !== after.status)
    events.push({ ...common, type: STATUS_EVENTS[after.status], data: { source, before: before.status } });
  return events;
}

function buildCreatedEvent(row: Omit<ContactRow, "seq">, { source, startsNothing }: Cause): NewEvent {
  return {
    startsNothing,
    workspaceId: row.workspaceId,
    contactId: assumeContactHeld({ id: row.id, seq: 0 }).id,
    at: row.createdAt,
    type: "contact.created",
    data: { source, ...(row.tags.length > 0 && { tagsAdded: row.tags }) },
  };
}
