import { createHmac, createSecretKey, type KeyObject } from "node:crypto";
import { iso } from "../lib/clock.ts";
import { growingCache } from "../lib/growing-cache.ts";
import { checkWebhookUrl } from "../lib/guard-url.ts";
import { ATTEMPT_TIMEOUT_MS, type Attempt } from "./attempt.ts";
import { EndpointClient } from "./client.ts";
import { guardedConnector, type Lookup } from "./connect.ts";
import { Connection } from "./connection.ts";
import type { Endpoint, Message } from "./endpoint.ts";
import { getSigningSecrets, type SigningSecrets } from "./secrets.ts";
import type { WebhookDeps } from "./webhooks.ts";

// Open connections to all endpoints, with idle ones: beyond it each is closed when it has carried its request.
const MAX_CONNECTIONS = 4096;
// Endpoints whose opened secrets are cached.
const MAX_SIGNERS = 1000;

interface CachedSigner {
  readonly secret: Uint8Array;
  readonly nextSecret: Uint8Array | null;
  readonly nextSecretAt: number | null;
  readonly signer: Signer;
  /** End of the time in which these secrets sign: then one of them replaces the other. */
  readonly until: number;
}

type OpenConnection = (origin: string, closed: (connection: Connection) => void) => Connection;

/** Signs messages and sends them to endpoints. */
export class WebhookSender {
  readonly #deps: WebhookDeps;
  readonly #lookup: Lookup;
  readonly #signers = growingCache<string, CachedSigner>(MAX_SIGNERS);
  readonly #connections = new Set<Connection>();
  #closed = false;
  #opener: Promise<OpenConnection> | null = null;

  constructor(deps: WebhookDeps, lookup: Lookup) {
    this.#deps = deps;
    this.#lookup = lookup;
  }

