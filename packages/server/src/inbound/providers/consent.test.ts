import { describe, expect, test } from "vitest";
import { start, TO } from "../../../test/connected-providers.ts";
import { authorizePostmark, signMailgun, signSendgrid, signSns } from "../../../test/provider-webhooks.ts";

describe("what recipients tell a provider about their mail is kept here", () => {
  const now = Math.floor(Date.now() / 1000);
  type Sent = { readonly id: string; readonly messageId: string };
  const mailgun = (event: object) => (sent: Sent) =>
    ["mailgun", signMailgun({ id: "1", message: { headers: { "message-id": sent.messageId.slice(1, -1) } }, ...event }, now), {}] as const;
  const postmark = (event: object) => (sent: Sent) =>
    ["postmark", JSON.stringify({ ...event, Metadata: { "mailsvc-id": sent.id } }), authorizePostmark()] as const;
  const sendgrid = (event: object) => (sent: Sent) => {
    const body = JSON.stringify([{ "smtp-id": sent.messageId, sg_event_id: "1", email: TO, ...event }]);
    return ["sendgrid", body, signSendgrid(body)] as const;
  };
  const ses = (event: object) => (sent: Sent) =>
    ["ses", signSns({ mail: { destination: [TO], commonHeaders: { messageId: sent.messageId } }, ...event }), {}] as const;
  const failed = (more: object) => mailgun({ event: "failed", severity: "permanent", ...more });
  const change = { RecordType: "SubscriptionChange", SuppressSending: true };

  test.each<[string, (sent: Sent) => readonly [string, string, Record<string, string>], { reason: string; scope: string } | null]>([
    ["Mailgun: unsubscribed", mailgun({ event: "unsubscribed" }), { reason: "unsubscribe", scope: "marketing" }],
    [
      "Mailgun: unsubscribed before",
      failed({ reason: "suppress-unsubscribe", "delivery-status": { code: 606 } }),
      { reason: "unsubscribe", scope: "marketing" },
    ],
    [
      "Mailgun: complained before",
      failed({ reason: "suppress-complaint", "delivery-status": { code: 607 } }),
      { reason: "complaint", scope: "all" },
    ],
    [
      "Postmark: the link",
      postmark({ ...change, Origin: "Recipient", SuppressionReason: "ManualSuppression" }),
      { reason: "unsubscribe", scope: "marketing" },
    ],
    ["Postmark: a complaint", postmark({ ...change, SuppressionReason: "SpamComplaint" }), { reason: "complaint", scope: "all" }],
    ["Postmark: a request", postmark({ RecordType: "Bounce", Type: "Unsubscribe", ID: 1 }), { reason: "unsubscribe", scope: "marketing" }],
    ["Postmark: reactivated", postmark({ ...change, SuppressSending: false }), null],
    ["SendGrid: unsubscribe", sendgrid({ event: "unsubscribe" }), { reason: "unsubscribe", scope: "marketing" }],
    ["SendGrid: a group", sendgrid({ event: "group_unsubscribe", asm_group_id: 1 }), { reason: "unsubscribe", scope: "marketing" }],
    [
      "SendGrid: unsubscribed before",
      sendgrid({ event: "dropped", reason: "Unsubscribed Address" }),
      { reason: "unsubscribe", scope: "marketing" },
    ],
    [
      "SendGrid: complained before",
      sendgrid({ event: "dropped", reason: "Spam Reporting Address" }),
      { reason: "complaint", scope: "all" },
    ],
    [
      "SES: a list",
      ses({ eventType: "Subscription", subscription: { newTopicPreferences: { unsubscribeAll: true } } }),
      { reason: "unsubscribe", scope: "marketing" },
    ],
    [
      "SES: unsubscribed before",
      ses({ eventType: "Bounce", bounce: { bounceType: "Permanent", bounceSubType: "UnsubscribedRecipient" } }),
      { reason: "unsubscribe", scope: "marketing" },
    ],
    ["SES: not spam", ses({ eventType: "Complaint", complaint: { complaintFeedbackType: "not-spam" } }), null],
  ])("%s", async (_name, build, suppressed) => {
    const { world, send, post } = await start();
    await using _ = world;
    const [provider, body, headers] = build(await send());
    expect((await post(provider, body, headers)).status).toBe(200);
    const [found = null] = (await world.sdk.suppressions.list()).data;
    if (suppressed === null) expect(found).toBeNull();
    else expect(found).toMatchObject({ email: TO, ...suppressed });
  });
});
