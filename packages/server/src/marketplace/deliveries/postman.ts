import type { Client } from "undici";
import type { Deps } from "../../deps.ts";
import { checkWebhookUrl } from "../../lib/guard-url.ts";
import type { ListingRow } from "../listings/store.ts";
import { signingSecrets } from "../listings/webhook.ts";
import type { Attempt } from "./attempt.ts";
import { guardedConnector, type Lookup } from "./connect.ts";
import type { Message } from "./port.ts";
import { LIMIT_MS, Receiver } from "./receiver.ts";
import { Signers } from "./sign.ts";

// Headers of an answer: more is no answer to an event.
const HEADER_BYTES = 16 * 1024;
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

const same = (a: Uint8Array | null, b: Uint8Array | null): boolean => a === b || (a !== null && b !== null && Buffer.compare(a, b) === 0);

/** Signs events and puts them on their way. */
export class Postman {
  readonly #deps: Deps;
  readonly #lookup: Lookup;
  readonly #opened = new Map<string, Opened>();
  readonly #clients = new Set<Client>();
  #closed = false;
  #connecting: Promise<(origin: string) => Client> | null = null;

  constructor(deps: Deps, lookup: Lookup) {
    this.#deps = deps;
    this.#lookup = lookup;
  }

  /** A webhook by its URL. */
  receiver(url: string): Receiver {
    const { config, clock } = this.#deps;
    return new Receiver(url, { clock, fault: checkWebhookUrl(url, config), connect: async (origin) => (await this.#connector())(origin) });
  }

  /** One attempt. Throws SealBroken when the secret of the listing cannot be opened; never for what the receiver does. */
  send(receiver: Receiver, listing: ListingRow, message: Message): Promise<Attempt> {
    const { clock, version } = this.#deps;
    const now = clock.now();
    const signers = this.#signersOf(listing, now);
    const bytes = Buffer.from(message.body);
    const headers = signers.headersOf(message, bytes, now);
    headers.push("user-agent", `mailsvc/${version}`);
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
    for (const client of this.#clients) void client.destroy();
    this.#clients.clear();
  }

  #signersOf(listing: ListingRow, now: number): Signers {
    const { id, secret, nextSecret, nextSecretAt } = listing;
    const known = this.#opened.get(id);
    if (known && now < known.until && known.nextAt === nextSecretAt && same(known.current, secret) && same(known.next, nextSecret))
      return known.signers;
    const signers = new Signers(signingSecrets(this.#deps, listing, now));
    const until = nextSecretAt !== null && now < nextSecretAt ? nextSecretAt : Number.POSITIVE_INFINITY;
    if (this.#opened.size >= REMEMBERED) this.#opened.clear();
    this.#opened.set(id, { current: secret, next: nextSecret, nextAt: nextSecretAt, signers, until });
    return signers;
  }

  /** The library is loaded with the first event: a server without agents starts without it. */
  #connector(): Promise<(origin: string) => Client> {
    this.#connecting ??= (async () => {
      const { buildConnector, Client } = await import("./client.ts");
      const connect = guardedConnector(buildConnector, this.#lookup, this.#deps.config, LIMIT_MS);
      return (origin: string): Client => {
        if (this.#closed) throw new Error("The server stops.");
        const client = new Client(origin, { connect, pipelining: 1, maxHeaderSize: HEADER_BYTES, allowH2: false });
        this.#clients.add(client);
        client.once("disconnect", () => client.destroyed && this.#clients.delete(client));
        return client;
      };
    })();
    return this.#connecting;
  }
}
