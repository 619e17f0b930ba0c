import type { Provider } from "@mailsvc/sdk/contract";
import { parsePublicKey } from "../../lib/public-key.ts";
import type { ReadWebhook } from "./provider.ts";

interface MailProvider {
  /** Describes the key, as the end of the sentence "The key of Postmark is …". */
  readonly takes: string;
  isValidKey(key: string): boolean;
  /** Loaded with the first webhook: most servers hear from one provider or none. */
  readonly read: ReadWebhook;
}

/** The form of the keys of each mail provider, and the function that reads its webhooks. */
export const MAIL_PROVIDERS: Readonly<Record<Provider, MailProvider>> = {
  ses: {
    takes: "the ARN of an SNS topic such as arn:aws:sns:eu-west-1:123456789012:bounces",
    // Exactly a region, because the host that is asked for the certificate is made of it: sns.s3.amazonaws.com would be a bucket.
    isValidKey: (key) => /^arn:aws(?:-[a-z]+)*:sns:[a-z]{2}(?:-[a-z]+)+-\d{1,2}:\d{12}:[\w-]+$/.test(key),
    read: async (...webhook) => (await import("./ses.ts")).readSes(...webhook),
  },
  postmark: {
    takes: "USER:PASSWORD with a password of at least 8 characters",
    isValidKey: (key) => /^[^:]+:.{8,}$/.test(key),
    read: async (...webhook) => (await import("./postmark.ts")).readPostmark(...webhook),
  },
  sendgrid: {
    takes: "the verification key that SendGrid shows for its signed event webhook, in base64",
    isValidKey: (key) => parsePublicKey(key) !== null,
    read: async (...webhook) => (await import("./sendgrid.ts")).readSendgrid(...webhook),
  },
  mailgun: {
    takes: "the webhook signing key of Mailgun, of at least 8 characters without spaces",
    isValidKey: (key) => /^\S{8,}$/.test(key),
    read: async (...webhook) => (await import("./mailgun.ts")).readMailgun(...webhook),
  },
};
