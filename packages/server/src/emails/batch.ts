import {
  BATCH_LIMITS,
  BatchEmail,
  type BatchFailure,
  type BatchQueued,
  type contract,
  type HandlerInput,
  type HandlerOutput,
  listRecipients,
  type SendResponse,
} from "@mailsvc/sdk/contract";
import type { z } from "zod";
import type { Reader, Tx } from "../db/db.ts";
import type { ReadContext } from "../http/handler.ts";
import type { EarlierAnswer, PartClaim } from "../http/part-answers.ts";
import { ApiError, invalid } from "../lib/api-error.ts";
import { toCanonicalJson } from "../lib/json.ts";
import { hashInTurns, waitForTurn } from "../lib/turn.ts";
import { MB } from "../lib/units.ts";
import { type AcceptedSend, acceptSend, type NewSend, type Origin } from "./accept.ts";
import { type DecodedAttachments, decodeAttachments } from "./attachments.ts";
import type { EmailDeps } from "./deps.ts";
import { storeSends } from "./store-sends.ts";
import { acceptPrepared, type PreparedSend, prepareTemplateSend } from "./template-send.ts";

type Output = HandlerOutput<typeof contract.emails.sendBatch>;
type Result = Output["results"][number];
type Email = z.output<typeof BatchEmail>;

/** An email of a batch before the transaction: what to send, or why it cannot be. */
interface PreparedEmail {
  readonly failure?: ApiError;
  readonly direct?: Pick<NewSend, "request" | "files">;
  readonly rendered?: PreparedSend;
  /** Its own idempotency key, and a hash of what the email means. */
  readonly own?: Pick<PartClaim, "idempotencyKey" | "contentHash">;
}

/** Earlier answer to an email whose key was used before. */
type Known = NonNullable<EarlierAnswer>;

/** The emails of a batch, in their order. */
export type PreparedBatch = readonly PreparedEmail[];

/** Sender of a batch. */
interface BatchOrigin extends Omit<Origin, "optedOut"> {
  readonly keyId: string;
  /** For each email, the keys of recipients who opted out of what it is about. */
  readonly optedOut?: readonly ReadonlySet<string>[] | undefined;
}

// Emails that are validated in one stretch: a few milliseconds.
const EMAILS_PER_TURN = 20;
const ROUTE = "POST /api/v1/send/batch emails";

/**
 * Checks, decodes and renders the emails of a batch before its transaction begins. Throws ApiError validation_error for a batch with too
 * many recipients.
 */
export async function prepareBatch(
  { emails }: HandlerInput<typeof contract.emails.sendBatch>,
  { read, deps, workspaceId, check }: Pick<ReadContext<EmailDeps>, "read" | "deps" | "workspaceId" | "check">,
): Promise<PreparedBatch> {
  const prepared: PreparedEmail[] = [];
  const firstWithKey = new Map<string, number>();
  const decode = decodeOnce();
  let recipients = 0;
  for (const [i, email] of emails.entries()) {
    if (i > 0 && i % EMAILS_PER_TURN === 0) await waitForTurn();
    const checked = check(BatchEmail, email);
    if ("details" in checked) {
      const message = checked.details.map((detail) => detail.message).join(" ");
      prepared.push({ failure: new ApiError("validation_error", message.slice(0, 500), { details: checked.details }) });
      continue;
    }
    const { idempotencyKey } = checked.value;
    recipients += listRecipients(checked.value).length;
    const first = idempotencyKey === undefined ? undefined : firstWithKey.get(idempotencyKey);
    if (idempotencyKey !== undefined && first === undefined) firstWithKey.set(idempotencyKey, i);
    if (first !== undefined) prepared.push({ failure: invalid("idempotencyKey", "duplicate", `Repeats the key of emails[${first}].`) });
    else prepared.push(await prepareEmail(read, deps, workspaceId, checked.value, email, decode));
  }
  if (recipients > BATCH_LIMITS.recipients)
    throw invalid("emails", "too_big", `At most ${BATCH_LIMITS.recipients} recipients in a batch; these are ${recipients}.`);
  return prepared;
}

