import type { ContactDeps } from "../contacts/deps.ts";
import type { Seal } from "../lib/seal.ts";

/** Dependencies of unsubscribe links. */
export interface LinkDeps {
  readonly seal: Seal;
  /** The public address of this server, without a trailing slash. Known once it listens. */
  baseUrl(): string;
}

/** Dependencies of unsubscribing. */
export interface UnsubscribeDeps extends ContactDeps, LinkDeps {
  readonly returnPath: { unsubscribeAddress(emailId: string): string | undefined };
}
