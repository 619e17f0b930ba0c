import * as z from "zod";
import { hasOtherReason } from "../../mail/reply-judge.ts";
import type { ReportOutcome } from "../report.ts";
import { badSignature, isSame, parseBody, type ReadWebhook, toError } from "./provider.ts";

// The name of our id in webhooks: POSTMARK_HEADER without its prefix.
const METADATA = "mailsvc-id";

const PostmarkEvent = z.object({
  RecordType: z.string(),
  MessageID: z.string().optional(),
  ID: z.number().optional(),
  Type: z.string().optional(),
  Description: z.string().optional(),
  Details: z.string().optional(),
  SuppressSending: z.boolean().optional(),
  SuppressionReason: z.string().nullish(),
  ChangedAt: z.string().optional(),
  Metadata: z.record(z.string(), z.string()).optional(),
});
type PostmarkEvent = z.infer<typeof PostmarkEvent>;

/** Reads webhooks of Postmark, which authenticate with the user and password in their address. */
export const readPostmark: ReadWebhook = async (_deps, { bytes, headers }, key) => {
  const given = headers.get("authorization") ?? "";
  if (!isSame(given, `Basic ${Buffer.from(key).toString("base64")}`)) throw badSignature("The user or password of this webhook is wrong.");
  const event = parseBody(PostmarkEvent, bytes);
  const emailId = /^em_[0-9a-hjkmnp-tv-z]{26}$/.exec(event.Metadata?.[METADATA] ?? "")?.[0];
  const outcome = toOutcome(event);
  if (emailId === undefined || outcome === null) return [];
  const about = ["postmark", event.RecordType, event.ID ?? event.MessageID ?? emailId, event.ChangedAt].filter(Boolean).join(" ");
  return [{ emailId, source: "postmark", key: about, outcome }];
};

// https://postmarkapp.com/developer/api/bounce-api#bounce-types
const INVALID = new Set(["HardBounce", "BadEmailAddress"]);
const PERMANENT = new Set([...INVALID, "SpamNotification", "VirusNotification", "ManuallyDeactivated", "Blocked", "DMARCPolicy"]);
const TRANSIENT = new Set(["SoftBounce", "Transient", "DnsError"]);
// Replies of people and programs come as bounces too.
const NO_BOUNCE = new Set(["AutoResponder", "AddressChange", "ChallengeVerification", "OpenRelayTest", "Subscribe"]);

function toOutcome(event: PostmarkEvent): ReportOutcome | null {
  const { RecordType, Type = "", Description, Details } = event;
  if (RecordType === "SubscriptionChange") return toConsent(event);
  if (RecordType === "Bounce" && Type === "Unsubscribe") return { kind: "unsubscribed" };
  if (RecordType === "Delivery") return { kind: "delivered" };
  if (RecordType === "SpamComplaint" || Type === "SpamComplaint") return { kind: "complained", feedbackType: "abuse" };
  if (RecordType !== "Bounce" || NO_BOUNCE.has(Type)) return null;
  const error = toError(Details || Description || Type);
  return {
    kind: "bounced",
    error,
    type: PERMANENT.has(Type) ? "PERMANENT" : TRANSIENT.has(Type) ? "TRANSIENT" : "UNDETERMINED",
    invalidRecipient: INVALID.has(Type) && !hasOtherReason(error),
  };
}

/**
 * A change of Postmark's own list of suppressions: by the recipient's link, by hand, by a bounce or a complaint. That it sends again to an
 * address changes nothing here: who may get mail again is decided in this service.
 */
function toConsent({ SuppressSending, SuppressionReason }: PostmarkEvent): ReportOutcome | null {
  if (SuppressSending !== true) return null;
  if (SuppressionReason === "SpamComplaint") return { kind: "complained", feedbackType: "abuse" };
  if (SuppressionReason === "HardBounce")
    return { kind: "bounced", error: toError("Postmark suppressed it for a bounce."), type: "PERMANENT", invalidRecipient: true };
  return { kind: "unsubscribed" };
}