/**
 * Queues the emails of a batch in one transaction, and answers in their order. A strict batch is queued whole or throws an ApiError with
 * all faults. In a permissive one each email succeeds or fails for itself.
 */
export async function sendBatch(
  emails: PreparedBatch,
  mode: "strict" | "permissive",
  tx: Tx,
  deps: EmailDeps,
  origin: BatchOrigin,
): Promise<Output> {
  const earlier = await findEarlier(emails, tx, deps, origin.keyId);
  const { keyId: _key, ...sender } = origin;
  const results = await queueAll(emails, earlier, mode, tx, deps, sender);
  const failed = results.filter(({ status }) => status === "failed").length;
  const toStore = emails.flatMap((email, i) => {
    const claim = toClaim(email, origin.keyId);
    const result = results[i] as Result;
    return claim && !earlier.has(email) && result.status === "queued" ? [{ claim, answer: JSON.stringify(result) }] : [];
  });
  await deps.partAnswers.store(tx, toStore, deps.clock.now());
  return { queued: results.length - failed, failed, results };
}

type Decode = (email: Email, asSent: unknown) => Promise<DecodedAttachments>;

/** Decodes the attachments of emails. Emails that share one list of them, as no request over HTTP has it, share the files too. */
function decodeOnce(): Decode {
  const known = new Map<unknown, Promise<DecodedAttachments>>();
  let bytes = 0;
  return async ({ attachments = [], icalEvent }, asSent) => {
    if (attachments.length === 0) return icalEvent ? decodeAttachments({ icalEvent }) : [];
    const list = (asSent as Email).attachments;
    const before = icalEvent ? undefined : known.get(list);
    if (before) return before;
    bytes += attachments.reduce((sum, { content }) => sum + (content.length / 4) * 3, 0);
    if (bytes > BATCH_LIMITS.attachmentBytes)
      throw invalid("attachments", "too_big", `At most ${BATCH_LIMITS.attachmentBytes / MB} MiB of attachments in a batch.`);
    const decoded = decodeAttachments({ attachments, icalEvent });
    if (!icalEvent) known.set(list, decoded);
    return decoded;
  };
}

async function prepareEmail(
  read: Reader,
  deps: EmailDeps,
  workspaceId: string,
  email: Email,
  asSent: unknown,
  decode: Decode,
): Promise<PreparedEmail> {
  const { idempotencyKey, template, attachments: _decoded, icalEvent: _invitation, ...request } = email;
  const own = idempotencyKey === undefined ? {} : { own: { idempotencyKey, contentHash: await hashInTurns(toCanonicalJson(email)) } };
  try {
    const files = await decode(email, asSent);
    if (template !== undefined) {
      const rendered = await prepareTemplateSend(read, deps.compiledTemplates, workspaceId, template, request);
      return { ...own, rendered: rendered.ready ? { ready: { ...rendered.ready, files } } : rendered };
    }
    const { from = "", subject = "", variables: _values, recipientVariables: _own, ...fields } = request;
    return { ...own, direct: { request: { ...fields, from, subject }, files } };
  } catch (error) {
    if (error instanceof ApiError) return { failure: error };
    throw error;
  }
}

