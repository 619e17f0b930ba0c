import {
  addressKey,
  type Contact,
  type ContactPatch,
  type ContactStatus,
  type ContactUpsert,
  mapContactTexts,
  type NewContact,
  type Suppression,
} from "@mailsvc/sdk/contract";
import type { Reader, Tx } from "../db/db.ts";
import { ApiError, notFound } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import {
  deleteSuppressions,
  findSuppressions,
  type SuppressedAddress,
  type SuppressionRow,
  suppress,
  suppressUnsubscribed,
} from "../suppressions/suppressions.ts";
import type { ContactDeps } from "./deps.ts";
import { type ContactRow, findByEmailKey, findByEmailKeys, findByExternalIds, lockContacts, resolveContacts } from "./store.ts";
import { buildContact, type Cause, type ContactChange, type ContactSource, patchContact, recordDeletion, saveContacts } from "./write.ts";

export type { ContactSelection } from "./deps.ts";
export { isReachableDomain, tagKey, toSearchTerm } from "./normalize.ts";
export type { ContactSlice } from "./slices.ts";
export { type ContactRow, explainNoMail, holdContacts, lockContacts, resolveContacts, toContactCursor } from "./store.ts";
export { patchContact } from "./write.ts";

export function showContact(row: ContactRow): Contact {
  return {
    id: row.id,
    email: row.email,
    externalId: row.externalId,
    ...mapContactTexts((field) => row[field]),
    tags: row.tags,
    customFields: row.customFields,
    status: row.status,
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt),
  };
}

/** One contact by its id, its address or its externalId. Throws ApiError not_found. */
export async function getContactRow(q: Tx | Reader, workspaceId: string, ref: string): Promise<ContactRow> {
  const [row] = await resolveContacts(q, workspaceId, [ref]);
  if (!row) throw notFound("contact", ref);
  return row;
}

/** The contact with an address, in any spelling of it; null if there is none. */
export function findContactByEmail(q: Tx | Reader, workspaceId: string, email: string): Promise<ContactRow | null> {
  return findByEmailKey(q, workspaceId, addressKey(email));
}

/** Creates a contact (docs/contacts.md#two-ways-to-create-a-contact). Throws ApiError duplicate_contact or email_suppressed. */
export async function createContact(tx: Tx, deps: ContactDeps, workspaceId: string, input: NewContact): Promise<ContactRow> {
  const row = buildContact(deps, workspaceId, input, "SUBSCRIBED");
  await assertFree(tx, row);
  const suppression = (await findSuppressions(tx, workspaceId, [row.emailKey])).get(row.emailKey);
  if (suppression)
    throw new ApiError("email_suppressed", `${row.email} is on the suppression list (${suppression.reason}).`, {
      details: [{ path: "email", code: "email_suppressed", message: "This address is on the suppression list." }],
    });
  const [written] = await saveContacts(tx, deps, [row], [], { source: "api" });
  return written as ContactRow;
}

/** Throws ApiError duplicate_contact if another contact has the address or the externalId of a row. */
async function assertFree(tx: Tx, { workspaceId, id, email, emailKey, externalId }: Omit<ContactRow, "seq">): Promise<void> {
  const byEmail = await findByEmailKey(tx, workspaceId, emailKey);
  if (byEmail && byEmail.id !== id) throw isTaken("email", `A contact with the address ${email} already exists: ${byEmail.id}.`);
  const byOwnId = externalId === null ? undefined : (await findByExternalIds(tx, workspaceId, [externalId])).get(externalId);
  if (byOwnId && byOwnId.id !== id)
    throw isTaken("externalId", `A contact with the externalId ${externalId} already exists: ${byOwnId.id}.`);
}

function isTaken(path: "email" | "externalId", message: string): ApiError {
  const short = `A contact with this ${path === "email" ? "address" : path} already exists.`;
  return new ApiError("duplicate_contact", message, { details: [{ path, code: "duplicate_contact", message: short }] });
}

/**
 * The contact that an upsert means, of the one with its externalId and the one with its address; undefined for a new one. An externalId
 * says who it is, so the first one counts. Throws ApiError duplicate_contact if the two are different people, or if the contact with the
 * address has another externalId.
 */
