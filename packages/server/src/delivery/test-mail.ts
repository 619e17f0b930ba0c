import { isTestMail } from "../lib/ids.ts";
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
      const live = mails.filter(({ email }) => !isTestMail(email.id));
      // A choice may count, such as the one mail a minute that tries a paused relay: it is not asked for test mail.
      const choices = live.length === 0 ? [] : await others.choose(read, live);
      if (live.length === mails.length) return choices;
      let next = 0;
      return mails.map(({ email }) => (isTestMail(email.id) ? captured : (choices[next++] as Choice)));
    },
  };
}
