import type { Clock } from "../lib/clock.ts";
import { type DkimKey, dkimSigner } from "./dkim.ts";
import type { Mailer } from "./mailer.ts";
import { composeMime } from "./mime.ts";
import { SmtpPool } from "./smtp-pool.ts";
import { parseSmtpUrl, type SmtpTarget } from "./smtp-url.ts";

interface SmtpMailerOptions {
  /** The next hop and its options; a text as parseSmtpUrl takes it. */
  url: string | SmtpTarget;
  /** DKIM keys. */
  dkim?: readonly DkimKey[];
  /** Real time, because the network does not wait for a frozen clock. */
  time: Clock["real"];
}

/** Delivers mail to the next hop over SMTP. Throws SmtpUrlError or TypeError if the options are invalid. */
export function smtpMailer({ url, dkim, time }: SmtpMailerOptions): Mailer {
  const pool = new SmtpPool(typeof url === "string" ? parseSmtpUrl(url) : url, time);
  const signer = dkim === undefined ? undefined : dkimSigner(dkim);
  return {
    name: "smtp",
    transactional: false,
    concurrency: pool.maxConnections,
    send: async (mail) => {
      const { envelopeFrom: from, envelopeTo: to, isStillWanted } = mail;
      return pool.send({ from, to, isStillWanted, needsUtf8: mail.message === undefined }, await composeMime(mail, signer));
    },
    check: () => pool.check(),
    fault: () => null,
    close: (graceMs) => pool.close(graceMs),
  };
}
