import { BATCH_LIMITS, contract } from "@mailsvc/sdk/contract";
import * as z from "zod";
import type { AnswerOf, CallOf, PreparedCall } from "../../http/contract-calls.ts";
import { ApiError } from "../../lib/api-error.ts";
import { trustSenderInDev } from "../dev-senders.ts";
import { FileFetcher } from "../files.ts";
import { type Preparation, writeOperation } from "../operation.ts";
import { ResendEmail, toContractEmail } from "./send-fields.ts";
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
export const sendBatch = writeOperation({
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
