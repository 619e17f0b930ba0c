import type { Mailer, OutgoingMail, Receipt } from "../src/mail/mailer.ts";

export const accepted: Receipt = { outcome: "sent", response: "250 2.0.0 OK" };

export const busy = failure("deferred", 451, "4.7.1", "451 4.7.1 Try again later");
export const noSuchUser: Receipt = { ...failure("bounced", 550, "5.1.1", "550 5.1.1 No such user here"), invalidRecipient: true };
export const relayDenied = failure("bounced", 550, null, "550 relay not permitted");
export const cutOff = failure("unknown", null, null, "The connection was lost before the answer came.");

export interface ScriptedMailer extends Mailer {
  /** Everything that was handed over, in order. */
  readonly sent: OutgoingMail[];
}

/** Reaction of a mailer to its n-th hand-over, from 0. */
export type Script = (mail: OutgoingMail, n: number) => Receipt | Promise<Receipt>;

/** A mailer of the SMTP kind that answers by a script; by default it accepts everything. */
export function scriptedMailer(script: Script = () => accepted): ScriptedMailer {
  const sent: OutgoingMail[] = [];
  return {
    name: "smtp",
    transactional: false,
    concurrency: 8,
    sent,
    send: async (mail) => {
      sent.push(mail);
      return script(mail, sent.length - 1);
    },
    check: async () => null,
    fault: () => null,
    close: async () => {},
  };
}

function failure<O extends "deferred" | "bounced" | "unknown">(
  outcome: O,
  smtpCode: number | null,
  enhancedCode: string | null,
  message: string,
) {
  return {
    outcome,
    error: { message, smtpCode, enhancedCode },
  };
}
