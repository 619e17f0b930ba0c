import { type KeyObject, X509Certificate } from "node:crypto";
import { ApiError } from "../../lib/api-error.ts";
import type { Clock } from "../../lib/clock.ts";
import type { FetchText } from "../../lib/fetch-text.ts";
import { growingCache } from "../../lib/growing-cache.ts";
import { perMinute, TokenBuckets } from "../../lib/rate.ts";
import { badSignature } from "./provider.ts";

// Few regions, and a new certificate each year.
const MAX_KEYS = 20;

// Certificates that may be asked for: a message that names another one can be forged, and each would cost a request to Amazon.
const FETCHES = perMinute(20);

// Path of Amazon's certificates.
const CERTIFICATE_PATH = /^\/SimpleNotificationService-[0-9a-z]{1,64}\.pem$/;

/** Client of Amazon SNS. It talks to the SNS host of a topic's region and to no other one. */
export class SnsClient {
  readonly #fetchText: FetchText;
  readonly #fetches: TokenBuckets;
  readonly #keys = growingCache<string, KeyObject>(MAX_KEYS);
  /** Certificates that are being fetched. */
  readonly #pending = new Map<string, Promise<KeyObject>>();

  constructor(fetchText: FetchText, clock: Clock) {
    this.#fetchText = fetchText;
    this.#fetches = new TokenBuckets(() => clock.real.now());
  }

  /**
   * The key of a certificate that Amazon publishes. Throws ApiError invalid_signature, or not_ready if Amazon cannot be reached or
   * too many certificates were asked for: Amazon repeats its message.
   */
  async getKey(topic: string, url: string): Promise<KeyObject> {
    if (!isSnsOf(topic, url) || !isCertificate(new URL(url)))
      throw badSignature("The SigningCertURL does not lead to Amazon SNS in the region of the topic.");
    const known = this.#keys.get(url);
    if (known) return known;
    const pending = this.#pending.get(url) ?? this.#fetchKey(url).finally(() => this.#pending.delete(url));
    this.#pending.set(url, pending);
    return pending;
  }

  async #fetchKey(url: string): Promise<KeyObject> {
    if (!this.#fetches.take("certificates", FETCHES).allowed)
      throw new ApiError("not_ready", "Too many different certificates of Amazon SNS were named. Send this again.");
    const key = readKey(await this.#get(url));
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

/** Without a query: each other one would be a new address of the same certificate, fetched and kept again. */
function isCertificate({ pathname, search, hash }: URL): boolean {
  return CERTIFICATE_PATH.test(pathname) && search === "" && hash === "";
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
