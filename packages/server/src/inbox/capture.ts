import { addressKey } from "@mailsvc/sdk/contract";
import { assumeEmailHeld, type HeldEmailId } from "../db/held.ts";
import type { Clock } from "../lib/clock.ts";
import { type Ids, isTestMail } from "../lib/ids.ts";
import type { DeliveryWriter, Mailer } from "../mail/mailer.ts";
import { composeMime } from "../mail/mime.ts";
import type { Arrivals } from "./arrivals.ts";
import { type CutMessage, cutMessage, insertParts } from "./parts.ts";
import type { InboxTables } from "./tables.ts";

/** A captured mail before it is stored. */
interface NewMail {
  readonly row: Omit<InboxTables["inbox"]["$inferSelect"], "id" | "receivedAt"> & { readonly emailId: HeldEmailId | null };
  readonly others: CutMessage["others"];
}

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
  const writer: DeliveryWriter<NewMail> = {
    writeAll: async (tx, mails) => {
      const receivedAt = clock.now();
      const named = mails.map(({ row, others }) => ({ row: { ...row, id: ids("mail"), receivedAt }, others }));
      await tx.insertAll(
        tx.t.inbox,
        named.map(({ row }) => row),
        { newKeys: true },
      );
      await insertParts(
        tx,
        named.map(({ row, others }) => ({ mailId: row.id, others })),
      );
      const arrived = mails.map(({ row: { workspaceId, to } }) => ({ workspaceId, to }));
      tx.afterCommit(() => arrivals.notify(arrived));
    },
  };
  return {
    name: "capture",
    transactional: true,
    concurrency: atOnce,
    send: async (mail) => {
      const raw = await composeMime(mail);
      const { first, others } = await cutMessage(raw);
      const row: NewMail["row"] = {
        // The transaction that stores it stores what became of the email, too.
        emailId: mail.origin?.emailId ? assumeEmailHeld(mail.origin.emailId) : null,
        workspaceId: mail.origin?.workspaceId ?? null,
        to: addressKey(mail.envelopeTo),
        from: mail.from,
        subject: mail.subject,
        size: raw.length,
        raw: first,
        test: isTestMail(mail.origin?.emailId),
      };
      return { outcome: "delivered", response: "250 2.0.0 Captured", record: { row: { row, others }, writer } };
    },
    check: async () => null,
    fault: () => null,
    close: async () => {},
  };
}
