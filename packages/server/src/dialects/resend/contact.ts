import { addressKey, type ContactDetail, contract, MailboxText } from "@mailsvc/sdk/contract";
import { findContactByEmail } from "../../contacts/contacts.ts";
import { notFound } from "../../lib/api-error.ts";
import type { Reads } from "../operation.ts";

/** A contact by id or address. Throws ApiError not_found. */
export async function getContact(named: string, calls: Reads): Promise<ContactDetail> {
  if (!named.includes("@")) return calls.read(contract.contacts.get, { id: named });
  const row = MailboxText.safeParse(named).success ? await findContactByEmail(calls.rows, calls.workspaceId, addressKey(named)) : null;
  if (row === null) throw notFound("contact", named);
  return calls.read(contract.contacts.get, { id: row.id });
}