/** Checks each email, then stores those that can be sent, together; of a strict batch all or none. */
async function queueAll(
  emails: PreparedBatch,
  earlier: ReadonlyMap<PreparedEmail, Known>,
  mode: "strict" | "permissive",
  tx: Tx,
  deps: EmailDeps,
  { optedOut, ...origin }: Omit<BatchOrigin, "keyId">,
): Promise<Result[]> {
  // Together, so that their lookups share statements. All have ended before anything is thrown.
  const checked = await Promise.allSettled(
    emails.map(async (email, i) => {
      const answer = earlier.get(email);
      return answer ? { replayed: replay(answer) } : { accepted: await accept(email, tx, deps, { ...origin, optedOut: optedOut?.[i] }) };
    }),
  );
  const accepted = checked.flatMap((one) => (one.status === "fulfilled" && one.value.accepted ? [one.value.accepted] : []));
  const failures = checked.map((one) => (one.status === "rejected" ? toFailure(one.reason) : null));
  if (mode === "strict" && failures.some((failure) => failure !== null)) throw refuse(failures);
  const stored = accepted.length === 0 ? [] : await storeSends(tx, deps, accepted);
  const responses = new Map(accepted.map((send, i) => [send, stored[i] as SendResponse]));
  return checked.map((one, i): Result => {
    if (one.status === "rejected") return failures[i] as BatchFailure;
    const { replayed, accepted: send } = one.value;
    if (!send) return replayed;
    const template = emails[i]?.rendered?.ready?.template.slug;
    return { ...(responses.get(send) as SendResponse), ...(template !== undefined && { template }) };
  });
}

async function accept({ failure, direct, rendered }: PreparedEmail, tx: Tx, deps: EmailDeps, origin: Origin): Promise<AcceptedSend> {
  if (failure) throw failure;
  if (rendered) return acceptPrepared(rendered, tx, deps, origin);
  if (!direct) throw new Error("The preparation gave neither an error nor a send.");
  return acceptSend(tx, deps, { ...direct, ...origin });
}

function toClaim({ own }: PreparedEmail, keyId: string): PartClaim | null {
  return own ? { keyId, route: ROUTE, ...own } : null;
}

/** The emails whose keys were used before, with what is known of them. */
async function findEarlier(emails: PreparedBatch, tx: Tx, { partAnswers }: EmailDeps, keyId: string): Promise<Map<PreparedEmail, Known>> {
  const keyed = emails.flatMap((email) => {
    const claim = toClaim(email, keyId);
    return claim ? [{ email, claim }] : [];
  });
  const found = new Map<PreparedEmail, Known>();
  if (keyed.length === 0) return found;
  const answers = await partAnswers.find(
    tx,
    keyed.map(({ claim }) => claim),
  );
  for (const [i, { email }] of keyed.entries()) {
    const answer = answers[i] ?? null;
    if (answer !== null) found.set(email, answer);
  }
  return found;
}

function replay(earlier: Known): BatchQueued {
  if (earlier !== "reused") return { ...(JSON.parse(earlier.answer) as BatchQueued), replayed: true };
  const message = "This idempotencyKey was used for a different email in the last 24 hours.";
  throw new ApiError("idempotency_key_reused", message, { details: [{ path: "idempotencyKey", code: "reused", message }] });
}

/** Throws what is no error of the email. */
function toFailure(error: unknown): BatchFailure {
  if (!(error instanceof ApiError)) throw error;
  const { code, message, details, hint } = error;
  return { status: "failed", error: { code, message, details, hint } };
}

/** The error of a strict batch: that of its emails, if all of them have the same. */
function refuse(all: readonly (BatchFailure | null)[]): ApiError {
  const failures = all.flatMap((failure, index) => (failure === null ? [] : [{ index, error: failure.error }]));
  const codes = new Set(failures.map(({ error }) => error.code));
  const [first] = codes;
  const details = failures.flatMap(({ index, error: { code, message, details: own } }) =>
    own.length === 0
      ? [{ path: `emails[${index}]`, code, message }]
      : own.map((detail) => ({ ...detail, path: `emails[${index}]${detail.path === "" ? "" : `.${detail.path}`}` })),
  );
  const which =
    failures.length === 1 ? `emails[${failures[0]?.index}] was refused` : `${failures.length} of ${all.length} emails were refused`;
  const message = `${which}, so none was queued: ${failures[0]?.error.message ?? ""}`;
  return new ApiError(codes.size === 1 && first ? first : "batch_refused", message, { details });
}
