import { createVerify } from "node:crypto";
import * as z from "zod";
import { hasOtherReason } from "../../mail/reply-judge.ts";
import type { InboundDeps } from "../deps.ts";
import { COMPLAINTS, type Report, type ReportOutcome } from "../report.ts";
import { badSignature, parseBody, type ReadWebhook, toEmailId, toError } from "./provider.ts";

/** A message of SNS, through which SES reports. */
const SnsMessage = z.object({
  Type: z.enum(["Notification", "SubscriptionConfirmation", "UnsubscribeConfirmation"]),
  MessageId: z.string(),
  TopicArn: z.string(),
  Message: z.string(),
  Timestamp: z.string(),
  SignatureVersion: z.string(),
  Signature: z.string(),
  SigningCertURL: z.string(),
  Subject: z.string().optional(),
  SubscribeURL: z.string().optional(),
  Token: z.string().optional(),
});
type SnsMessage = z.infer<typeof SnsMessage>;

const recipients = z.array(z.object({ status: z.string().optional(), diagnosticCode: z.string().optional() })).optional();

const topics = z
  .object({
    unsubscribeAll: z.boolean().optional(),
    topicSubscriptionStatus: z.array(z.object({ topicName: z.string(), subscriptionStatus: z.string() })).optional(),
  })
  .optional();

const SesEvent = z.object({
  // Notifications say notificationType, configuration sets eventType.
  notificationType: z.string().optional(),
  eventType: z.string().optional(),
  mail: z.object({
    source: z.string().optional(),
    // One at most: each recipient gets a message of their own.
    destination: z.array(z.string()).optional(),
    headers: z.array(z.object({ name: z.string(), value: z.string() })).optional(),
    commonHeaders: z.object({ messageId: z.string().optional() }).optional(),
  }),
  bounce: z
    .object({
      bounceType: z.string(),
      bounceSubType: z.string().optional(),
      feedbackId: z.string().optional(),
      bouncedRecipients: recipients,
    })
    .optional(),
  complaint: z.object({ feedbackId: z.string().optional(), complaintFeedbackType: z.string().nullish() }).optional(),
  reject: z.object({ reason: z.string().optional() }).optional(),
  subscription: z.object({ newTopicPreferences: topics, oldTopicPreferences: topics }).optional(),
  deliveryDelay: z.object({ delayType: z.string().optional(), delayedRecipients: recipients }).optional(),
});
type SesEvent = z.infer<typeof SesEvent>;

const SIGNED_FIELDS = {
  Notification: ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"],
  SubscriptionConfirmation: ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"],
  UnsubscribeConfirmation: ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"],
} as const satisfies Record<SnsMessage["Type"], readonly (keyof SnsMessage)[]>;

/** Reads messages of SNS, by the signature of Amazon and from the topic that is the key only. Confirms its subscription. */
export const readSes: ReadWebhook = async (deps, { bytes }, topic) => {
  const message = parseBody(SnsMessage, bytes);
  if (message.TopicArn !== topic) throw badSignature("Nothing is accepted from this SNS topic here.");
  await verify(deps, message);
  if (message.Type === "SubscriptionConfirmation") await deps.sns.confirm(message.TopicArn, message.SubscribeURL ?? "");
  return message.Type === "Notification" ? toReports(deps, message) : [];
};

/** Throws ApiError invalid_signature. */
async function verify({ sns }: InboundDeps, message: SnsMessage): Promise<void> {
  const { SignatureVersion: version, Signature: signature } = message;
  if (version !== "1" && version !== "2") throw badSignature(`The SignatureVersion ${version.slice(0, 20)} is not known.`);
  const key = await sns.getKey(message.TopicArn, message.SigningCertURL);
  const text = SIGNED_FIELDS[message.Type].flatMap((name) => (message[name] === undefined ? [] : [`${name}\n${message[name]}\n`])).join("");
  const valid = createVerify(version === "1" ? "RSA-SHA1" : "RSA-SHA256")
    .update(text)
    .verify(key, signature, "base64");
  if (!valid) throw badSignature("The signature of this SNS message is wrong.");
}

