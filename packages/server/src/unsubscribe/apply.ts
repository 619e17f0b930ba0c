import { addressKey } from "@mailsvc/sdk/contract";
import type { Reader, Tx } from "../db/db.ts";
import type { Deps } from "../deps.ts";
import { findEmail } from "../emails/emails.ts";
import { recordEvents } from "../events/events.ts";
import { findSuppressions, suppress } from "../suppressions/suppressions.ts";
import type { Subscriber } from "./link.ts";

/** The lists of a person, as the preference page shows them; `features.ts` connects them. */
export interface SubscriberLists {
  find(q: Tx | Reader, subscriber: Subscriber): Promise<readonly SubscriberList[]>;
  leave(tx: Tx, deps: Deps, subscriber: Subscriber, listId: string): Promise<void>;
}

export interface SubscriberList {
  readonly id: string;
  readonly name: string;
}

/** How a person unsubscribed: by the page of the link, by one click in a mail program, or by an email to the address in its header. */
export type UnsubscribeMethod = "page" | "one-click" | "mailto";

/** Stops marketing mail to an address: it is suppressed, and its contact becomes UNSUBSCRIBED. Idempotent. */
export async function unsubscribe(tx: Tx, deps: Deps, subscriber: Subscriber, method: UnsubscribeMethod): Promise<void> {
  const { workspaceId, email, emailId } = subscriber;
  if (await isUnsubscribed(tx, subscriber)) return;
  // Before what follows from it, as people read the events.
  const campaignId = await recordUnsubscribed(tx, deps, subscriber, { method, scope: "all" });
  await suppress(tx, deps, workspaceId, { email, reason: "unsubscribe", scope: "marketing", source: "unsubscribe", emailId, campaignId });
}

/** Takes a person off lists, and nothing else. Lists that the person is not on, or cannot see, are ignored. */
export async function leaveLists(
  tx: Tx,
  deps: Deps,
  subscriber: Subscriber,
  lists: SubscriberLists,
  leaving: (list: SubscriberList) => boolean,
): Promise<void> {
  const left = (await lists.find(tx, subscriber)).filter(leaving);
  if (left.length === 0) return;
  await recordUnsubscribed(tx, deps, subscriber, { method: "page", scope: "lists", lists: left.map(({ id }) => id) });
  for (const { id } of left) await lists.leave(tx, deps, subscriber, id);
}

/** Whether an address gets no marketing mail, for whatever reason. */
export async function isUnsubscribed(q: Tx | Reader, { workspaceId, email }: Subscriber): Promise<boolean> {
  return (await findSuppressions(q, workspaceId, [addressKey(email)])).size > 0;
}

/** Records the event of the email whose link was used, if it still exists. Returns its campaign. */
async function recordUnsubscribed(
  tx: Tx,
  deps: Deps,
  { workspaceId, emailId }: Subscriber,
  data: Record<string, unknown>,
): Promise<string | null> {
  const email = emailId === undefined ? undefined : (await findEmail(tx, workspaceId, emailId))?.email;
  if (!email) return null;
  const { id, contactId, campaignId } = email;
  await recordEvents(tx, deps, [
    { workspaceId, type: "email.unsubscribed", emailId: id, contactId, campaignId, at: deps.clock.now(), data },
  ]);
  return campaignId;
}
