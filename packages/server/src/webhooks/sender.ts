import type { Socket } from "node:net";
import type { buildConnector } from "undici";
import type { Deps } from "../deps.ts";
import { checkWebhookUrl } from "../lib/guard-url.ts";
import { getSigningSecrets } from "../marketplace/listings/secrets.ts";
import type { ListingRow } from "../marketplace/listings/store.ts";
import type { Attempt } from "./attempt.ts";
import { Receiver } from "./client.ts";
import { guardedConnector, type Lookup } from "./connect.ts";
import type { Message } from "./port.ts";
import { LIMIT_MS } from "./retry-policy.ts";
import { Signers } from "./signer.ts";

// Connections to all webhooks together, with those that are kept: beyond it each is closed when it has carried its request.
const MOST_OPEN = 4096;
// Listings whose opened secrets are remembered.
const REMEMBERED = 1000;

interface Opened {
  readonly current: Uint8Array;
  readonly next: Uint8Array | null;
  readonly nextAt: number | null;
  readonly signers: Signers;
  /** Until when these sign: then one of them takes over for good. */
  readonly until: number;
}

/** Signs events and puts them on their way. */
export class Postman {
  readonly #deps: Deps;
  readonly #lookup: Lookup;
  readonly #opened = new Map<string, Opened>();
  /** Ends each connection that is open or being made. */
  readonly #ends = new Set<() => void>();
  #closed = false;
  #connector: Promise<buildConnector.connector> | null = null;

  constructor(deps: Deps, lookup: Lookup) {
    this.#deps = deps;
    this.#lookup = lookup;
  }

  /** A webhook by its URL. */
  receiver(url: string): Receiver {
    const { config, clock } = this.#deps;
    return new Receiver(url, {
      clock,
      fault: checkWebhookUrl(url, config),
      connect: (where) => this.#connect(where),
      isCrowded: () => this.#ends.size > MOST_OPEN,
    });
  }

  /** One attempt. Throws SealBroken when the secret of the listing cannot be opened; never for what the receiver does. */
  send(receiver: Receiver, listing: ListingRow, message: Message): Promise<Attempt> {
    const { clock, version } = this.#deps;
    const now = clock.now();
    const signers = this.#signersOf(listing, now);
    const bytes = Buffer.from(message.body);
    const headers = `user-agent: mailsvc/${version}\r\n${signers.headersOf(message, bytes, now)}`;
    return receiver.attempt(headers, bytes, signers.secrets);
  }

  /** One attempt on a connection of its own. */
  async once(listing: ListingRow, message: Message): Promise<Attempt> {
    const receiver = this.receiver(listing.webhookUrl);
    try {
      return await this.send(receiver, listing, message);
    } finally {
      receiver.close();
    }
  }

  /** Breaks off whatever is under way, and begins nothing any more. */
  close(): void {
    this.#closed = true;
    for (const end of this.#ends) end();
  }

  #signersOf(listing: ListingRow, now: number): Signers {
    const { id, secret, nextSecret, nextSecretAt } = listing;
    const known = this.#opened.get(id);
    if (known && now < known.until && known.nextAt === nextSecretAt && same(known.current, secret) && same(known.next, nextSecret))
      return known.signers;
    const signers = new Signers(getSigningSecrets(this.#deps, listing, now));
    const until = nextSecretAt !== null && now < nextSecretAt ? nextSecretAt : Number.POSITIVE_INFINITY;
    if (this.#opened.size >= REMEMBERED) this.#opened.clear();
    this.#opened.set(id, { current: secret, next: nextSecret, nextAt: nextSecretAt, signers, until });
    return signers;
  }

  /** Opens a connection. Throws what kept it from that. */
  async #connect({ protocol, hostname, host, port }: URL): Promise<Socket> {
    const connect = await this.#connectorOf();
    return new Promise((resolve, reject) => {
      const broken = (): void => reject(new Error("The server stops."));
      if (this.#closed) return broken();
      this.#ends.add(broken);
      connect({ protocol, hostname: hostname.replace(/^\[|\]$/g, ""), host, port }, (error, socket) => {
        this.#ends.delete(broken);
        if (error) return reject(error);
        const end = (): void => void socket.destroy();
        if (this.#closed) return end();
        this.#ends.add(end);
        socket.once("close", () => this.#ends.delete(end));
        resolve(socket);
      });
    });
  }

  /** The library is loaded with the first event: a server without agents starts without it. */
  #connectorOf(): Promise<buildConnector.connector> {
    this.#connector ??= import("./undici.ts").then(({ buildConnector }) =>
      guardedConnector(buildConnector, this.#lookup, this.#deps.config, LIMIT_MS),
    );
    return this.#connector;
  }
}

function same(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a === b || (a !== null && b !== null && Buffer.compare(a, b) === 0);
}
