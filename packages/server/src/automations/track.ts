import {
  addressKey,
  type contract,
  EmailAddress,
  type ErrorDetail,
  type HandlerInput,
  type HandlerOutput,
  readContactRef,
  TRACK_LIMITS,
  type TrackBatch,
  type TrackedEvent,
} from "@mailsvc/sdk/contract";
import { type ContactRow, createMissing, getContactRow, holdContacts, resolveContacts } from "../contacts/contacts.ts";
import type { Tx } from "../db/db.ts";
import type { HeldContact } from "../db/held.ts";
import { findTrackedIds, type NewEvent, recordWithKeys, storeTrackedIds } from "../events/events.ts";
import { ApiError, invalid, notFound } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import { DAY, MINUTE } from "../lib/units.ts";
import type { AutomationDeps } from "./automations.ts";

type Track = typeof contract.events.track;

/** An event of a batch, or the errors that make it invalid. */
export type TrackedItem = { readonly event: TrackedEvent } | { readonly errors: readonly ErrorDetail[] };

/** A valid event about a contact. */
interface Reported {
  readonly event: TrackedEvent;
  readonly contact: ContactRow;
  readonly at: number;
  /** True for one that happened too long ago to trigger anything. */
  readonly isPast: boolean;
}

type Outcome =
  | (Reported & { readonly result: "tracked" })
  // Its contact may be gone.
  | { readonly result: "repeated"; readonly contact: ContactRow | undefined; readonly at: number }
  | { readonly result: "failed"; readonly error: ApiError };

const TOLERANCE = TRACK_LIMITS.toleranceMinutes * MINUTE;
const OLDEST = TRACK_LIMITS.years * 365.25 * DAY;

/** Records an event of the workspace's own about a contact, which automations listen to. Throws ApiError not_found. */
export async function track(tx: Tx, deps: AutomationDeps, workspaceId: string, event: HandlerInput<Track>): Promise<HandlerOutput<Track>> {
  const { outcomes } = await trackAll(tx, deps, workspaceId, [{ event }], false);
  const [outcome] = outcomes;
  if (!outcome) throw new Error("Each event has an outcome.");
  if (outcome.result === "failed") throw outcome.error;
  const { contact, at, result } = outcome;
  const known = contact ?? (await getContactRow(tx, workspaceId, event.contact));
  await holdContacts(tx, workspaceId, [known]);
  return { type: "contact.tracked", contactId: known.id, name: event.name, at: iso(at), repeated: result === "repeated" };
}

/** Records many events in one transaction, each as `track` does. */
export async function trackBatch(
  tx: Tx,
  deps: AutomationDeps,
  workspaceId: string,
  items: readonly TrackedItem[],
  createContacts: boolean,
): Promise<TrackBatch> {
  const { outcomes, created } = await trackAll(tx, deps, workspaceId, items, createContacts);
  const results = outcomes.map(({ result }) => result);
  const count = (result: Outcome["result"]): number => results.filter((one) => one === result).length;
  const errors = outcomes.flatMap((outcome, index) =>
    outcome.result === "failed" ? outcome.error.details.map((detail) => ({ index, ...detail })) : [],
  );
  return { tracked: count("tracked"), repeated: count("repeated"), failed: count("failed"), created, results, errors };
}

async function trackAll(
  tx: Tx,
  deps: AutomationDeps,
  workspaceId: string,
  items: readonly TrackedItem[],
  createContacts: boolean,
): Promise<{ outcomes: Outcome[]; created: number }> {
  const now = deps.clock.now();
  const events = items.flatMap((item) => ("event" in item ? [item.event] : []));
  const ids = [...new Set(events.flatMap(({ id }) => id ?? []))];
  const taken = await findTrackedIds(tx, workspaceId, ids);
  const wanted = events.filter((event) => !taken.has(event.id ?? "") && !(readAt(event, now) instanceof ApiError));
  const contacts = await findPeople(tx, deps, workspaceId, wanted, now, createContacts);
  const seen = new Set(taken.keys());
  const outcomes = items.map((item): Outcome => {
    if ("errors" in item)
      return { result: "failed", error: new ApiError("validation_error", "The event is invalid.", { details: [...item.errors] }) };
    const { event } = item;
    const at = readAt(event, now);
    if (at instanceof ApiError) return { result: "failed", error: at };
    const contact = contacts.found.get(toKey(event.contact));
    const isKnown = contact !== undefined && !(contact instanceof ApiError);
    if (event.id !== undefined && seen.has(event.id)) return { result: "repeated", contact: isKnown ? contact : undefined, at };
    if (!isKnown) return { result: "failed", error: explainMissing(event, contact, createContacts) };
    if (event.id !== undefined) seen.add(event.id);
    return { result: "tracked", event, contact, at, isPast: isPast(event, now) };
  });
  const tracked = outcomes.flatMap((outcome) => (outcome.result === "tracked" ? [outcome] : []));
  await store(tx, deps, workspaceId, tracked);
  return { outcomes, created: contacts.created };
}