function toReports(deps: InboundDeps, { Message, MessageId }: SnsMessage): Report[] {
  const parsed = SesEvent.safeParse(tryJson(Message));
  // SNS itself sends test messages.
  if (!parsed.success) return [];
  const event = parsed.data;
  const found = findEmail(deps, event);
  const outcome = toOutcome(event);
  const key = `ses ${event.bounce?.feedbackId ?? event.complaint?.feedbackId ?? MessageId}`;
  return found === null || outcome === null ? [] : [{ ...found, source: "ses", key, outcome }];
}

/** SES replaces the Message-ID, but returns our headers if the topic includes them, and always our return path. */
function findEmail({ returnPath }: InboundDeps, { mail }: SesEvent): Pick<Report, "emailId" | "recipient"> | null {
  const address = returnPath.parse(mail.source ?? "");
  if (address?.kind === "bounce") return { emailId: address.emailId };
  const header = mail.headers?.find(({ name }) => /^message-id$/i.test(name))?.value;
  const emailId = toEmailId(header) ?? toEmailId(mail.commonHeaders?.messageId);
  return emailId === null ? null : { emailId, recipient: mail.destination?.[0] ?? null };
}

// Permanent bounces for other reasons (content, attachment) say nothing about the address.
const INVALID = new Set(["General", "NoEmail", "Suppressed", "OnAccountSuppressionList"]);

function toOutcome(event: SesEvent): ReportOutcome | null {
  const { notificationType, eventType, bounce, complaint, deliveryDelay, reject } = event;
  const type = notificationType ?? eventType;
  if (type === "Delivery") return { kind: "delivered" };
  if (type === "Complaint") {
    const feedbackType = complaint?.complaintFeedbackType ?? "abuse";
    return COMPLAINTS.has(feedbackType.toLowerCase()) ? { kind: "complained", feedbackType } : null;
  }
  if (type === "Subscription") return hasLeft(event) ? { kind: "unsubscribed" } : null;
  // Taken by SES, and not sent because of what is in it.
  if (type === "Reject")
    return { kind: "bounced", error: toError(reject?.reason ?? "SES rejected the content."), type: "PERMANENT", invalidRecipient: false };
  if (type === "DeliveryDelay") {
    const [recipient] = deliveryDelay?.delayedRecipients ?? [];
    return { kind: "deferred", error: toError(recipient?.diagnosticCode ?? deliveryDelay?.delayType, undefined, recipient?.status) };
  }
  if (type !== "Bounce" || bounce === undefined) return null;
  const { bounceType, bounceSubType = "", bouncedRecipients: [recipient] = [] } = bounce;
  const error = toError(recipient?.diagnosticCode ?? `${bounceType} ${bounceSubType}`, undefined, recipient?.status);
  return {
    kind: "bounced",
    error,
    ...(bounceSubType === "UnsubscribedRecipient" && { refusedFor: "unsubscribe" }),
    type: bounceType === "Permanent" ? "PERMANENT" : bounceType === "Transient" ? "TRANSIENT" : "UNDETERMINED",
    invalidRecipient: bounceType === "Permanent" && INVALID.has(bounceSubType) && !hasOtherReason(error),
  };
}

/** True if a recipient left all topics of a list of SES, or one of them. */
function hasLeft({ subscription }: SesEvent): boolean {
  const { newTopicPreferences: now, oldTopicPreferences: before } = subscription ?? {};
  const out = (status: typeof now): string[] =>
    (status?.topicSubscriptionStatus ?? []).flatMap((one) => (/^optout$/i.test(one.subscriptionStatus) ? one.topicName : []));
  return now?.unsubscribeAll === true || out(now).some((topic) => !out(before).includes(topic));
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
