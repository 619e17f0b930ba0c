import { createHmac, createSign, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { selfSigned } from "./certificates.ts";

/** Keys of mail providers for tests, and webhooks signed with them. */
export const TOPIC = "arn:aws:sns:eu-west-1:123456789012:bounces";
export const CERTIFICATE_URL = "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem";
export const POSTMARK_KEY = "hook:correct-horse";
export const MAILGUN_KEY = "mailgun-key";
const amazon = selfSigned(["sns.amazonaws.com"]);
const sendgridKeys = makeSendgridKeys();
export const SENDGRID_KEY = sendgridKeys.publicKey;

let messages = 0;

/** A key pair as SendGrid makes them: the private key, and the public one in base64. */
export function makeSendgridKeys(): { privateKey: KeyObject; publicKey: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  return { privateKey, publicKey: publicKey.export({ format: "der", type: "spki" }).toString("base64") };
}

/** A fake of Amazon's server, which has only its certificate, whatever query follows its path. Records the URLs of requests. */
export function standInForAmazon() {
  const fetched: string[] = [];
  const fetchText = async (url: string): Promise<string> => {
    fetched.push(url);
    return url.split("?")[0] === CERTIFICATE_URL ? amazon.cert : "";
  };
  return { fetched, fetchText };
}

/** A message of SNS, signed by the stand-in for Amazon. */
export function signSns(message: unknown, more: Record<string, string> = {}, version = "2"): string {
  const fields: Record<string, string> = {
    Type: "Notification",
    MessageId: `m-${(messages += 1)}`,
    TopicArn: TOPIC,
    Message: typeof message === "string" ? message : JSON.stringify(message),
    Timestamp: "2026-01-01T00:00:00.000Z",
    ...more,
  };
  const names =
    fields["Type"] === "Notification"
      ? ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"]
      : ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"];
  const text = names.flatMap((name) => (fields[name] === undefined ? [] : [`${name}\n${fields[name]}\n`])).join("");
  const Signature = createSign(version === "1" ? "RSA-SHA1" : "RSA-SHA256")
    .update(text)
    .sign(amazon.key, "base64");
  return JSON.stringify({ SigningCertURL: CERTIFICATE_URL, SignatureVersion: version, Signature, ...fields });
}

/** The header by which Postmark authenticates. */
export function authorizePostmark(key = POSTMARK_KEY): Record<string, string> {
  return { authorization: `Basic ${Buffer.from(key).toString("base64")}` };
}

/** The headers of SendGrid's signature of a body. */
export function signSendgrid(body: string, key = sendgridKeys.privateKey): Record<string, string> {
  return {
    "x-twilio-email-event-webhook-timestamp": "1767225600",
    "x-twilio-email-event-webhook-signature": sign("sha256", Buffer.from(`1767225600${body}`), key).toString("base64"),
  };
}

/** A webhook of Mailgun, signed at `timestamp`, in seconds. */
export function signMailgun(event: object, timestamp: number, key = MAILGUN_KEY, token = randomBytes(25).toString("hex")): string {
  const signature = createHmac("sha256", key).update(`${timestamp}${token}`).digest("hex");
  return JSON.stringify({ signature: { timestamp: String(timestamp), token, signature }, "event-data": event });
}
