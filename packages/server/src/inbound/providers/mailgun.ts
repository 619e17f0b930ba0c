import { createHmac, hash } from "node:crypto";
import { and, like, lt } from "drizzle-orm";
import * as z from "zod";
import { HOUR } from "../../lib/units.ts";
import { isMailboxGone } from "../../mail/reply-judge.ts";
import type { InboundDeps } from "../deps.ts";
import { dayOf } from "../known-reports.ts";
import type { ReportOutcome } from "../report.ts";
import { badSignature, isSame, parseBody, type ReadWebhook, toEmailId, toError } from "./provider.ts";

const MailgunWebhook = z.object({
  signature: z.object({ timestamp: z.union([z.string(), z.number()]).transform(String), token: z.string(), signature: z.string() }),
  "event-data": z.object({
    event: z.string(),
    id: z.string().optional(),
    severity: z.string().optional(),
    reason: z.string().optional(),
    recipient: z.string().optional(),
    message: z.object({ headers: z.object({ "message-id": z.string().optional() }).optional() }).optional(),
    "delivery-status": z
      .object({
        code: z.union([z.number(), z.string()]).nullish(),
        message: z.string().nullish(),
        description: z.string().nullish(),
        "enhanced-code": z.string().nullish(),
      })
      .optional(),
  }),
});
type MailgunEvent = z.infer<typeof MailgunWebhook>["event-data"];

// Mailgun repeats a webhook for eight hours, with the signature of the first attempt.
const MAX_AGE_MS = 24 * HOUR;
const MAX_AHEAD_MS = HOUR / 4;

/**
 * Reads webhooks of Mailgun, by the HMAC of their timestamp and token, within a day. The HMAC does not cover the event, so a token is
 * accepted with one event only.
 */
export const readMailgun: ReadWebhook = async (deps, { bytes }, key) => {
  const { signature: given, "event-data": event } = parseBody(MailgunWebhook, bytes);
  const signature = createHmac("sha256", key).update(`${given.timestamp}${given.token}`).digest("hex");
  if (!isSame(given.signature, signature)) throw badSignature("The signature of this webhook is wrong.");
  const at = Number(given.timestamp) * 1000;
  // Mailgun has the real time, also where a developer has moved our clock.
  const age = deps.clock.real.date() - at;
  if (!(age <= MAX_AGE_MS && age >= -MAX_AHEAD_MS)) throw badSignature("The timestamp of this webhook is too old, or lies in the future.");
  const token = {
    provider: "mailgun",
    token: `${given.token} ${signature}`,
    at,
    maxAgeMs: MAX_AGE_MS,
    content: JSON.stringify(event),
  } as const;
  if (!(await claimToken(deps, token))) throw badSignature("The token of this webhook came with another event before.");
  const emailId = toEmailId(event.message?.headers?.["message-id"]);
  const outcome = toOutcome(event);
  if (emailId === null || outcome === null) return [];
  return [{ emailId, recipient: event.recipient ?? null, source: "mailgun", key: `mailgun ${event.id ?? given.token}`, outcome }];
};

function toOutcome({ event, severity, reason = "", "delivery-status": status }: MailgunEvent): ReportOutcome | null {
  if (event === "delivered") return { kind: "delivered" };
  if (event === "complained") return { kind: "complained", feedbackType: "abuse" };
  if (event === "unsubscribed") return { kind: "unsubscribed" };
  if (event !== "failed") return null;
  const error = toError(status?.message || status?.description || reason, status?.code, status?.["enhanced-code"]);
  if (severity === "temporary") return { kind: "deferred", error };
  const code = Number(status?.code);
  // Mailgun's own reasons: not sent, because the address has bounced, unsubscribed or complained before.
  if (code === 606 || reason === "suppress-unsubscribe")
    return { kind: "bounced", error, type: "PERMANENT", invalidRecipient: false, refusedFor: "unsubscribe" };
  if (code === 607 || reason === "suppress-complaint")
    return { kind: "bounced", error, type: "PERMANENT", invalidRecipient: false, refusedFor: "complaint" };
  const known = code === 605 || reason === "suppress-bounce";
  return { kind: "bounced", error, type: "PERMANENT", invalidRecipient: known || isMailboxGone(error) };
}

/** A token that a provider signs instead of the content, so that the signature alone would let anybody send other content. */
interface WebhookToken {
  readonly provider: "mailgun";
  /** The token with its signature: unique to the account. */
  readonly token: string;
  /** Time of its creation by the clock of the provider, ms. The caller refuses signatures older than `maxAgeMs`. */
  readonly at: number;
  readonly maxAgeMs: number;
  /** Content that came with it. */
  readonly content: string;
}

/**
 * Remembers with what a token came first, as long as its signature is accepted. False if it came with something else before; the same
 * again is a repetition, and true.
 */
export async function claimToken({ db, clock }: InboundDeps, { provider, token, at, maxAgeMs, content }: WebhookToken): Promise<boolean> {
  const prefix = `${provider} token `;
  const key = `${prefix}${dayOf(at)} ${hash("sha256", token)}`;
  const use = `${key} ${hash("sha256", content)}`;
  return db.tx(async (tx) => {
    const { inboundReports: t } = tx.t;
    const receivedAt = clock.now();
    const oldest = clock.real.date() - maxAgeMs;
    // The day is part of the key, so that old tokens are found without an index of their own.
    await tx.delete(t).where(and(like(t.key, `${prefix}%`), lt(t.key, prefix + dayOf(oldest))));
    const [added] = await tx.insert(t).values({ key, receivedAt }).onConflictDoNothing().returning();
    if (added) await tx.insert(t).values({ key: use, receivedAt });
    const [[known] = []] = await tx.lookUp(t, [{ key: use }]);
    return known !== undefined;
  });
}
