import { addressKey, readContactRef } from "@mailsvc/sdk/contract";
import type { Reader } from "../db/db.ts";
import { findRows } from "../db/find.ts";

/** The id of the contact that a text names, for a filter of events; the text itself where there is none, as of a contact that is deleted. */
export async function findContactId(read: Reader, workspaceId: string, ref: string): Promise<string> {
  const kind = readContactRef(ref);
  if (kind === "id") return ref;
  const named = kind === "email" ? { emailKey: addressKey(ref) } : { externalId: ref };
  const [found] = await findRows(read, read.t.contacts, { workspaceId, ...named });
  return found?.id ?? ref;
}
