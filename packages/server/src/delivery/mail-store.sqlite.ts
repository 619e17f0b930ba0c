import { and, lte, not } from "drizzle-orm";
import type { SqliteDb } from "../db/sqlite/database.ts";
import { CLAIMED, type EmailRow } from "../emails/emails.ts";
import type { StoreEvents } from "../queue/job-store.ts";
import { isPaused } from "../queue/pause.ts";
import { MailStore } from "./mail-store.ts";

/** Emails in the SQLite file of a single process. What it has claimed is known to it alone, so a claim is a read. */
export class SqliteMailStore extends MailStore<SqliteDb> {
  readonly beginsStored = true;

  /** Data that comes from a Postgres may have claims of its servers. */
  override async open(kinds: readonly string[], events: StoreEvents): Promise<void> {
    await super.open(kinds, events);
    await this.db.tx(async (tx) => void (await tx.update(tx.t.emails).set({ claimedBy: null }).where(CLAIMED)));
  }

  async release(): Promise<void> {}

  protected async claimLane(lane: "mail" | "bulk", now: number, limit: number): Promise<EmailRow[]> {
    return this.db.read
      .prepared("claim_emails", (q, t, arg) =>
        q
          .select()
          .from(t.emails)
          .where(
            and(
              this.waitsIn(t, arg("lane")),
              lte(t.emails.nextAttemptAt, arg("now")),
              not(this.db.read.sqlDialect.among(t.emails.id, arg("held"))),
              not(isPaused(t)),
            ),
          )
          .orderBy(t.emails.nextAttemptAt, t.emails.id)
          .limit(arg("limit")),
      )
      .execute({ lane: this.stored(lane), now, held: this.heldIds(), limit });
  }
}
