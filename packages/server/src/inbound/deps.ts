import type { StorageHealth } from "../http/storage-health.ts";
import type { Log } from "../lib/log.ts";
import type { ReceivedDeps } from "../received/deps.ts";
import type { UnsubscribeDeps } from "../unsubscribe/deps.ts";
import type { MailAuthenticator } from "./authentication/mail-authenticator.ts";
import type { MailParser } from "./mail-parser.ts";
import type { SnsClient } from "./providers/sns.ts";
import type { ReturnPath } from "./return-path.ts";

/** What inbound mail and reports of providers need. */
export interface InboundDeps extends ReceivedDeps, UnsubscribeDeps {
  readonly config: ReceivedDeps["config"];
  readonly log: Log;
  /** Whether there is room on the disk for more mail. */
  readonly storage: StorageHealth;
  /** The addresses of emails at the inbound domain. */
  readonly returnPath: ReturnPath;
  readonly sns: SnsClient;
  /** Reads foreign mail on its own thread. */
  readonly mailParser: MailParser;
  /** Checks on its own thread who sent a mail. */
  readonly mailAuthenticator: MailAuthenticator;
}
