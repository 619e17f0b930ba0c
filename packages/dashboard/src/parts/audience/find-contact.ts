import type { Contact } from "@mailsvc/sdk/contract";
import { api } from "../../api/client.ts";
import { readAll } from "../page-reader.ts";

/** The contact with an address; null where there is none. The search finds all addresses that contain it, too. */
export async function findContact(email: string, signal: AbortSignal): Promise<Contact | null> {
  const wanted = email.toLowerCase();
  const found = await readAll<Contact>((page) => api.contacts.list({ ...page, search: email }, { signal }));
  return found.find((one) => one.email === wanted) ?? null;
}