export function chooseContact(
  { email, externalId }: Pick<ContactUpsert, "email" | "externalId">,
  byOwnId: ContactRow | undefined,
  byEmail: ContactRow | undefined,
): ContactRow | undefined {
  if (byOwnId && byEmail && byOwnId.id !== byEmail.id)
    throw isTaken("email", `The address ${email} is that of ${byEmail.id}, and the externalId ${externalId} that of ${byOwnId.id}.`);
  if (byEmail && !byOwnId && externalId && byEmail.externalId !== null)
    throw isTaken(
      "email",
      `The contact with the address ${email} has another externalId: ${byEmail.externalId}. To change it: PATCH /api/v1/contacts/${byEmail.id}`,
    );
  return byOwnId ?? byEmail;
}

/**
 * The status of a contact that gets another address. The person stays who they are: who unsubscribed or complained stays that. A bounce was
 * that of the former address, so what the person said before it counts. The new address may be suppressed, for a graver reason.
 */
export function resolveMovedStatus(
  { status, emailKey }: Pick<ContactRow, "status" | "emailKey">,
  newKey: string,
  suppressions: ReadonlyMap<string, SuppressionRow>,
): ContactStatus {
  const [former, next] = [suppressions.get(emailKey), suppressions.get(newKey)];
  const said = (former?.unsubscribedAt ?? null) === null ? "SUBSCRIBED" : "UNSUBSCRIBED";
  const kept = status === "BOUNCED" ? said : status;
  const found = next ? STATUS_BY_REASON[next.reason] : "SUBSCRIBED";
  return GRAVITY[found] > GRAVITY[kept] ? found : kept;
}

/** Suppresses the new addresses of contacts who want no mail, as their former ones are: what a person said goes along. */
export async function takeNoAlong(
  tx: Tx,
  deps: ContactDeps,
  workspaceId: string,
  changes: readonly ContactChange[],
  source: "api" | "import",
): Promise<void> {
  const moved = changes.filter(({ before, after }) => before.emailKey !== after.emailKey).map(({ after }) => after);
  for (const { email } of moved.filter(({ status }) => status === "COMPLAINED"))
    await suppress(tx, deps, workspaceId, { email, reason: "complaint", source });
  const unsubscribed = moved.filter(({ status }) => status === "UNSUBSCRIBED").map(({ emailKey }) => emailKey);
  await suppressUnsubscribed(tx, deps, workspaceId, unsubscribed, source);
}

/** The status a contact takes when its address is suppressed for a reason. */
const STATUS_BY_REASON = {
  bounce: "BOUNCED",
  complaint: "COMPLAINED",
  unsubscribe: "UNSUBSCRIBED",
  manual: "UNSUBSCRIBED",
} as const satisfies Record<Suppression["reason"], ContactStatus>;

/**
 * The status after an upsert. It can unsubscribe a contact, never subscribe one again:
 *
 * | now                      | `UNSUBSCRIBED` requested | otherwise                 |
 * | ------------------------ | ------------------------ | ------------------------- |
 * | new, address suppressed  | by the reason            | by the reason             |
 * | new                      | UNSUBSCRIBED             | SUBSCRIBED                |
 * | SUBSCRIBED               | UNSUBSCRIBED             | SUBSCRIBED                |
 * | any other status         | unchanged                | unchanged                 |
 */
export function resolveUpsertStatus(
  before: ContactStatus | undefined,
  wanted: ContactUpsert["status"],
  suppression: SuppressionRow | undefined,
): ContactStatus {
  const now = before ?? (suppression ? STATUS_BY_REASON[suppression.reason] : "SUBSCRIBED");
  return wanted === "UNSUBSCRIBED" && now === "SUBSCRIBED" ? "UNSUBSCRIBED" : now;
}

