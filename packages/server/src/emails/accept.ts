import { listRecipients, type NamedRecipient, parseAnyMailbox, type SendRequest } from "@mailsvc/sdk/contract";
import type { z } from "zod";
import type { Tx } from "../db/db.ts";
import { isAllowedSender } from "../keys/keys.ts";
import { ApiError } from "../lib/api-error.ts";
import { assertVerified } from "../senders/senders.ts";
import { findSuppressed } from "../suppressions/suppressions.ts";
import type { DecodedAttachments } from "./attachments.ts";
import type { EmailDeps } from "./deps.ts";
import { assertReceives } from "./reply-to.ts";
import { parseScheduledAt } from "./schedule.ts";

/** A send as the contract has read it. */
export type Request = z.output<typeof SendRequest>;

/** The workspace that sends, and how. Mail of a test key is captured instead of sent. */
export interface Origin {
  readonly workspaceId: string;
  readonly test: boolean;
  /** Accepts a send though all its recipients are suppressed; its delivery then ends as `suppressed`. */
  readonly acceptsSuppressed?: boolean | undefined;
  /** The keys of recipients who opted out of what the mail is about. They get nothing, and the mail is accepted although all of them did. */
  readonly optedOut?: ReadonlySet<string> | undefined;
  /** Accepts a sender that is not verified: all mail is captured. */
  readonly anySender?: boolean | undefined;
  /** Addresses and domains that its key may send from; null for all. */
  readonly senders?: readonly string[] | null | undefined;
}

/** Subject and bodies of a message. */
export interface MessageContent {
  readonly subject: string;
  readonly html?: string | null | undefined;
  readonly text?: string | null | undefined;
}

/** A version of a template that was rendered: its messages by the key of their recipient. */
interface RenderedTemplate {
  readonly slug: string;
  readonly version: number;
  readonly messages: ReadonlyMap<string, MessageContent>;
}

/** A message that goes out as it came in: it is the only file of its send. */
interface AsIs {
  /** The Message-ID it has of its own. */
  readonly messageId: string | null;
  /** The mailbox of its Sender header, which must be verified as From must. */
  readonly sender: string | null;
}

/** A send: its request, files and origin. */
export interface NewSend extends Origin {
  readonly request: Request;
  readonly files: DecodedAttachments;
  readonly template?: RenderedTemplate;
  readonly asIs?: AsIs;
  /** The number of further recipients of a submitted message that were refused one by one. */
  readonly refused?: number;
  /**
   * The keys of recipients who may be written to although they unsubscribed; without it, the request's `bypassUnsubscribe` holds for all.
   */
  readonly bypassFor?: ReadonlySet<string>;
}

/** A send that was checked, and what its rows have in common. */
export interface AcceptedSend extends NewSend {
  /** All recipients, each once. */
  readonly recipients: readonly NamedRecipient[];
  /** The keys of those that get nothing; all of them only if they opted out. */
  readonly suppressed: ReadonlySet<string>;
  readonly now: number;
  readonly scheduledAt: number | null;
}

/** Error shown for a recipient who gets nothing. */
export const SUPPRESSED = "This recipient is on the suppression list.";

/**
 * Checks what only the database knows of a send: its sender, and who may not get mail. Throws ApiError forbidden, sender_not_verified,
 * recipient_suppressed or validation_error.
 */
export async function acceptSend(tx: Tx, deps: EmailDeps, send: NewSend): Promise<AcceptedSend> {
  const { request, workspaceId, asIs, anySender, bypassFor } = send;
  const now = deps.clock.now();
  const scheduledAt = parseScheduledAt(request.scheduledAt, now);
  for (const sender of asIs?.sender ? [request.from, asIs.sender] : [request.from]) {
    if (send.senders) assertAllowed(send.senders, sender);
    if (!anySender) await assertVerified(tx, deps, workspaceId, parseAnyMailbox(sender));
  }
  assertReceives(deps, request.replyTo);
  const recipients = listRecipients(request);
  const keys = recipients.map(({ box }) => box.key);
  const suppressed = new Set(await findSuppressed(tx, workspaceId, keys, request));
  const others = bypassFor === undefined ? [] : keys.filter((key) => !bypassFor.has(key));
  if (others.length > 0) for (const key of await findSuppressed(tx, workspaceId, others)) suppressed.add(key);
  const optedOut = keys.filter((key) => send.optedOut?.has(key));
  for (const key of optedOut) suppressed.add(key);
  if (recipients.every(({ box }) => suppressed.has(box.key))) {
    if (!send.acceptsSuppressed) throw refuseAll(recipients);
    suppressed.clear();
    for (const key of optedOut) suppressed.add(key);
  }
  return { ...send, recipients, suppressed, now, scheduledAt };
}

/** Throws ApiError forbidden for a sender that a key is not for. */
function assertAllowed(senders: readonly string[], sender: string): void {
  if (isAllowedSender(senders, sender)) return;
  throw new ApiError("forbidden", `This API key cannot send from ${parseAnyMailbox(sender).address}.`, {
    details: [{ path: "from", code: "sender_not_allowed", message: `The key is for ${senders.slice(0, 5).join(", ")}.` }],
    hint: "Send from an address that the key is for, or use another key.",
  });
}

function refuseAll(refused: readonly NamedRecipient[]): ApiError {
  const message = refused.length === 1 && refused[0]?.path === "to" ? SUPPRESSED : "Every recipient is on the suppression list.";
  const details = refused.map(({ path, box }) => ({ path, code: "recipient_suppressed", message: `${box.address}: ${SUPPRESSED}` }));
  return new ApiError("recipient_suppressed", message, { details });
}
