import type { EmailDetail, Event, ReceivedMailDetail } from "@mailsvc/sdk/contract";
import { api } from "../../api/client.ts";
import { RequestError } from "../../api/request-error.ts";
import { may } from "../../api/session.ts";

/** One mail of a conversation: one that was received, or one of ours. */
type ThreadMail =
  | { readonly at: string; readonly theirs: ReceivedMailDetail; readonly ours?: never }
  | { readonly at: string; readonly ours: EmailDetail; readonly theirs?: never };

export interface Thread {
  readonly opened: ReceivedMailDetail;
  /** Oldest first. */
  readonly mails: readonly ThreadMail[];
  /** There are more, which are older. */
  readonly isLong: boolean;
}

// Limit for each side. Conversations between people are shorter.
const MAX_SHOWN = 50;

/** The conversation that a received mail belongs to. Throws RequestError. */
export async function loadThread(id: string, signal: AbortSignal): Promise<Thread> {
  const opened = await api.received.get(id, { signal });
  const { threadId } = opened;
  const [theirs, ours] = await Promise.all([
    api.received.list({ thread: threadId, limit: MAX_SHOWN }, { signal }),
    listOurs(threadId, signal),
  ]);
  const mails: ThreadMail[] = [
    ...(await Promise.all(
      theirs.data.map(async (one) => ({
        at: one.receivedAt,
        theirs: one.id === id ? opened : await api.received.get(one.id, { signal }),
      })),
    )),
    ...ours.map((one) => ({ at: one.createdAt, ours: one })),
  ];
  // One that was opened by its address and is older than those listed belongs to them all the same.
  if (!mails.some(({ theirs: one }) => one?.id === id)) mails.push({ at: opened.receivedAt, theirs: opened });
  return { opened, mails: mails.sort((one, other) => Date.parse(one.at) - Date.parse(other.at)), isLong: theirs.pagination.hasMore };
}

/** True if an event belongs to a conversation: a received mail, news about one of ours, or another of ours to the same person. */
export function isOfThread({ type, data, emailId, to }: Event, thread: Thread | null): boolean {
  if (thread === null || !type.startsWith("email.")) return false;
  const { threadId, from, replyTo } = thread.opened;
  if (type === "email.received") return data["threadId"] === threadId;
  if (type === "email.queued") return to !== null && (to === from || replyTo.includes(to));
  return thread.mails.some(({ ours }) => ours?.id === emailId);
}

/** The email that began the conversation, and our answers in it. */
async function listOurs(threadId: string, signal: AbortSignal): Promise<EmailDetail[]> {
  if (!may("transactional:read")) return [];
  const { data } = await api.emails.list({ thread: threadId, limit: MAX_SHOWN }, { signal });
  const ids = data.map(({ id }) => id);
  if (threadId.startsWith("em_")) ids.push(threadId);
  const found = await Promise.all(ids.map((id) => api.emails.get(id, { signal }).catch(skipErased)));
  return found.filter((one) => one !== null);
}

/** Passes over an email that was erased. Throws any other error, so that no answer is missing unseen. */
function skipErased(error: unknown): null {
  if (error instanceof RequestError && error.status === 404) return null;
  throw error;
}
