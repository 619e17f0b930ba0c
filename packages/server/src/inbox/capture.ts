import { addressKey } from "@mailsvc/sdk/contract";
import type { Tx } from "../db/db.ts";
import type { Clock } from "../lib/clock.ts";
import type { Ids } from "../lib/ids.ts";
import { splitIntoParts } from "../lib/parts.ts";
import { isTestMail } from "../lib/test-mail.ts";
import type { DeliveryWriter, Mailer } from "../mail/mailer.ts";
import { composeMime } from "../mail/mime.ts";
import type { Arrivals } from "./arrivals.ts";
import type { InboxTables } from "./tables.ts";

/** A captured mail before it is stored. */
type InboxRow = Omit<InboxTables["inbox"]["$inferSelect"], "id" | "receivedAt">;

interface CaptureOptions {
  ids: Ids;
  clock: Clock;
  arrivals: Pick<Arrivals, "notify">;
  /** Mails under way at the same time: many, so that they share a commit. */
  atOnce: number;
}

/**
 * Captures mail instead of sending it. The delivery is a row of the transaction that stores its outcome, so that a mail is in
 * the inbox exactly once, even if the process dies.
 */
export function captureMailer({ ids, clock, arrivals, atOnce }: CaptureOptions): Mailer {
  const writer: DeliveryWriter<InboxRow> = {
    writeAll: async (tx, rows) => {
      const receivedAt = clock.now();
      await insertMails(
        tx,
        rows.map((row) => ({ ...row, id: ids("mail"), receivedAt })),
      );
      const arrived = rows.map(({ workspaceId, to }) => ({ workspaceId, to }));
      tx.afterCommit(() => arrivals.notify(arrived));
    },
  };
  return {
    name: "capture",
    transactional: true,
    concurrency: atOnce,
    send: async (mail) => {
      const raw = await composeMime(mail);
      const row: InboxRow = {
        emailId: mail.origin?.emailId ?? null,
        workspaceId: mail.origin?.workspaceId ?? null,
        to: addressKey(mail.envelopeTo),
        from: mail.from,
        subject: mail.subject,
        size: raw.length,
        raw,
        test: isTestMail(mail.origin?.emailId),
      };
      return { outcome: "delivered", response: "250 2.0.0 Captured", record: { row, writer } };
    },
    check: async () => null,
    fault: () => null,
    close: async () => {},
  };
}

/** Inserts mails, large ones in parts. */
async function insertMails(tx: Tx, rows: readonly InboxTables["inbox"]["$inferSelect"][]): Promise<void> {
  const split = rows.map((row) => ({ row, ...splitIntoParts(row.raw) }));
  await tx.insertAll(
    tx.t.inbox,
    split.map(({ row, first }) => ({ ...row, raw: first })),
    { newKeys: true },
  );
  const parts = split.flatMap(({ row, others }) => others.map((raw, i) => ({ mailId: row.id, part: i + 1, raw })));
  await tx.insertAll(tx.t.inboxParts, parts, { newKeys: true });
}
