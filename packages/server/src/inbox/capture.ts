import { addressKey } from "@mailsvc/sdk/contract";
import type { Clock } from "../lib/clock.ts";
import type { Ids } from "../lib/ids.ts";
import type { Mailer } from "../mail/mailer.ts";
import { composeMime } from "../mail/mime.ts";
import type { ArrivalSignal } from "./arrival-signal.ts";
import { insertMail } from "./inbox.ts";

export interface CaptureOptions {
  ids: Ids;
  clock: Clock;
  arrivals: ArrivalSignal;
}

/**
 * Captures mail instead of sending it. The delivery is a row of the transaction that stores its outcome, so that a mail is in
 * the inbox exactly once, even if the process dies.
 */
export function captureMailer({ ids, clock, arrivals }: CaptureOptions): Mailer {
  return {
    name: "capture",
    transactional: true,
    // Many at the same time, so that they share a commit.
    concurrency: 32,
    send: async (mail) => {
      const raw = await composeMime(mail);
      return {
        outcome: "delivered",
        response: "250 2.0.0 Captured",
        record: async (tx) => {
          await insertMail(tx, {
            id: ids("mail"),
            emailId: mail.origin?.emailId ?? null,
            workspaceId: mail.origin?.workspaceId ?? null,
            to: addressKey(mail.envelopeTo),
            from: mail.from,
            subject: mail.subject,
            size: raw.length,
            raw,
            receivedAt: clock.now(),
          });
          tx.afterCommit(arrivals.notify);
        },
      };
    },
    check: async () => null,
    fault: () => null,
    close: async () => {},
  };
}
