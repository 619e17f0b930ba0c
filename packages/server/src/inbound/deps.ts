import type { EmailDeps } from "../emails/deps.ts";
import type { Log } from "../lib/log.ts";
import type { UnsubscribeDeps } from "../unsubscribe/deps.ts";
import type { SnsClient } from "./providers/sns.ts";
import type { ReturnPath } from "./return-path.ts";

/** What inbound mail and reports of providers need. */
export interface InboundDeps extends EmailDeps, UnsubscribeDeps {
  readonly log: Log;
  /** The addresses of emails at the inbound domain. */
  readonly returnPath: ReturnPath;
  readonly sns: SnsClient;
  readonly config: EmailDeps["config"] & {
    readonly inboundDomain: string | null;
  };
}
