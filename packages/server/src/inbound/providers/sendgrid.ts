import { verify } from "node:crypto";
import * as z from "zod";
import { parsePublicKey } from "../../lib/public-key.ts";
import { isMailboxGone } from "../../mail/reply-judge.ts";
import type { Report, ReportOutcome } from "../report.ts";
import { badSignature, parseBody, type ReadWebhook, toEmailId, toError } from "./provider.ts";

const SendgridEvent = z.object({
  event: z.string(),
  email: z.string().optional(),
  "smtp-id": z.string().optional(),
  sg_event_id: z.string().optional(),
  type: z.string().optional(),
  status: z.string().optional(),
  reason: z.string().optional(),
  response: z.string().optional(),
});
type SendgridEvent = z.infer<typeof SendgridEvent>;

/** Reads event webhooks of SendGrid, by their ECDSA signature of timestamp and body. */
export const readSendgrid: ReadWebhook = async (_deps, { bytes, headers }, key) => {
  const signature = Buffer.from(headers.get("x-twilio-email-event-webhook-signature") ?? "", "base64");
  const signed = Buffer.concat([Buffer.from(headers.get("x-twilio-email-event-webhook-timestamp") ?? ""), bytes]);
  if (!isValid(signed, signature, key)) throw badSignature("The signature of this webhook is wrong.");
  return parseBody(z.array(z.unknown()), bytes).flatMap(toReport);
};

function isValid(signed: Uint8Array, signature: Uint8Array, publicKey: string): boolean {
  const key = parsePublicKey(publicKey);
  try {
    return key !== null && verify("sha256", signed, key, signature);
  } catch {
    // A signature that is no signature at all.
    return false;
  }
}

/** Events of a form that we do not know are none of ours. */
function toReport(item: unknown): Report[] {
  const parsed = SendgridEvent.safeParse(item);
  if (!parsed.success) return [];
  const { email: recipient = null, event, sg_event_id } = parsed.data;
  const emailId = toEmailId(parsed.data["smtp-id"]);
  const outcome = toOutcome(parsed.data);
  if (emailId === null || outcome === null) return [];
  const key = `sendgrid ${sg_event_id ?? [emailId, recipient, event].filter((part) => part !== null).join(" ")}`;
  return [{ emailId, recipient, source: "sendgrid", key, outcome }];
}

function toOutcome({ event, type, status, reason, response }: SendgridEvent): ReportOutcome | null {
  if (event === "delivered") return { kind: "delivered" };
  if (event === "spamreport") return { kind: "complained", feedbackType: "abuse" };
  if (event === "unsubscribe" || event === "group_unsubscribe") return { kind: "unsubscribed" };
  if (event === "deferred") return { kind: "deferred", error: toError(response ?? reason, undefined, status) };
  const error = toError(reason, undefined, status);
  // Dropped without an attempt, because the address is on one of SendGrid's own lists.
  if (event === "dropped") {
    const refusedFor = /^unsubscribed/i.test(reason ?? "") ? "unsubscribe" : /^spam reporting/i.test(reason ?? "") ? "complaint" : null;
    const invalidRecipient = /^(?:bounced|invalid)/i.test(reason ?? "");
    return { kind: "bounced", error, type: "PERMANENT", invalidRecipient, ...(refusedFor && { refusedFor }) };
  }
  if (event !== "bounce") return null;
  // A block is a refusal for now, whatever its code.
  if (type === "blocked" || error.enhancedCode?.startsWith("4"))
    return { kind: "bounced", error, type: "TRANSIENT", invalidRecipient: false };
  return { kind: "bounced", error, type: "PERMANENT", invalidRecipient: isMailboxGone(error) };
}
