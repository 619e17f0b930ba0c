import type { Tx } from "../db/db.ts";
import type { EmailDeps } from "../emails/deps.ts";
import type { ContentsRow, EmailRow } from "../emails/emails.ts";
import type { DomainRecords } from "../lib/domain-records.ts";
import type { ReceivedRow } from "./store.ts";

/** An answer to an email of a workspace, by a person. */
export interface Reply {
  readonly mail: ReceivedRow;
  readonly email: EmailRow;
  readonly contents: ContentsRow;
}

/** What other features do with received mail, in the same transaction. `features.ts` connects it. */
interface ReceivedHooks {
  /** A person answered an email. */
  replied(tx: Tx, reply: Reply): Promise<void>;
}

/** What received mail needs. */
export interface ReceivedDeps extends EmailDeps {
  readonly dns: Pick<DomainRecords, "txt" | "mx" | "addresses">;
  readonly receivedHooks: ReceivedHooks;
  readonly config: EmailDeps["config"] & {
    readonly inboundDomain: string | null;
  };
}
