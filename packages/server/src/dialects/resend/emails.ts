import { contract, type Email, type EmailDetail, type EmailStatus, SEND_LIMITS } from "@mailsvc/sdk/contract";
import * as z from "zod";
import type { PreparedCall } from "../../http/contract-calls.ts";
import { trustSenderInDev } from "../dev-senders.ts";
import { FileFetcher } from "../files.ts";
import { type Operation, type Preparation, readOperation, type Writes, writeOperation } from "../operation.ts";
import { sendBatch } from "./batch.ts";
import { answerList, listQuery } from "./lists.ts";
import { type ContractEmail, ResendEmail, readTime, toContractEmail } from "./send-fields.ts";
import { findOptedOut, type TopicOfMail, toTopicOfMail } from "./topics.ts";

/** Resend's names for the states of an email, used if its events say no more. */
const LAST_EVENTS: Readonly<Record<EmailStatus, string>> = {
  queued: "queued",
  sending: "queued",
  sent: "sent",
  delivered: "delivered",
  deferred: "delivery_delayed",
  bounced: "bounced",
  complained: "complained",
  failed: "failed",
  suppressed: "suppressed",
  skipped: "failed",
  cancelled: "canceled",
};

type PreparedEmail = { readonly from: string | undefined; readonly topic: TopicOfMail | null } & (
  | { readonly direct: PreparedCall<typeof contract.emails.send> }
  | { readonly rendered: PreparedCall<typeof contract.emails.sendTemplate> }
);

export const emailOperations: readonly Operation[] = [
  writeOperation({
    method: "POST",
    path: "/emails",
    body: ResendEmail,
    bucket: "send",
    prepare: async (email, calls) => {
      calls.authorize(email.template ? contract.emails.sendTemplate : contract.emails.send);
      const fetcher = new FileFetcher(calls.deps, SEND_LIMITS.attachmentBytes);
      return prepareEmail(await toContractEmail(email, calls, fetcher), email.topic_id || null, calls);
    },
    run: async (_email, calls, prepared: PreparedEmail) => {
      await trustSenderInDev(prepared.from, calls);
      return { id: await finishEmail(prepared, calls) };
    },
  }),
  sendBatch,
  readOperation({
    path: "/emails",
    query: listQuery,
    run: (query, calls) =>
      answerList(
        query,
        (page) => calls.read(contract.emails.list, page),
        (email) => showEmail(email, calls.deps.clock.now()),
      ),
  }),
  readOperation({
    path: "/emails/:id",
    run: async ({ id }, calls) => showDetail(await calls.read(contract.emails.get, { id }), calls.deps.clock.now()),
  }),
  writeOperation({
    method: "PATCH",
    path: "/emails/:id",
    body: z.object({ scheduled_at: z.string() }),
    run: async ({ id, scheduled_at }, calls) => {
      await calls.write(contract.emails.reschedule, { id, scheduledAt: readTime(scheduled_at, calls, "scheduled_at") });
      return { object: "email", id };
    },
  }),
  writeOperation({
    method: "POST",
    path: "/emails/:id/cancel",
    run: async ({ id }, calls) => {
      await calls.write(contract.emails.cancel, { id });
      return { object: "email", id };
    },
  }),
];

async function prepareEmail(email: ContractEmail, topicId: string | null, calls: Preparation): Promise<PreparedEmail> {
  const fields = "direct" in email ? email.direct : email.rendered;
  const prepared =
    "direct" in email
      ? { direct: await calls.prepare(contract.emails.send, email.direct) }
      : { rendered: await calls.prepare(contract.emails.sendTemplate, email.rendered) };
  return { from: fields.from, topic: toTopicOfMail(topicId, fields), ...prepared };
}

/** Queues one mail; gives its id. */
async function finishEmail(email: PreparedEmail, calls: Writes): Promise<string> {
  const options = email.topic === null ? {} : { optedOut: [await findOptedOut(email.topic, calls)] };
  const answer = "direct" in email ? await calls.finish(email.direct, options) : await calls.finish(email.rendered, options);
  if ("id" in answer) return answer.id;
  throw new Error("One mail has one id.");
}

/** An email in a list. */
function showEmail(email: Email, now: number) {
  const of = (kind: "to" | "cc" | "bcc"): string[] => email.recipients.filter((one) => one.kind === kind).map((one) => one.email);
  const [cc, bcc] = [of("cc"), of("bcc")];
  const { scheduledAt } = email;
  return {
    id: email.id,
    message_id: email.messageId,
    to: of("to"),
    from: email.from,
    created_at: email.createdAt,
    subject: email.subject,
    cc: cc.length > 0 ? cc : null,
    bcc: bcc.length > 0 ? bcc : null,
    reply_to: null as string[] | null,
    last_event:
      email.status === "queued" && scheduledAt !== null && Date.parse(scheduledAt) > now ? "scheduled" : LAST_EVENTS[email.status],
    scheduled_at: scheduledAt,
  };
}

function showDetail(email: EmailDetail, now: number) {
  const shown = showEmail(email, now);
  const happened = new Set(email.events.map(({ type }) => type));
  const engaged = happened.has("email.clicked") ? "clicked" : happened.has("email.opened") ? "opened" : null;
  return {
    object: "email",
    ...shown,
    reply_to: email.replyTo === null ? null : [email.replyTo].flat(),
    html: email.html,
    text: email.text,
    last_event: email.status === "delivered" && engaged !== null ? engaged : shown.last_event,
    tags: Object.entries(email.tags).map(([name, value]) => ({ name, value })),
  };
}
