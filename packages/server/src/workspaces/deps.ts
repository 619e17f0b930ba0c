import type { Reader } from "../db/db.ts";
import type { KeyDeps } from "../keys/keys.ts";
import type { Mailer } from "../mail/mailer.ts";
import type { Queue } from "../queue/queue.ts";
import type { MailCapture, RelayChecks, RelayNames } from "../relays/deps.ts";
import type { TrackingDeps } from "../tracking/deps.ts";

export interface WorkspaceDeps extends KeyDeps {
  readonly config: KeyDeps["config"] & {
    /** The domain of reply addresses; null if this server receives no mail. */
    readonly replyDomain: string | null;
  };
  readonly relays: RelayNames["relays"] & RelayChecks["relays"] & MailCapture["relays"];
  /** Keeps targets of tracked links in memory. */
  readonly tracker: TrackingDeps["tracker"];
  readonly mailer: Mailer;
  readonly queue: Queue;
  readonly version: string;
  readonly showsMarketplace: ShowsMarketplace;
}

/** Tells if agents are offered on this server, so that what is about them is shown. */
export type ShowsMarketplace = (read: Reader) => Promise<boolean>;
