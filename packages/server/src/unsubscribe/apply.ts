import { addressKey } from "@mailsvc/sdk/contract";
import { type ContactRow, findContactByEmail, resolveContacts, updateContact } from "../contacts/contacts.ts";
import type { Reader, Tx } from "../db/db.ts";
import type { HeldEmailId } from "../db/held.ts";
import { findEmail, holdEmail } from "../emails/emails.ts";
import { recordEvents } from "../events/events.ts";
import { isTestMail } from "../lib/ids.ts";
import { findSuppressions, suppress } from "../suppressions/suppressions.ts";
import type { Subscriber } from "./link.ts";
import type { UnsubscribeDeps } from "./unsubscribe.ts";

/** The lists of a person, as the preference page shows them; `features.ts` connects them. */
export interface SubscriberLists {
  find(q: Tx | Reader, subscriber: Subscriber): Promise<readonly SubscriberList[]>;
  leave(tx: Tx, subscriber: Subscriber, listId: string): Promise<void>;
}

export interface SubscriberList {
  readonly id: string;
  readonly name: string;
}

/**
 * Way in which a person unsubscribed: by the page of the link, by one click in a mail program, by an email to the address in its
 * header, or at the provider that delivered the mail.
 */
type UnsubscribeMethod = "page" | "one-click" | "mailto" | "provider";

/**
 * Stops marketing mail to an address: it is suppressed, and its contact becomes UNSUBSCRIBED; in addition to a bounce or another reason
 * that is there already, it is stored that the person unsubscribed. Idempotent. By the link in a test mail nothing happens but the event:
 * nobody has received it.
 */
export async function unsubscribe(tx: Tx, deps: UnsubscribeDeps, subscriber: Subscriber, method: UnsubscribeMethod): Promise<void> {
  const { workspaceId, email } = subscriber;
  if (await hasUnsubscribed(tx, subscriber)) return;
  // Before what follows from it, as people read the events.
  const origin = await recordUnsubscribed(tx, deps, subscriber, { method, scope: "all" });
  if (isTestMail(subscriber.emailId)) return;
  const wanted = { reason: "unsubscribe", scope: "marketing", source: "unsubscribe", ...origin } as const;
  await suppress(tx, deps, workspaceId, { email, ...wanted });
  // The contact that got the mail may have another address by now: it is the same person.
  const [contact] = origin?.contactId ? await resolveContacts(tx, workspaceId, [origin.contactId]) : [];
  if (contact && contact.emailKey !== addressKey(email)) await suppress(tx, deps, workspaceId, { email: contact.email, ...wanted });
}

/** Takes a person off lists, and nothing else. Lists that the person is not on, or cannot see, are ignored. */
export async function leaveLists(
  tx: Tx,
  deps: UnsubscribeDeps,
  subscriber: Subscriber,
  lists: SubscriberLists,
  leaving: (list: SubscriberList) => boolean,
): Promise<void> {
  const left = (await lists.find(tx, subscriber)).filter(leaving);
  if (left.length === 0) return;
  await recordUnsubscribed(tx, deps, subscriber, { method: "page", scope: "lists", lists: left.map(({ id }) => id) });
  if (isTestMail(subscriber.emailId)) return;
  for (const { id } of left) await lists.leave(tx, subscriber, id);
}

/** True if an address gets no marketing mail, for whatever reason. */
export async function isUnsubscribed(q: Tx | Reader, subscriber: Subscriber): Promise<boolean> {
  return (await findOwnSuppression(q, subscriber)) !== undefined;
}

/** True if a person unsubscribed, whatever else suppresses the address. */
export async function hasUnsubscribed(q: Tx | Reader, subscriber: Subscriber): Promise<boolean> {
  return ((await findOwnSuppression(q, subscriber))?.unsubscribedAt ?? null) !== null;
}

async function findOwnSuppression(q: Tx | Reader, { workspaceId, email }: Subscriber) {
  const key = addressKey(email);
  return (await findSuppressions(q, workspaceId, [key])).get(key);
}

/** True if a person may undo that they unsubscribed. */
export async function canResubscribe(q: Tx | Reader, subscriber: Subscriber): Promise<boolean> {
  return (await findUnsubscribed(q, subscriber)) !== null;
}

/**
 * Undoes that a person unsubscribed, by their own wish, of which `contact.subscribed` is the proof: it names the email whose page was
 * used. Does nothing where `canResubscribe` says no.
 */
export async function resubscribe(tx: Tx, deps: UnsubscribeDeps, subscriber: Subscriber): Promise<void> {
  if (isTestMail(subscriber.emailId)) return;
  const contact = await findUnsubscribed(tx, subscriber);
  if (!contact) return;
  const email = await findOrigin(tx, subscriber);
  const cause = { source: "preferences", emailId: email && (await holdEmail(tx, email)), campaignId: email?.campaignId } as const;
  await updateContact(tx, deps, subscriber.workspaceId, contact.id, { status: "SUBSCRIBED" }, cause);
}

/** Stores the language that a person chose, if the address is a contact's. */
export async function chooseLanguage(tx: Tx, deps: UnsubscribeDeps, subscriber: Subscriber, language: string): Promise<void> {
  if (isTestMail(subscriber.emailId)) return;
  const contact = await findContactByEmail(tx, subscriber.workspaceId, subscriber.email);
  if (contact) await updateContact(tx, deps, subscriber.workspaceId, contact.id, { language }, { source: "preferences" });
}

/** The contact of a person whom only their own word keeps from getting marketing mail: no bounce, no complaint, no decision of the sender. */
async function findUnsubscribed(q: Tx | Reader, subscriber: Subscriber): Promise<ContactRow | null> {
  const { workspaceId, email } = subscriber;
  const suppression = await findOwnSuppression(q, subscriber);
  if (suppression?.reason !== "unsubscribe" || suppression.scope !== "marketing") return null;
  const contact = await findContactByEmail(q, workspaceId, email);
  return contact?.status === "UNSUBSCRIBED" ? contact : null;
}

/** The email whose link was used, if it still exists. */
async function findOrigin(q: Tx, { workspaceId, emailId }: Subscriber) {
  return emailId === undefined ? null : ((await findEmail(q, workspaceId, emailId))?.email ?? null);
}

/** Records the event of the email whose link was used, if it still exists. Returns that email and its campaign. */
async function recordUnsubscribed(
  tx: Tx,
  deps: UnsubscribeDeps,
  subscriber: Subscriber,
  data: Record<string, unknown>,
): Promise<{ readonly emailId: HeldEmailId; readonly campaignId: string | null; readonly contactId: string | null } | null> {
  const email = await findOrigin(tx, subscriber);
  if (!email) return null;
  const { workspaceId, contactId, campaignId } = email;
  const emailId = await holdEmail(tx, email);
  await recordEvents(tx, deps, [{ workspaceId, type: "email.unsubscribed", emailId, contactId, campaignId, at: deps.clock.now(), data }]);
  return { emailId, campaignId, contactId };
}
