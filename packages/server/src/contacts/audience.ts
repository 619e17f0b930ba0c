import type { Suppression } from "@mailsvc/sdk/contract";
import type { Tx } from "../db/db.ts";
import type { Deps } from "../deps.ts";

/** A suppressed address. */
export interface SuppressedAddress {
  /** The address as `addressKey` returns it. */
  email: string;
  reason: Suppression["reason"];
  /** The email whose bounce or complaint caused it. */
  emailId?: string | null | undefined;
  campaignId?: string | null | undefined;
}

/** What happened to an email, as far as segment rules can ask for it. Instants in ms. */
export interface Engagement {
  workspaceId: string;
  /** The recipient's address as `addressKey` returns it. */
  email: string;
  sentAt?: number;
  deliveredAt?: number;
  openedAt?: number;
  clickedAt?: number;
}

/**
 * Hooks by which one feature tells others about contacts, in the transaction of the change. `features.ts` composes them, so
 * that contacts, suppressions, lists and emails need not import the features that listen.
 */
export interface Audience {
  /** Contacts changed, or something segment rules can ask about them: segments update their members. */
  contactsChanged(tx: Tx, deps: Deps, workspaceId: string, contactSeqs: readonly number[]): Promise<void>;
  /** Addresses were suppressed: their contacts become BOUNCED, COMPLAINED or UNSUBSCRIBED. */
  addressesSuppressed(
    tx: Tx,
    deps: Deps,
    workspaceId: string,
    addresses: readonly SuppressedAddress[],
    source: Suppression["source"],
  ): Promise<void>;
  /** Emails were sent, delivered, opened or clicked. */
  emailsEngaged(tx: Tx, deps: Deps, engagements: readonly Engagement[]): Promise<void>;
}
