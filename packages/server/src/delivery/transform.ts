import type { SkipReason } from "@mailsvc/sdk/contract";
import type { Db, Reader } from "../db/db.ts";
import type { ContentsRow, EmailRow } from "../emails/emails.ts";
import { waitForTurn } from "../lib/turn.ts";
import type { Choice } from "./mailers.ts";

// More emails than this are transformed in several turns of the event loop, one for each transform.
const EMAILS_PER_TURN = 16;

/**
 * Decision not to hand over a mail of a campaign or an automation: the email is put back until it is scheduled again (`hold`), or ends
 * for good. One that a crash left in `sending` stays in doubt.
 */
export type Withdrawal = { readonly to: "hold" | "cancelled" } | { readonly to: "skipped"; readonly reason: SkipReason };

/** An email about to be handed over. Transforms may change what is sent; every attempt must give the same bytes. */
export interface PendingMail {
  readonly email: EmailRow;
  readonly contents: ContentsRow;
  /** Number of this attempt, from 1. */
  readonly attempt: number;
  /** The mailer that takes it; null before it is chosen. */
  choice: Choice | null;
  /** `local@domain`, for MAIL FROM. */
  envelopeFrom: string;
  /** The Message-ID header with its angle brackets. */
  messageId: string;
  /** The Reply-To header: a mailbox, or null for none. */
  replyTo: string | readonly string[] | null;
  /** True if its workspace receives the replies to mail without a Reply-To of its own; it is looked up where this is absent. */
  readonly receivesReplies?: boolean | undefined;
  subject: string;
  html: string | null;
  text: string | null;
  headers: Readonly<Record<string, string>>;
  /** The language of what the service adds; absent or null for that of the brand. */
  language?: string | null;
  /** Set it to fail this email alone: it is not handed over and becomes `failed` with this reason. */
  failure: string | null;
  /** Set it to keep this email from being handed over, without a failure. */
  withdrawal: Withdrawal | null;
}

/**
 * Changes a batch of emails before they are handed over: renders per recipient, rewrites links, adds headers. Reads its data for all of
 * them at once. If it throws, it is called again for each email alone.
 */
export type MailTransform = (read: Reader, mails: readonly PendingMail[]) => Promise<void>;

interface TransformDeps {
  readonly db: Db;
  readonly mailTransforms: readonly MailTransform[];
}

/** A transformed email, or why it could not be made. */
export type Transformed = { readonly mail: PendingMail } | { readonly error: unknown };

/** Applies all transforms to copies of emails. An email for which one of them throws gets the error, and no other email does. */
export async function transformMails(deps: TransformDeps, mails: readonly PendingMail[]): Promise<Transformed[]> {
  try {
    return (await applyTransforms(deps, mails)).map((mail) => ({ mail }));
  } catch {
    const all: Transformed[] = [];
    for (const mail of mails) all.push(await transformAlone(deps, mail));
    return all;
  }
}

async function transformAlone(deps: TransformDeps, mail: PendingMail): Promise<Transformed> {
  try {
    const [transformed = mail] = await applyTransforms(deps, [mail]);
    return { mail: transformed };
  } catch (error) {
    return { error };
  }
}

async function applyTransforms(deps: TransformDeps, mails: readonly PendingMail[]): Promise<PendingMail[]> {
  const copies = mails.map((mail) => ({ ...mail }));
  for (const transform of deps.mailTransforms) {
    if (copies.length > EMAILS_PER_TURN) await waitForTurn();
    await transform(deps.db.read, copies);
  }
  return copies;
}
