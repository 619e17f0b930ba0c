import type { Mailer } from "../mail/mailer.ts";
import { deferred } from "../mail/smtp-reply.ts";

/** Takes the mail that names a relay which is not there: sending it another way could break what receivers check. */
export function missingRelay(name: string): Mailer {
  const reason = `There is no relay ${name} that this mail may take. Add it (mailsvc relays add ${name}), or name another one.`;
  return {
    name: "smtp",
    transactional: false,
    concurrency: 5,
    send: async () => deferred(reason),
    check: async () => reason,
    fault: () => reason,
    close: async () => {},
  };
}
