import type { SmtpPort } from "@mailsvc/sdk/contract";
import type { EmailDeps } from "../emails/deps.ts";
import type { ApiError } from "../lib/api-error.ts";
import type { Clock } from "../lib/clock.ts";
import type { IpNetwork } from "../lib/ip-network.ts";
import type { Log } from "../lib/log.ts";
import type { SmtpFaults } from "../mail/smtp-fault-injection.ts";
import type { SmtpListener } from "../mail/smtp-listener.ts";
import type { MailCapture } from "../relays/deps.ts";

/** Sender of submitted mail: a key, or in dev mode a workspace. */
export interface Submitter {
  readonly workspaceId: string;
  /** True for a test key: its mail is captured instead of sent. */
  readonly test: boolean;
  /** Key in whose scope its Idempotency-Keys are unique. */
  readonly keyId: string;
  /** The hash under which the key is looked at again; null without a key. */
  readonly keyHash: string | null;
  /** Addresses and domains that the key may send from; null for all. */
  readonly senders: readonly string[] | null;
}

/** Admits those who submit mail, by the rules and limits of the API. */
export interface SubmissionAccess {
  /** Throws ApiError unauthorized, key_revoked, forbidden or rate_limited; the last one if `address` failed too often. */
  logIn(login: { readonly user: string; readonly password: string; readonly address: string }): Promise<Submitter>;
  /** Returns the submitter for an address without a login; null if a login is required. */
  anonymous(address: string): Submitter | null;
  /**
   * Looks at the key again, or whether none is needed at `address` any more, takes from its rate and checks that the storage takes mail.
   * Throws ApiError.
   */
  admit(submitter: Submitter, address: string): Promise<void>;
  /** A signal that aborts once the key is revoked; it is watched until `until` aborts. */
  watch(submitter: Submitter, until: AbortSignal): AbortSignal | null;
  /** The error that a caller of the API would get; notes what the storage refuses. */
  toApiError(error: unknown): ApiError;
}

/** Reply to a client that sent a message, or was refused before it could. */
export interface SubmissionReport {
  /** The sender of the envelope; empty for none. */
  readonly from: string;
  /** The recipients of the message; only the one that was refused, if one was. */
  readonly to: readonly string[];
  /** Bytes of the message; null where none came. */
  readonly size: number | null;
  /** The reply, such as `550 5.6.0 …`. */
  readonly reply: string;
}

export interface SubmissionDeps extends EmailDeps, MailCapture {
  readonly relays: EmailDeps["relays"] &
    MailCapture["relays"] & {
      /** True while this process knows no relay, so that no mail leaves. */
      readonly capturesAll: boolean;
    };
  readonly submissionPorts: SubmissionPorts;
  /** Lets conversations fail on purpose, in dev mode; null outside it. */
  readonly smtpFaults: SmtpFaults | null;
  /** Hears how clients were answered. */
  readonly onSubmission?: (report: SubmissionReport) => void;
  readonly clock: Clock;
  readonly log: Log;
  readonly config: EmailDeps["config"] & {
    readonly maxBodyBytes: number;
    readonly publicUrl: string | null;
    readonly inboundDomain: string | null;
    /** Networks of proxies that may name their clients with the PROXY protocol. */
    readonly proxyProtocol: readonly IpNetwork[];
  };
}

type Listener = Pick<SmtpListener, "port" | "isFull">;

/** The ports at which this process takes mail over SMTP, for those who ask whether it does. */
export class SubmissionPorts {
  readonly #open = new Map<Listener, SmtpPort["tls"]>();

  add(listener: Listener, tls: SmtpPort["tls"]): void {
    this.#open.set(listener, tls);
  }

  remove(listener: Listener): void {
    this.#open.delete(listener);
  }

  list(): SmtpPort[] {
    return [...this.#open].map(([listener, tls]) => ({ port: listener.port, tls, full: listener.isFull() }));
  }
}
