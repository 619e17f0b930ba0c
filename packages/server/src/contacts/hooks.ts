import type { ContactDetail, ContactStatus } from "@mailsvc/sdk/contract";
import type { Reader, Tx } from "../db/db.ts";
import type { ContactSlice } from "./slices.ts";
import type { ContactRow } from "./store.ts";

/** Which contacts of a list or a segment are wanted. */
export interface ContactSelection {
  readonly list: string | undefined;
  readonly segment: string | undefined;
  readonly status: ContactStatus | undefined;
  readonly tag: string | undefined;
  /** What their address or names contain, folded; empty for all. */
  readonly text: string;
}

/** What other features know about contacts, and do when they change, in the same transaction. `features.ts` connects it. */
export interface ContactHooks {
  /** Contacts changed, or something segment rules can ask about them: segments update their members. */
  contactsChanged(tx: Tx, workspaceId: string, contactSeqs: readonly number[]): Promise<void>;
  /** Deletes or clears all that is stored about a contact, its own row first. */
  forgetContact(tx: Tx, contact: ContactRow): Promise<void>;
  /** The lists a contact is on, and the segments it is in at this instant. */
  listMemberships(q: Tx | Reader, contact: ContactRow): Promise<Pick<ContactDetail, "lists" | "segments">>;
  /** The contacts of a list, a segment or both, newest first, and how many there are. Throws ApiError validation_error for unknown ones. */
  listSelected(
    read: Reader,
    workspaceId: string,
    selection: ContactSelection,
    slice: ContactSlice,
  ): Promise<{ readonly rows: ContactRow[]; readonly total: number }>;
}
