import { createHmac } from "node:crypto";
import * as z from "zod";
import { HOUR } from "../../lib/units.ts";
import { isMailboxGone } from "../../mail/reply-judge.ts";
import type { ReportOutcome } from "../report.ts";
import { badSignature, isSame, parseBody, type ReadWebhook, toEmailId, toError } from "./provider.ts";
import { claimToken } from "./webhook-tokens.ts";

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
