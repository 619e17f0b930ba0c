import type { StorageHealth } from "../http/storage-health.ts";
import type { IpNetwork } from "../lib/ip-network.ts";
import type { Log } from "../lib/log.ts";
import type { ReceivedDeps } from "../received/received.ts";
import type { UnsubscribeDeps } from "../unsubscribe/unsubscribe.ts";
import type { MailAuthenticator } from "./authentication/mail-authenticator.ts";
import type { MailParser } from "./mail-parser.ts";
import type { SnsClient } from "./providers/sns.ts";
import type { ReturnPath } from "./return-path.ts";
import type { InboundPeers } from "./smtp-server.ts";

export interface InboundDeps extends ReceivedDeps, UnsubscribeDeps {
  readonly config: ReceivedDeps["config"] & {
    /** Servers whose mail is believed, because they pass on that of others. */
    readonly inboundTrust: { readonly networks: readonly IpNetwork[]; readonly isGiven: boolean };
    /** Proxies that name the client with the PROXY protocol. */
    readonly proxyProtocol: readonly IpNetwork[];
  };
  /** Origins of recent mail. */
  readonly inboundPeers: InboundPeers;
  readonly log: Log;
  /** Tells if there is room on the disk for more mail. */
  readonly storage: StorageHealth;
  /** The addresses of emails at the inbound domain. */
  readonly returnPath: ReturnPath;
  readonly sns: SnsClient;
  /** Reads foreign mail on its own thread. */
  readonly mailParser: MailParser;
  /** Checks on its own thread who sent a mail. */
  readonly mailAuthenticator: MailAuthenticator;
}
