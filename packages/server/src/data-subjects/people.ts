import { type Erasure, type Person, parseAddress } from "@mailsvc/sdk/contract";
import { type ContactLinks, deleteContact, findContactByEmail, listMemberships, showContact } from "../contacts/contacts.ts";
import type { Reader, Tx } from "../db/db.ts";
import type { Deps } from "../deps.ts";
import { getEmail } from "../emails/emails.ts";
import { eventId, eventsOfContact } from "../events/events.ts";
import { ApiError, invalid } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import { eraseAddress, findSuppressions, showSuppression } from "../suppressions/suppressions.ts";
import { deleteAnswers, deleteCaptured, deleteContactEvents, deleteTraces, emailIdsTo, type Trace, tracesOf } from "./store.ts";

const PAGE = 50;

/** Everything that is stored about the person behind an address; mail to them a page at a time. Throws ApiError not_found. */
export async function getPerson(
  read: Reader,
  workspaceId: string,
  { email, cursor }: { email: string; cursor?: string | undefined },
  links: readonly ContactLinks[],
  now: number,
): Promise<Person> {
  const key = keyOf(email);
  const contact = await findContactByEmail(read, workspaceId, key);
  const events = contact ? await eventsOfContact(read, contact.id) : [];
  const suppression = (await findSuppressions(read, workspaceId, [key])).get(key);
  const ids = await emailIdsTo(read, workspaceId, key, { before: cursor === undefined ? null : decode(cursor), limit: PAGE + 1 });
  if (!contact && !suppression && ids.length === 0 && cursor === undefined) throw unknown(email);
  const shown = ids.slice(0, PAGE);
  return {
    email: contact?.email ?? key,
    contact: contact && { ...showContact(contact), ...(await listMemberships(read, contact, links, now)) },
    events: events.map((e) => ({ id: eventId(e.sequence), type: e.type, at: iso(e.at), data: e.data ?? {} })),
    suppression: suppression ? showSuppression(suppression) : null,
    emails: await Promise.all(shown.map((id) => getEmail(read, workspaceId, id))),
    nextCursor: ids.length > PAGE ? Buffer.from(shown.at(-1) ?? "").toString("base64url") : null,
  };
}

/** Finds all mail to a person. It reads all emails, so it is done before the transaction. Throws ApiError validation_error. */
export function tracesOfPerson(read: Reader, workspaceId: string, email: string): Promise<Trace[]> {
  return tracesOf(read, workspaceId, keyOf(email));
}

/** Erases the person behind an address, wherever they stand. A suppressed address stays suppressed, as a keyed hash. Throws ApiError not_found. */
export async function erasePerson(
  tx: Tx,
  deps: Deps,
  workspaceId: string,
  email: string,
  traces: readonly Trace[],
  links: readonly ContactLinks[],
): Promise<Erasure> {
  const key = keyOf(email);
  const contact = await findContactByEmail(tx, workspaceId, key);
  const gone = await deleteTraces(tx, workspaceId, traces);
  let { events } = gone;
  if (contact) {
    // First what happened to them, then that they are gone: that alone stays, and names nobody.
    events += await deleteContactEvents(tx, contact.id);
    await deleteContact(tx, deps, workspaceId, contact.id, links);
  }
  const erased = {
    contacts: contact ? 1 : 0,
    emails: gone.emails,
    captured: await deleteCaptured(tx, workspaceId, key),
    events,
    answers: await deleteAnswers(tx, workspaceId, [key, ...(contact ? [contact.id, contact.email] : [])]),
    staysSuppressed: await eraseAddress(tx, deps, workspaceId, key),
  };
  if (Object.values(erased).every((n) => !n)) throw unknown(email);
  return erased;
}

/** An address as it came in a path, in its compared form. Throws ApiError validation_error. */
function keyOf(email: string): string {
  try {
    return parseAddress(email).key;
  } catch (error) {
    throw invalid("email", "invalid_email", (error as Error).message);
  }
}

function decode(cursor: string): string {
  const id = Buffer.from(cursor, "base64url").toString();
  if (!/^em_[0-9a-z]{26}$/.test(id))
    throw invalid("cursor", "invalid_cursor", "This is no cursor of this list. Take the nextCursor of the page before.");
  return id;
}

function unknown(email: string) {
  return new ApiError("not_found", `Nothing is stored about ${JSON.stringify(email.slice(0, 320))} in this workspace.`);
}