/** Stores events, and the ids that their caller gave them. */
async function store(tx: Tx, deps: AutomationDeps, workspaceId: string, tracked: readonly Reported[]): Promise<void> {
  const people = new Map(tracked.map(({ contact }) => [contact.seq, contact]));
  const held = new Map((await holdContacts(tx, workspaceId, [...people.values()])).map((contact) => [contact.seq as number, contact]));
  const keys = await recordWithKeys(
    tx,
    deps,
    tracked.map(({ event: { name, value, currency, properties }, contact, at, isPast }): NewEvent => {
      const data = { name, ...(value !== undefined && { value, currency }), ...(properties !== undefined && { properties }) };
      const { id: contactId } = held.get(contact.seq) as HeldContact;
      return { workspaceId, type: "contact.tracked", contactId, at, data, startsNothing: isPast };
    }),
  );
  const ids = tracked.flatMap(({ event: { id } }, i) => (id === undefined ? [] : [{ id, eventKey: keys[i] as number }]));
  if (ids.length > 0) await storeTrackedIds(tx, workspaceId, ids);
}

/** The contacts of events by `toKey`; with `createContacts` also those of addresses that were unknown, or the reason why there is none. */
async function findPeople(
  tx: Tx,
  deps: AutomationDeps,
  workspaceId: string,
  events: readonly TrackedEvent[],
  now: number,
  createContacts: boolean,
): Promise<{ found: ReadonlyMap<string, ContactRow | ApiError>; created: number }> {
  const refs = new Map(events.map(({ contact }) => [toKey(contact), contact]));
  const rows = await resolveContacts(tx, workspaceId, [...refs.values()]);
  const found = new Map<string, ContactRow | ApiError>([...refs.keys()].flatMap((key, i) => (rows[i] ? [[key, rows[i]] as const] : [])));
  if (!createContacts) return { found, created: 0 };
  const missing = new Map([...refs].filter(([key, ref]) => !found.has(key) && readContactRef(ref) === "email"));
  // Somebody of whom only past events are told starts nothing by being created.
  const present = new Set(events.filter((event) => !isPast(event, now)).map(({ contact }) => toKey(contact)));
  const valid = [...missing].filter(([, email]) => EmailAddress.safeParse(email).success);
  let created = 0;
  for (const isPresent of [true, false]) {
    const some = new Map(valid.filter(([key]) => present.has(key) === isPresent));
    for (const [key, one] of await createMissing(tx, deps, workspaceId, some, !isPresent)) {
      found.set(key, one);
      if (!(one instanceof ApiError)) created += 1;
    }
  }
  return { found, created };
}

/** True for an event that happened too long ago to trigger anything. */
function isPast(event: TrackedEvent, now: number): boolean {
  return event.at !== undefined && Date.parse(event.at) < now - TOLERANCE;
}

/** One key for all spellings of an address. */
function toKey(ref: string): string {
  return readContactRef(ref) === "email" ? addressKey(ref) : ref;
}

/** The time of an event, ms, or the reason why it cannot be. A clock that is a little fast means now. */
function readAt({ at }: TrackedEvent, now: number): number | ApiError {
  if (at === undefined) return now;
  const time = Date.parse(at);
  if (time > now + TOLERANCE) return invalid("at", "in_future", `at is in the future: the server's clock shows ${iso(now)}.`);
  if (time < now - OLDEST) return invalid("at", "too_old", `at is more than ${TRACK_LIMITS.years} years ago.`);
  return Math.min(time, now);
}

function explainMissing({ contact: ref }: TrackedEvent, why: ApiError | undefined, createContacts: boolean): ApiError {
  if (why) return invalid("contact", why.details[0]?.code ?? "invalid_value", why.details[0]?.message ?? why.message);
  if (createContacts && readContactRef(ref) === "email") {
    const { error } = EmailAddress.safeParse(ref);
    return invalid("contact", "invalid_email", error?.issues[0]?.message ?? "This is not an address.");
  }
  const missing = notFound("contact", ref);
  const hint = createContacts ? " Only an address can become a contact." : "";
  const details = [{ path: "contact", code: "not_found", message: `${missing.message}${hint}` }];
  return new ApiError("not_found", missing.message, { details });
}
