import type { Provider } from "@mailsvc/sdk/contract";
import { parsePublicKey } from "./public-key.ts";

interface KeyForm {
  /** The name of the provider for people. */
  readonly name: string;
  /** Describes the key, as the end of the sentence "It takes …". */
  readonly takes: string;
  readonly isValid: (key: string) => boolean;
  /** The flag of `serve` that sets keys for all workspaces. */
  readonly flag: string;
}

/** What verifies the webhooks of each mail provider. */
export const PROVIDER_KEYS = {
  ses: {
    name: "Amazon SES",
    takes: "the ARN of an SNS topic such as arn:aws:sns:eu-west-1:123456789012:bounces",
    // Exactly a region, because the host that is asked for the certificate is made of it: sns.s3.amazonaws.com would be a bucket.
    isValid: (key) => /^arn:aws(?:-[a-z]+)*:sns:[a-z]{2}(?:-[a-z]+)+-\d{1,2}:\d{12}:[\w-]+$/.test(key),
    flag: "ses-topic",
  },
  postmark: {
    name: "Postmark",
    takes: "USER:PASSWORD with a password of at least 8 characters",
    isValid: (key) => /^[^:]+:.{8,}$/.test(key),
    flag: "postmark-webhook",
  },
  sendgrid: {
    name: "SendGrid",
    takes: "the verification key that SendGrid shows for its signed event webhook, in base64",
    isValid: (key) => parsePublicKey(key) !== null,
    flag: "sendgrid-webhook-key",
  },
  mailgun: {
    name: "Mailgun",
    takes: "the webhook signing key of Mailgun, of at least 8 characters without spaces",
    isValid: (key) => /^\S{8,}$/.test(key),
    flag: "mailgun-webhook-key",
  },
} as const satisfies Record<Provider, KeyForm>;