  createClient(url: string): EndpointClient {
    const { clock } = this.#deps;
    return new EndpointClient(url, {
      clock,
      fault: checkWebhookUrl(url, this.#deps.webhookGuard),
      open: async (origin, closed) => (await this.#getOpener())(origin, closed),
      isCrowded: () => this.#connections.size > MAX_CONNECTIONS,
    });
  }

  /** Loads the HTTP client: 60 ms of the processor, which the first event would wait for. */
  prepare(): void {
    // If loading fails, the first delivery reports the error.
    this.#getOpener().catch(() => {});
  }

  /** One attempt. Throws SealBroken when the secret of the endpoint cannot be opened; never for what the receiver does. */
  send(client: EndpointClient, endpoint: Endpoint, message: Message): Promise<Attempt> {
    const { clock, version, tracing } = this.#deps;
    const now = clock.now();
    const signer = this.#getSigner(endpoint, now);
    const bytes = Buffer.from(message.body);
    // Receivers compare it with their own clocks, so it is the machine's time, wherever a developer has moved the product's.
    const headers = signer.headers(message, bytes, clock.real.date());
    if (endpoint.svix) headers.push(...toSvixHeaders(headers));
    headers.push("user-agent", `mailsvc/${version}`);
    if (!tracing) return client.attempt(headers, bytes, signer.secrets);
    const attributes = {
      "http.request.method": "POST",
      "server.address": new URL(endpoint.url).hostname,
      "mailsvc.event.id": message.id,
      "mailsvc.event.type": message.type,
      "mailsvc.attempt": message.attempt,
    };
    return tracing.span({ name: "POST webhook", kind: "client", parent: message.traceparent, attributes }, async (span) => {
      headers.push("traceparent", span.traceparent);
      const attempt = await client.attempt(headers, bytes, signer.secrets);
      if (attempt.httpStatus !== null) span.set({ "http.response.status_code": attempt.httpStatus });
      if (attempt.class !== "ok") span.fail(attempt.class);
      return attempt;
    });
  }

  /** One attempt on its own connection. */
  async sendOnce(endpoint: Endpoint, message: Message): Promise<Attempt> {
    const client = this.createClient(endpoint.url);
    try {
      return await this.send(client, endpoint, message);
    } finally {
      client.close();
    }
  }

  /** Aborts requests in flight, and opens no connection any more. */
  close(): void {
    this.#closed = true;
    for (const connection of this.#connections) connection.close();
  }

  #getSigner(endpoint: Endpoint, now: number): Signer {
    const { id, secret, nextSecret, nextSecretAt } = endpoint;
    const cached = this.#signers.get(id);
    if (
      cached &&
      now < cached.until &&
      cached.nextSecretAt === nextSecretAt &&
      isSame(cached.secret, secret) &&
      isSame(cached.nextSecret, nextSecret)
    )
      return cached.signer;
    const signer = new Signer(getSigningSecrets(this.#deps, endpoint, now));
    const until = nextSecretAt !== null && now < nextSecretAt ? nextSecretAt : Number.POSITIVE_INFINITY;
    this.#signers.set(id, { secret, nextSecret, nextSecretAt, signer, until });
    return signer;
  }

  #getOpener(): Promise<OpenConnection> {
    this.#opener ??= import("./undici.ts").then(({ buildConnector, Client }) => {
      const connect = guardedConnector(buildConnector, this.#lookup, this.#deps.webhookGuard, ATTEMPT_TIMEOUT_MS);
      return (origin, closed) => {
        if (this.#closed) throw new Error("The server is stopping.");
        const connection = new Connection(origin, {
          Client,
          connect,
          closed: () => {
            this.#connections.delete(connection);
            closed(connection);
          },
        });
        this.#connections.add(connection);
        return connection;
      };
    });
    return this.#opener;
  }
}

function isSame(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a === b || (a !== null && b !== null && Buffer.compare(a, b) === 0);
}

const PREFIX = "whsec_";

interface Keys {
  /** The key is the text of the secret, `whsec_` and all. */
  readonly spec: KeyObject;
  /** Standard Webhooks: the key is the bytes that the base64 after the prefix decodes to. */
  readonly standard: KeyObject;
}

/** Signs messages with the secrets of an endpoint. */
export class Signer {
  /** The secrets themselves, to be redacted in what is stored. */
  readonly secrets: readonly string[];
  readonly #current: Keys;
  readonly #next: Keys | null;

  constructor({ current, next }: SigningSecrets) {
    this.secrets = next === null ? [current] : [current, next];
    this.#current = makeKeys(current);
    this.#next = next === null ? null : makeKeys(next);
  }

  /**
   * The headers of an attempt that is sent at `sentAt` (real time, ms), names and values in turns: the signature of
   * docs/agents-webhooks.md#signatures, and the three headers of Standard Webhooks. X-Service-Timestamp is the event's time, the same on
   * every attempt; webhook-timestamp is the attempt's.
   *
   * During a rotation webhook-signature holds a signature with each secret. X-Service-Signature holds one: that of the old secret, so
   * that a receiver that was not changed goes on, and X-Service-Signature-Next that of the new one.
   */
  headers({ id, type, at, attempt }: Message, bytes: Uint8Array, sentAt: number): string[] {
    const seconds = String(Math.floor(sentAt / 1000));
    const prefix = `${id}.${seconds}.`;
    const sign = ({ standard }: Keys): string => `v1,${createHmac("sha256", standard).update(prefix).update(bytes).digest("base64")}`;
    const hex = ({ spec }: Keys): string => createHmac("sha256", spec).update(bytes).digest("hex");
    const standard = this.#next === null ? sign(this.#current) : `${sign(this.#current)} ${sign(this.#next)}`;
    // biome-ignore format: a name and its value per line
    const headers = [
      "content-type", "application/json",
      "accept-encoding", "identity",
      "x-service-signature", hex(this.#current),
      "x-service-event-id", id,
      "x-service-event-type", type,
      "x-service-timestamp", iso(at),
      "x-service-attempt", String(attempt),
      "webhook-id", id,
      "webhook-timestamp", seconds,
      "webhook-signature", standard,
    ];
    if (this.#next !== null) headers.push("x-service-signature-next", hex(this.#next));
    return headers;
  }
}

/** The headers of Standard Webhooks among these, names and values in turns, under the names that Svix gives them. */
function toSvixHeaders(headers: readonly string[]): string[] {
  return headers.flatMap((name, i) =>
    i % 2 === 0 && name.startsWith("webhook-") ? [name.replace("webhook-", "svix-"), headers[i + 1] ?? ""] : [],
  );
}

function makeKeys(secret: string): Keys {
  return {
    spec: createSecretKey(secret, "utf8"),
    standard: createSecretKey(secret.slice(PREFIX.length), "base64"),
  };
}
