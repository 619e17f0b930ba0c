import type { SendResponse } from "@mailsvc/sdk/contract";
import type { Tx } from "../db/db.ts";
import { UniqueViolation } from "../db/errors.ts";
import { prepareTemplateSend, send, sendPrepared } from "../emails/emails.ts";
import { ApiError } from "../lib/api-error.ts";
import type { SubmissionDeps, Submitter } from "./deps.ts";
import { fingerprint } from "./fingerprint.ts";
import { type Envelope, type ReadMessage, readMessage } from "./message.ts";

const ROUTE = "SMTP";
const MESSAGE_TYPE = "message/rfc822";

/**
 * Stores a submitted message as one mail to all of its recipients, and returns its id. Under an Idempotency-Key that was used before it stores
 * nothing and returns the id of then. Throws ApiError as a send over HTTP does.
 */
export async function submit(deps: SubmissionDeps, submitter: Submitter, raw: Buffer, envelope: Envelope): Promise<string> {
  const message = await readMessage(raw, envelope);
  const store = await prepare(deps, submitter, message, envelope);
  const { idempotencyKey } = message.instructions;
  if (idempotencyKey === null) return deps.db.tx(store, { insertsOnly: true });
  const { keyId } = submitter;
  const claim = { keyId, route: ROUTE, idempotencyKey, contentHash: await fingerprint(raw, message, envelope) };
  const commit = (): Promise<string> =>
    deps.db.tx(
      async (tx) => {
        const [earlier = null] = await deps.partAnswers.find(tx, [claim]);
        if (earlier === "reused")
          throw new ApiError("idempotency_key_reused", "This Idempotency-Key was used for a different message in the last 24 hours.");
        if (earlier !== null) return earlier.answer;
        const id = await store(tx);
        await deps.partAnswers.store(tx, [{ claim, answer: id }], deps.clock.now());
        return id;
      },
      { insertsOnly: true },
    );
  try {
    return await commit();
  } catch (error) {
    // The same message arrived twice at once, and the other one is stored.
    if (error instanceof UniqueViolation) return commit();
    throw error;
  }
}

/** Prepares what stores the mail in a transaction: the message as it is, or the template that it names. */
async function prepare(
  deps: SubmissionDeps,
  submitter: Submitter,
  message: ReadMessage,
  { captured }: Envelope,
): Promise<(tx: Tx) => Promise<string>> {
  const { workspaceId, test } = submitter;
  const origin = { workspaceId, test };
  const { from, sender, subject, messageId, bytes, instructions } = message;
  const { tags, scheduledAt, bypassUnsubscribe, template, variables } = instructions;
  const request = { ...toRecipients(message), from, tags, bypassUnsubscribe, ...(scheduledAt !== undefined && { scheduledAt }) };
  if (template !== null) {
    const prepared = await prepareTemplateSend(deps.db.read, deps.compiledTemplates, workspaceId, template, { ...request, variables });
    return async (tx) => toId(await sendPrepared(prepared, tx, deps, submitter));
  }
  const file = { filename: "message.eml", contentType: MESSAGE_TYPE, contentId: null, size: bytes.length, content: bytes };
  const asIs = { messageId, sender, anySender: captured };
  return async (tx) => toId(await send(tx, deps, { ...origin, request: { ...request, subject }, files: [file], asIs }));
}

/** The recipients as a send names them; one who is alone in the To header gets a mail like any other. */
function toRecipients({ recipients }: ReadMessage) {
  const list = (kind: "to" | "cc" | "bcc"): string[] => recipients.filter((one) => one.kind === kind).map(({ text }) => text);
  const [to, cc, bcc] = [list("to"), list("cc"), list("bcc")];
  const [first] = to;
  if (recipients.length === 1 && first !== undefined) return { to: first };
  return { to, together: true, ...(cc.length > 0 && { cc }), ...(bcc.length > 0 && { bcc }) };
}

function toId(answer: Pick<SendResponse, "status"> & { id?: string; ids?: string[] }): string {
  const id = answer.id ?? answer.ids?.[0];
  if (id === undefined) throw new Error("A send answers with an id.");
  return id;
}
