import type { ContactDetail } from "@mailsvc/sdk/contract";
import type { Reader, Tx } from "../db/db.ts";
import type { ContactRow } from "./store.ts";

/** What other features know about contacts, and do when they change, in the same transaction. `features.ts` connects it. */
export interface ContactHooks {
  /** Contacts changed, or something segment rules can ask about them: segments update their members. */
  contactsChanged(tx: Tx, workspaceId: string, contactSeqs: readonly number[]): Promise<void>;
  /** Deletes or clears all that is stored about a contact, its own row first. */
  forgetContact(tx: Tx, contact: ContactRow): Promise<void>;
  /** The lists a contact is on, and the segments it is in at this instant. */
  listMemberships(q: Tx | Reader, contact: ContactRow): Promise<Pick<ContactDetail, "lists" | "segments">>;
}
