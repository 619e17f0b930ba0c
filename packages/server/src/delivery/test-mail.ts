import { isTestMail } from "../lib/test-mail.ts";
import type { Mailer } from "../mail/mailer.ts";
import type { Choice, Mailers } from "./mailers.ts";

/** Gives test mail to the mailer that captures it: it never reaches a mail server, and does not wait for one. */
export function captureTestMail(others: Mailers, capture: Mailer): Mailers {
  const captured: Choice = { mailer: capture, relay: null, isOutOfService: () => false, takeTurn: () => null };
  return {
    get main() {
      return others.main;
    },
    // A server that gets test mail now and then shall not claim other mail for the mailer that captures.
    get all() {
      return others.all;
    },
    choose: async (read, mails) => {
      const choices = await others.choose(read, mails);
      return mails.some(({ email }) => isTestMail(email.id))
        ? mails.map(({ email }, i) => (isTestMail(email.id) ? captured : (choices[i] as Choice)))
        : choices;
    },
  };
}
