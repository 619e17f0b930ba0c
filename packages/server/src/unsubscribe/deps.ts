import type { ContactDeps } from "../contacts/deps.ts";
import type { Seal } from "../lib/seal.ts";

/** What links to unsubscribe need. */
export interface LinkDeps {
  readonly seal: Seal;
  /** The public address of this server, without a trailing slash. Known once it listens. */
  baseUrl(): string;
}

/** What unsubscribing needs. */
export interface UnsubscribeDeps extends ContactDeps, LinkDeps {
  readonly returnPath: { unsubscribeAddress(emailId: string): string | undefined };
}
