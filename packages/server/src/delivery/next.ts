import type { Held } from "./holds.ts";
import type { Postponed } from "./in-queue.ts";
import type { EmailOutcome } from "./outcome.ts";
import type { PendingMail } from "./transform.ts";

/** The end of an email's attempt: it is settled with what it leaves to be stored, or it is tried again. */
export type Ended =
  | { readonly next: "settle"; readonly effect?: EmailOutcome | Held | Postponed | undefined }
  | { readonly next: "fail"; readonly error: unknown };

/** The next step of a claimed email. */
export type Next = { readonly next: "handOver"; readonly mail: PendingMail } | Ended;
