import type { Mailer, OutgoingMail, Receipt } from "../src/mail/mailer.ts";

export interface AcceptingMailer extends Mailer {
  /** Mails that were handed over. */
  readonly mails: OutgoingMail[];
}

/** A next hop that accepts all mail, or answers as it is told: what becomes of the mail then is known later, or never. */
export function acceptingMailer(
  answer: (mail: OutgoingMail) => Receipt | Promise<Receipt> = () => ({ outcome: "sent", response: "250 OK" }),
): AcceptingMailer {
  const mails: OutgoingMail[] = [];
  return {
    mails,
    name: "smtp",
    transactional: false,
    concurrency: 4,
    send: async (mail) => {
      mails.push(mail);
      return answer(mail);
    },
    check: async () => null,
    fault: () => null,
    close: async () => {},
  };
}
