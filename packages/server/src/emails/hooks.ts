import type { Tx } from "../db/db.ts";

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

/** What other features do with what happens to emails, in the same transaction. `features.ts` connects it. */
export interface EngagementHooks {
  /** Emails were sent, delivered, opened or clicked. */
  emailsEngaged(tx: Tx, engagements: readonly Engagement[]): Promise<void>;
}