/** Creates a contact, or updates the one with this externalId or this address. Never subscribes anyone again. */
export async function upsertContact(
  tx: Tx,
  deps: ContactDeps,
  workspaceId: string,
  { status: wanted, ...input }: ContactUpsert,
  source: ContactSource = "api",
): Promise<{ contact: ContactRow; created: boolean }> {
  const emailKey = addressKey(input.email);
  const { externalId } = input;
  const byOwnId = externalId ? (await findByExternalIds(tx, workspaceId, [externalId])).get(externalId) : undefined;
  const before = chooseContact(input, byOwnId, (await findByEmailKey(tx, workspaceId, emailKey)) ?? undefined);
  let contact: ContactRow;
  if (before) {
    const status = await findStatusAt(tx, before, emailKey);
    contact = patchContact(deps, before, input, resolveUpsertStatus(status, wanted, undefined));
    await saveContacts(tx, deps, [], [{ before, after: contact }], { source });
    await takeNoAlong(tx, deps, workspaceId, [{ before, after: contact }], "api");
    if (contact === before) await holdUnchanged(tx, before);
  } else {
    const suppression = (await findSuppressions(tx, workspaceId, [emailKey])).get(emailKey);
    const row = buildContact(deps, workspaceId, input, resolveUpsertStatus(undefined, wanted, suppression));
    [contact] = (await saveContacts(tx, deps, [row], [], { source })) as [ContactRow];
  }
  if (wanted === "UNSUBSCRIBED") await suppressUnsubscribed(tx, deps, workspaceId, [emailKey], "api");
  return { contact, created: before === undefined };
}

/**
 * Creates the contacts of addresses that have none, each by the rules of `upsertContact`. Returns them by their keys, and for an address that
 * cannot have one the ApiError. A thousand at most.
 */
export async function createMissing(
  tx: Tx,
  deps: ContactDeps,
  workspaceId: string,
  addresses: ReadonlyMap<string, string>,
  startsNothing: boolean,
): Promise<Map<string, ContactRow | ApiError>> {
  const results = new Map<string, ContactRow | ApiError>();
  if (addresses.size === 0) return results;
  const suppressions = await findSuppressions(tx, workspaceId, [...addresses.keys()]);
  const rows: Omit<ContactRow, "seq">[] = [];
  for (const [key, email] of addresses) {
    try {
      rows.push(buildContact(deps, workspaceId, { email }, resolveUpsertStatus(undefined, undefined, suppressions.get(key))));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      results.set(key, error);
    }
  }
  for (const row of await saveContacts(tx, deps, rows, [], { source: "api", startsNothing })) results.set(row.emailKey, row);
  return results;
}

/**
 * Changes the fields of a contact that were sent. Status UNSUBSCRIBED suppresses the address in scope `marketing`, and
 * SUBSCRIBED lifts that suppression. Throws ApiError not_found, or invalid_state or email_suppressed if the address is
 * suppressed in scope `all`. The events name the cause, by default a call.
 */
export async function updateContact(
  tx: Tx,
  deps: ContactDeps,
  workspaceId: string,
  id: string,
  { status, ...patch }: ContactPatch,
  cause: Cause = { source: "api" },
): Promise<ContactRow> {
  const before = await getContactRow(tx, workspaceId, id);
  const kept = patch.email === undefined ? before.status : await findStatusAt(tx, before, addressKey(patch.email));
  const after = patchContact(deps, before, patch, status ?? kept);
  if (after.emailKey !== before.emailKey || after.externalId !== before.externalId) await assertFree(tx, after);
  if (status === "SUBSCRIBED") await liftUnsubscribe(tx, deps, { ...after, status: kept });
  await saveContacts(tx, deps, [], [{ before, after }], cause);
  if (after === before) await holdUnchanged(tx, before);
  await takeNoAlong(tx, deps, workspaceId, [{ before, after }], "api");
  if (status === "UNSUBSCRIBED") await suppressUnsubscribed(tx, deps, workspaceId, [after.emailKey], "api");
  return after;
}

/** The status that a contact has with an address, its own or another one. */
async function findStatusAt(tx: Tx, contact: ContactRow, emailKey: string): Promise<ContactStatus> {
  if (contact.emailKey === emailKey) return contact.status;
  return resolveMovedStatus(contact, emailKey, await findSuppressions(tx, contact.workspaceId, [contact.emailKey, emailKey]));
}

/** Holds a contact that a call leaves as it was: the answer shows it, and is stored if the call has an Idempotency-Key. */
async function holdUnchanged(tx: Tx, { workspaceId, seq }: ContactRow): Promise<void> {
  await lockContacts(tx, workspaceId, [seq]);
}

/**
 * Changes fields of contacts that were read in this transaction, each contact once. Returns those that are different now, and for one
 * that cannot be changed like that the ApiError, by their `seq`.
 */
