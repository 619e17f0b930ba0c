import type { Relay, RelayCheck } from "@mailsvc/sdk/contract";
import type { Reader } from "../db/db.ts";
import type { DkimKey } from "../mail/dkim.ts";

export interface RelayNames {
  readonly relays: {
    /** A relay that this process knows; null if it does not. */
    find(
      name: string,
    ): { readonly source: Relay["source"]; readonly settings: { readonly workspaceId?: string | null | undefined } } | null;
  };
}

export interface RelayChecks {
  readonly relays: {
    /** Connects to the relays that mail of a workspace may take, and logs in. */
    check(read: Reader, workspaceId: string): Promise<RelayCheck[]>;
  };
}

/** The relay of a sender. */
export interface SenderRelay {
  readonly name: string;
  readonly host: string;
  /** The keys that its mail is signed with. */
  readonly dkim: readonly DkimKey[];
}

/** Tells if mail leaves the server. */
export interface MailCapture {
  readonly relays: {
    /** True if no mail leaves: there is no relay, and no other process has added one. */
    capturesMail(read: Reader): Promise<boolean>;
  };
}

/** Finds the relay of a sender. */
export interface SenderRelays {
  readonly relays: {
    /** The relay that mail of a workspace from an address takes first, if no campaign names one; null if it is captured. */
    findRelayOf(read: Reader, workspaceId: string, from: string): Promise<SenderRelay | null>;
  };
}
