import { isForbiddenAddress } from "../lib/guard-url.ts";

// Messages that are looked back on.
const RECENT = 100;

/** Origins of the last mails over SMTP. If none came from the Internet, a gateway has put its address in place of each peer's. */
export class InboundPeers {
  readonly #arePrivate: boolean[] = [];

  /** Counts a mail by the address of its peer. */
  count(address: string): void {
    this.#arePrivate.push(isForbiddenAddress(address, { dev: false }));
    if (this.#arePrivate.length > RECENT) this.#arePrivate.shift();
  }

  /** Numbers of mails from public and from private addresses, among the last hundred. */
  get counts(): { readonly public: number; readonly private: number } {
    const ofNetwork = this.#arePrivate.filter(Boolean).length;
    return { public: this.#arePrivate.length - ofNetwork, private: ofNetwork };
  }
}
