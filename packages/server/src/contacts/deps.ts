import type { AutomationStart, ContactDetail, ContactStatus } from "@mailsvc/sdk/contract";
import type { Db, Reader, Tx } from "../db/db.ts";
import type { NewEvent } from "../events/events.ts";
import type { Queue } from "../queue/queue.ts";
import type { SuppressionDeps } from "../suppressions/deps.ts";
import type { SearchResult } from "./list.ts";
import type { ContactSlice } from "./slices.ts";
import type { ContactRow } from "./store.ts";

export interface ContactDeps extends SuppressionDeps {
  readonly db: Db;
  readonly queue: Queue;
  readonly config: { readonly dev: boolean };
  readonly contactHooks: ContactHooks;
}

/** Filter for the contacts of a list or a segment. */
export interface ContactSelection {
  readonly list: string | undefined;
  readonly segment: string | undefined;
  readonly status: ContactStatus | undefined;
  readonly tag: string | undefined;
  /** Text in their address or names, folded; empty for all. */
  readonly text: string;
}

/** The contacts that a list got. */
export interface Joined {
  readonly joined: number;
  readonly asked: number;
  /** The `seq`s of those that were not on it. */
  readonly seqs: ReadonlySet<number>;
}

/** The contacts that a list would get. */
interface ForeseenJoins {
  readonly joined: number;
  readonly asked: number;
  readonly events: readonly NewEvent[];
}

/**
 * Facts that other features know about contacts, and their reactions to changes, in the same transaction. `features.ts` connects
 * them.
 */
interface ContactHooks {
  /** Contacts changed, or something segment rules can ask about them: segments update their members. */
  contactsChanged(tx: Tx, workspaceId: string, contactSeqs: readonly number[], startsNothing?: boolean): Promise<void>;
  /** Contacts have other addresses: links in confirmation emails to the former ones stop working. */
  addressesChanged(tx: Tx, contacts: readonly ContactRow[]): Promise<void>;
  /**
   * For each active automation how many contacts would enter it by events that are not recorded yet, and by segments that the contacts
   * would enter.
   */
  foreseeStarts(tx: Tx, workspaceId: string, events: readonly NewEvent[], contacts: readonly ContactRow[]): Promise<AutomationStart[]>;
  /** Deletes or clears all that is stored about a contact, its own row first. */
  forgetContact(tx: Tx, contact: ContactRow): Promise<void>;
  /** Lets contacts join a list, and tells which of them were not on it and are now, or were asked. Throws ApiError not_found. */
  joinList(tx: Tx, workspaceId: string, listId: string, contacts: readonly ContactRow[], startsNothing: boolean): Promise<Joined>;
  /** Foresees what `joinList` would do, and the events that it would record. Throws ApiError not_found. */
  foreseeJoins(tx: Tx, workspaceId: string, listId: string, contacts: readonly ContactRow[]): Promise<ForeseenJoins>;
  /** Ends memberships that `joinList` made, except where the person has confirmed one. A list that is gone counts as left. */
  leaveList(tx: Tx, workspaceId: string, listId: string, contacts: readonly ContactRow[]): Promise<void>;
  /** The lists a contact is on, and the segments it is in at this instant. */
  listMemberships(q: Tx | Reader, contact: ContactRow): Promise<Pick<ContactDetail, "lists" | "segments">>;
  /** The contacts of a list, a segment or both, newest first, and how many there are. Throws ApiError validation_error for unknown ones. */
  listSelected(read: Reader, workspaceId: string, selection: ContactSelection, slice: ContactSlice): Promise<SearchResult>;
}
