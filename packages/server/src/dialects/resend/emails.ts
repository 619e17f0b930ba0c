import { BATCH_LIMITS, contract, type Email, type EmailDetail, type EmailStatus, SEND_LIMITS } from "@mailsvc/sdk/contract";
import * as z from "zod";
import type { AnswerOf, CallOf, PreparedCall } from "../../http/contract-calls.ts";
import { ApiError } from "../../lib/api-error.ts";
import { trustSenderInDev } from "../dev-senders.ts";
import { FileFetcher } from "../files.ts";
import { type Operation, type Preparation, readOperation, type Writes, writeOperation } from "../operation.ts";
import { answerList, listQuery } from "./lists.ts";
import { type ContractEmail, ResendEmail, readTime, toContractEmail } from "./send-fields.ts";
import { findOptedOut, type TopicOfMail, toTopicOfMail } from "./topics.ts";

type BatchEmail = CallOf<typeof contract.emails.sendBatch>["emails"][number];
type BatchAnswer = AnswerOf<typeof contract.emails.sendBatch>;

interface Failure {
  readonly index: number;
  readonly message: string;
}

interface PreparedBatch {
  readonly permissive: boolean;
  readonly froms: ReadonlySet<string>;
  /** The place in the request of each email that is sent. */
  readonly indexes: readonly number[];
  /** Emails of a permissive batch that cannot be sent. */
  readonly failures: readonly Failure[];
  /** The topic of each email that is sent; null for none. */
  readonly topics: readonly (TopicOfMail | null)[];
  /** Null when no email is left. */
  readonly call: PreparedCall<typeof contract.emails.sendBatch> | null;
}

/** `POST /emails/batch`: the body is an array of emails; x-batch-validation says what happens to the others when one cannot be sent. */
const sendBatch = writeOperation({
  method: "POST",
  path: "/emails/batch",
  body: z.object({ emails: z.array(z.unknown()).min(1).max(BATCH_LIMITS.emails) }),
  bodyIs: "emails",
  bucket: "send",
  prepare: ({ emails }, calls) => prepareBatch(emails, calls),
  run: async (_input, calls, { permissive, froms, indexes, failures, topics, call }: PreparedBatch) => {
    for (const from of froms) await trustSenderInDev(from, calls);
    const optedOut: ReadonlySet<string>[] = [];
    for (const topic of topics) optedOut.push(topic === null ? new Set() : await findOptedOut(topic, calls));
    const results = call === null ? [] : (await calls.finish(call, { optedOut })).results;
    return showResults(results, permissive, indexes, failures);
  },
});

async function prepareBatch(items: readonly unknown[], calls: Preparation): Promise<PreparedBatch> {
  const permissive = calls.header("x-batch-validation") === "permissive";
  const emails: BatchEmail[] = [];
  const topicIds: (string | null)[] = [];
  const indexes: number[] = [];
  const failures: Failure[] = [];
  calls.authorize(contract.emails.sendBatch);
  const fetcher = new FileFetcher(calls.deps, BATCH_LIMITS.attachmentBytes);
  // One after the other: each may fetch files.
  for (const [index, item] of items.entries()) {
    try {
      const { email, topicId } = await toBatchEmail(item, calls, fetcher, `emails[${index}].`);
      emails.push(email);
      topicIds.push(topicId);
      indexes.push(index);
    } catch (error) {
      if (!permissive || !(error instanceof ApiError)) throw error;
      failures.push({ index, message: error.message });
    }
  }
  const mode = permissive ? "permissive" : "strict";
  const call = emails.length === 0 ? null : await calls.prepare(contract.emails.sendBatch, { emails, mode });
  const topics = emails.map((email, i) => toTopicOfMail(topicIds[i] ?? null, email));
  return { permissive, froms: new Set(emails.flatMap(({ from }) => from ?? [])), indexes, failures, topics, call };
}

/** An email of a batch, and the id of its topic. */
interface ReadEmail {
  readonly email: BatchEmail;
  readonly topicId: string | null;
}

async function toBatchEmail(item: unknown, calls: Preparation, fetcher: FileFetcher, at: string): Promise<ReadEmail> {
  const checked = calls.check(ResendEmail, item);
  if ("details" in checked) {
    const details = checked.details.map((detail) => ({ ...detail, path: `${at}${detail.path}` }));
    throw new ApiError("validation_error", `${at.slice(0, -1)}: ${checked.details[0]?.message ?? ""}`, { details });
  }
  const email = await toContractEmail(checked.value, calls, fetcher, at);
  const topicId = checked.value.topic_id || null;
  if ("direct" in email) return { email: email.direct, topicId };
  const { slug, ...fields } = email.rendered;
  return { email: { ...fields, template: slug ?? "" }, topicId };
}

function showResults(results: BatchAnswer["results"], permissive: boolean, indexes: readonly number[], before: readonly Failure[]) {
  const data = results.flatMap((result) => (result.status === "queued" ? [{ id: result.id ?? "" }] : []));
  if (!permissive) return { data };
  const failed = results.flatMap((result, i) =>
    result.status === "failed" ? [{ index: indexes[i] ?? i, message: result.error.message }] : [],
  );
  return { data, errors: [...before, ...failed].sort((a, b) => a.index - b.index) };
}

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