export async function patchContacts(
  tx: Tx,
  deps: ContactDeps,
  workspaceId: string,
  patches: readonly { readonly contact: ContactRow; readonly patch: Omit<ContactPatch, "status"> }[],
  source: ContactSource,
): Promise<Map<number, ContactRow | ApiError>> {
  const results = new Map<number, ContactRow | ApiError>();
  const changes: ContactChange[] = [];
  for (const { contact: before, patch } of patches) {
    if (before.workspaceId !== workspaceId) throw new Error(`The contact ${before.id} is not of the workspace ${workspaceId}.`);
    try {
      const after = patchContact(deps, before, patch, before.status);
      if (after === before) continue;
      changes.push({ before, after });
      results.set(before.seq, after);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      results.set(before.seq, error);
    }
  }
  if (changes.length > 0) await saveContacts(tx, deps, [], changes, { source });
  return results;
}

/** Deletes a contact with everything that is stored about it. Its suppression stays. Throws ApiError not_found. */
export async function deleteContact(tx: Tx, deps: ContactDeps, workspaceId: string, id: string): Promise<ContactRow> {
  const row = await getContactRow(tx, workspaceId, id);
  await deps.contactHooks.forgetContact(tx, row);
  await recordDeletion(tx, deps, row);
  return row;
}

// A suppression changes the status of a contact only if its reason is the graver one.
const GRAVITY: Readonly<Record<ContactStatus, number>> = { SUBSCRIBED: 0, UNSUBSCRIBED: 1, BOUNCED: 2, COMPLAINED: 3 };

const SOURCE_OF_CHANGE: Readonly<Record<Suppression["source"], ContactSource>> = {
  api: "api",
  import: "import",
  bounce: "delivery",
  complaint: "delivery",
  unsubscribe: "unsubscribe",
};

/**
 * Moves the contacts of addresses that were just suppressed to BOUNCED, COMPLAINED or UNSUBSCRIBED, in the transaction that
 * suppressed them. Addresses without a contact are skipped, and so are contacts whose status is as grave already.
 */
export async function applySuppressions(
  tx: Tx,
  deps: ContactDeps,
  workspaceId: string,
  addresses: readonly SuppressedAddress[],
  source: Suppression["source"],
): Promise<void> {
  const contacts = await findByEmailKeys(
    tx,
    workspaceId,
    addresses.map(({ email }) => email),
  );
  for (const { email, reason, emailId, campaignId } of addresses) {
    const before = contacts.get(email);
    const status = STATUS_BY_REASON[reason];
    if (!before || GRAVITY[status] <= GRAVITY[before.status]) continue;
    const after = patchContact(deps, before, {}, status);
    await saveContacts(tx, deps, [], [{ before, after }], { source: SOURCE_OF_CHANGE[source], emailId, campaignId });
    contacts.set(email, after);
  }
}

/**
 * Removes the `marketing` suppression of a contact that is subscribed again. One of scope `all` is not the caller's to lift in
 * passing: throws ApiError invalid_state for a contact that bounced or complained, else email_suppressed.
 */
async function liftUnsubscribe(tx: Tx, deps: ContactDeps, { workspaceId, emailKey, email, status }: ContactRow): Promise<void> {
  const suppression = (await findSuppressions(tx, workspaceId, [emailKey])).get(emailKey);
  if (!suppression) return;
  if (suppression.scope === "marketing") {
    await deleteSuppressions(tx, deps, workspaceId, [suppression.id]);
    return;
  }
  const hint = `If you are sure, remove the suppression first: mailsvc suppressions remove ${email}`;
  if (status === "BOUNCED" || status === "COMPLAINED")
    throw new ApiError("invalid_state", `This contact is ${status} and its address is suppressed, so it cannot be SUBSCRIBED.`, {
      details: [
        { path: "status", code: "invalid_state", message: `A ${status} contact cannot be SUBSCRIBED while its address is suppressed.` },
      ],
      hint,
    });
  throw new ApiError(
    "email_suppressed",
    `The address of this contact is on the suppression list (${suppression.reason}), so it cannot be SUBSCRIBED.`,
    { details: [{ path: "status", code: "email_suppressed", message: "A suppressed address cannot be SUBSCRIBED." }], hint },
  );
}
