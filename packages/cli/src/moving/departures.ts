import { addressKey, type Contact, contract, type Event, type Page } from "@mailsvc/sdk/contract";
import { hasStatus } from "../runtime/errors.ts";
import { buildCall } from "../runtime/request.ts";
import type { Session } from "../types.ts";
import type { TargetLists } from "./lists.ts";

/**
 * Addresses of those who left a list here, by the list: a move that is repeated later would bring them back, because the former service
 * does not know of it. As far back as the server keeps its events.
 */
export async function loadDepartures(session: Session, lists: TargetLists): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const known = new Set([...lists.values()].flatMap(({ id, isNew }) => (id === undefined || isNew ? [] : [id])));
  const departed = new Map<string, Set<string>>();
  if (known.size === 0) return departed;
  const addresses = new Map<string, string | null>();
  for (let cursor: string | null = null; ; ) {
    const query = { limit: 100, type: "list.left", ...(cursor === null ? {} : { cursor }) };
    const { data, pagination } = (await session.send(buildCall(contract.events.list, [], query, undefined))).data as Page<Event>;
    for (const { contactId, data: about } of data) {
      const { listId } = about as { listId?: string };
      if (typeof contactId !== "string" || listId === undefined || !known.has(listId)) continue;
      if (!addresses.has(contactId)) addresses.set(contactId, await findAddress(session, contactId));
      const address = addresses.get(contactId);
      if (!address) continue;
      const some = departed.get(listId) ?? new Set<string>();
      departed.set(listId, some.add(addressKey(address)));
    }
    cursor = pagination.nextCursor ?? null;
    if (cursor === null) return departed;
  }
}

/** The address of a contact; null for one that is gone. */
async function findAddress(session: Session, id: string): Promise<string | null> {
  try {
    return ((await session.send(buildCall(contract.contacts.get, [id], {}, undefined))).data as Contact).email;
  } catch (error) {
    if (hasStatus(error, 404)) return null;
    throw error;
  }
}
