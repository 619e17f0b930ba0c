import type { Contact } from "@mailsvc/sdk/contract";
import { CONTACT_LIMITS } from "@mailsvc/sdk/contract/facts";
import { api } from "../../api/client.ts";
import { RequestError } from "../../api/request-error.ts";
import { pause } from "../../browser.ts";

/** The filters of the list of contacts, as the address has them. */
export type ContactFilters = Readonly<Record<string, string>>;

type ListQuery = NonNullable<Parameters<typeof api.contacts.export>[0]>;

// Contacts of one request.
const BATCH = CONTACT_LIMITS.importRows;

// Deletions under way at a time.
const ABREAST = 6;

const BUSY_MS = 1000;

/** Result of a bulk action so far. */
export interface Tally {
  readonly done: number;
  /** Number of these that needed no change. */
  readonly unchanged: number;
  readonly failed: readonly { readonly contact: string; readonly message: string }[];
}

/** An action on up to 1,000 contacts. */
type Act = (contacts: readonly Contact[]) => Promise<Tally>;

/** All contacts that the filters match, newest first, up to 1,000 at a time. */
export async function* listBatches(filters: ContactFilters, signal: AbortSignal): AsyncGenerator<Contact[]> {
  let cursor: string | null = null;
  do {
    const query = { ...filters, limit: BATCH, ...(cursor !== null && { cursor }) } as ListQuery;
    const page: Awaited<ReturnType<typeof api.contacts.export>> = await patiently(() => api.contacts.export(query, { signal }), signal);
    yield page.data;
    cursor = page.pagination.nextCursor;
  } while (cursor !== null);
}

/** Contacts that were chosen one by one, in batches. */
export async function* toBatches(contacts: readonly Contact[]): AsyncGenerator<readonly Contact[]> {
  for (let at = 0; at < contacts.length; at += BATCH) yield contacts.slice(at, at + BATCH);
}

/** Does something to all contacts of `batches`, and says after each batch how far it is. Stops when the signal aborts. */
export async function actOnAll(
  batches: AsyncIterable<readonly Contact[]>,
  act: Act,
  signal: AbortSignal,
  progress: (tally: Tally) => void,
): Promise<Tally> {
  let sum: Tally = { done: 0, unchanged: 0, failed: [] };
  for await (const contacts of batches) {
    if (signal.aborted) break;
    const { done, unchanged, failed } = await act(contacts);
    sum = { done: sum.done + done, unchanged: sum.unchanged + unchanged, failed: [...sum.failed, ...failed] };
    progress(sum);
  }
  return sum;
}

/** Gives contacts a tag, which those who have it keep. */
export function addTag(tag: string, startAutomations: boolean, signal: AbortSignal): Act {
  return changeTags({ add: [tag], startAutomations }, signal);
}

/** Takes a tag from contacts. */
export function removeTag(tag: string, startAutomations: boolean, signal: AbortSignal): Act {
  return changeTags({ remove: [tag], startAutomations }, signal);
}

/** Adds contacts to a list. */
export function addToList(listId: string, startAutomations: boolean, signal: AbortSignal): Act {
  return async (contacts) => {
    const body = { contacts: contacts.map(({ id }) => id), startAutomations };
    const { unchanged, failed } = await patiently(() => api.lists.add(listId, body, { signal }), signal);
    return {
      done: contacts.length,
      unchanged,
      failed: failed.map(({ index, message }) => ({ contact: contacts[index]?.email ?? "", message })),
    };
  };
}

/** Deletes contacts, each by its own request. */
export function deleteAll(signal: AbortSignal): Act {
  return async (contacts) => {
    const failed: { contact: string; message: string }[] = [];
    const rest = [...contacts];
    let done = 0;
    const work = async (): Promise<void> => {
      for (let one = rest.pop(); one !== undefined && !signal.aborted; one = rest.pop()) {
        const { id, email } = one;
        try {
          await patiently(() => api.contacts.delete(id, { signal }), signal);
        } catch (cause) {
          // Stopped by the person: what was under way has not failed.
          if (signal.aborted) return;
          // A colleague may have deleted it already.
          if (!(cause instanceof RequestError && cause.status === 404)) failed.push({ contact: email, message: (cause as Error).message });
        }
        done += 1;
      }
    };
    await Promise.all(Array.from({ length: ABREAST }, work));
    return { done, unchanged: 0, failed };
  };
}

/** Calls again after a while when the key's limit of requests is reached. */
async function patiently<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (cause) {
      if (!(cause instanceof RequestError && cause.status === 429) || signal.aborted) throw cause;
      await pause(BUSY_MS, signal);
    }
  }
}

/** Adds and removes the named tags only: a colleague can change other tags of the same contacts at the same time. */
function changeTags(
  change: { readonly add?: string[]; readonly remove?: string[]; readonly startAutomations: boolean },
  signal: AbortSignal,
): Act {
  return async (contacts) => {
    const body = { contacts: contacts.map(({ id }) => id), ...change };
    const { unchanged, failed } = await patiently(() => api.contacts.tag(body, { signal }), signal);
    // A contact that a colleague has deleted needs no tag.
    const wrong = failed.filter(({ code }) => code !== "not_found");
    return {
      done: contacts.length,
      unchanged,
      failed: wrong.map(({ index, message }) => ({ contact: contacts[index]?.email ?? "", message })),
    };
  };
}
