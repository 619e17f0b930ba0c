import type { Tx } from "../db/db.ts";

/** What other features do when contacts change, in the same transaction. `features.ts` connects it. */
export interface ContactHooks {
  /** Contacts changed, or something segment rules can ask about them: segments update their members. */
  contactsChanged(tx: Tx, workspaceId: string, contactSeqs: readonly number[]): Promise<void>;
}
