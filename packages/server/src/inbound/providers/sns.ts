import { type KeyObject, X509Certificate } from "node:crypto";
import { ApiError } from "../../lib/api-error.ts";
import type { FetchText } from "../../lib/fetch-text.ts";
import { badSignature } from "./provider.ts";

// Few regions, and a new certificate each year.
const MAX_KEYS = 20;

/** What is asked of Amazon SNS itself. It talks to the SNS host of a topic's region and to no other one. */
export class SnsClient {
  readonly #fetchText: FetchText;
  readonly #keys = new Map<string, KeyObject>();

  constructor(fetchText: FetchText) {
    this.#fetchText = fetchText;
  }

  /** The key of a certificate that Amazon publishes. Throws ApiError invalid_signature, or not_ready if Amazon cannot be reached. */
  async getKey(topic: string, url: string): Promise<KeyObject> {
    if (!isSnsOf(topic, url) || !new URL(url).pathname.endsWith(".pem"))
      throw badSignature("The SigningCertURL does not lead to Amazon SNS in the region of the topic.");
    const known = this.#keys.get(url);
    if (known) return known;
    const key = readKey(await this.#get(url));
    if (this.#keys.size >= MAX_KEYS) this.#keys.clear();
    this.#keys.set(url, key);
    return key;
  }

  /** Confirms a subscription to a topic. Throws ApiError invalid_signature or not_ready. */
  async confirm(topic: string, url: string): Promise<void> {
    if (!isSnsOf(topic, url)) throw badSignature("The SubscribeURL does not lead to Amazon SNS in the region of the topic.");
    await this.#get(url);
  }

  async #get(url: string): Promise<string> {
    try {
      return (await this.#fetchText(url)) ?? "";
    } catch (cause) {
      throw new ApiError("not_ready", "Amazon SNS could not be reached.", { cause });
    }
  }
}

/** `arn:aws:sns:eu-west-1:123456789012:bounces` belongs to sns.eu-west-1.amazonaws.com. */
function isSnsOf(topic: string, url: string): boolean {
  const [, partition, , region] = topic.split(":");
  const host = `sns.${region}.amazonaws.com${partition === "aws-cn" ? ".cn" : ""}`;
  if (!URL.canParse(url)) return false;
  const { protocol, hostname, port, username } = new URL(url);
  return protocol === "https:" && hostname === host && port === "" && username === "";
}

/** Throws ApiError invalid_signature. */
function readKey(pem: string): KeyObject {
  try {
    return new X509Certificate(pem).publicKey;
  } catch {
    throw badSignature("The SigningCertURL leads to no certificate.");
  }
}
