import { type ContactDetail, contract } from "@mailsvc/sdk/contract";
import type { Reads } from "../operation.ts";

/** A contact by id, address or externalId. Throws ApiError not_found. */
export function getContact(named: string, calls: Reads): Promise<ContactDetail> {
  return calls.read(contract.contacts.get, { id: named });
}
