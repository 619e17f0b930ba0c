import type { SendResponse } from "@mailsvc/sdk/contract";
import type { Tx } from "../db/db.ts";
import { UniqueViolation } from "../db/errors.ts";
import { GroupedWrites } from "../db/grouped-writes.ts";
import type { EmailDeps } from "../emails/deps.ts";
import { type AcceptedSend, acceptPrepared, acceptSend, prepareTemplateSend, storeSends } from "../emails/emails.ts";
import type { PartClaim } from "../http/part-answers.ts";
import { ApiError } from "../lib/api-error.ts";
import type { SubmissionDeps, Submitter } from "./deps.ts";
import { fingerprint } from "./fingerprint.ts";
import { mendLines } from "./lines.ts";
import { type Envelope, type ReadMessage, readMessage } from "./message.ts";

const ROUTE = "SMTP";
const MESSAGE_TYPE = "message/rfc822";

/** Checks a message in a transaction. */
type Accept = (tx: Tx) => Promise<AcceptedSend>;

/** Stores submitted messages; those that arrive together share a transaction. */
export class MessageStore {
  readonly #deps: SubmissionDeps;
  readonly #grouped: GroupedWrites<Accept, AcceptedSend, SendResponse>;

  constructor(deps: SubmissionDeps) {
    this.#deps = deps;
    this.#grouped = new GroupedWrites(deps.db, {
      check: (tx, accept: Accept) => accept(tx),
      store: (tx, accepted) => storeSends(tx, deps, accepted),
    });
  }

  /**
   * Stores a submitted message as one mail to all of its recipients, and returns its id. Under an Idempotency-Key that was used before it
   * stores nothing and returns the id of then. Throws ApiError as a send over HTTP does.
   */
  async submit(submitter: Submitter, received: Buffer, envelope: Envelope): Promise<string> {
    const raw = await mendLines(received, envelope.captured);
    const message = await readMessage(raw, envelope);
    const accept = await prepareMessage(this.#deps, submitter, message, envelope);
    const { idempotencyKey } = message.instructions;
    if (idempotencyKey === null) return toId(await this.#grouped.run(accept, raw.length));
    const { keyId } = submitter;
    return this.#storeOnce(accept, { keyId, route: ROUTE, idempotencyKey, contentHash: await fingerprint(raw, message, envelope) });
  }

  async #storeOnce(accept: Accept, claim: PartClaim): Promise<string> {
    const { db, clock, partAnswers } = this.#deps;
    const commit = (): Promise<string> =>
      db.tx(async (tx) => {
        const [earlier = null] = await partAnswers.find(tx, [claim]);
        if (earlier === "reused")
          throw new ApiError("idempotency_key_reused", "This Idempotency-Key was used for a different message in the last 24 hours.");
        if (earlier !== null) return earlier.answer;
        const [stored] = await storeSends(tx, this.#deps, [await accept(tx)]);
        const id = toId(stored as SendResponse);
        await partAnswers.store(tx, [{ claim, answer: id }], clock.now());
        return id;
      });
    try {
      return await commit();
    } catch (error) {
      // The same message arrived twice at once, and the other one is stored.
      if (error instanceof UniqueViolation) return commit();
      throw error;
    }
  }
}

/** Prepares what is checked and stored in a transaction: the message as it is, or the template that it names. */
export async function prepareMessage(
  deps: Pick<SubmissionDeps, keyof EmailDeps>,
  submitter: Pick<Submitter, "workspaceId" | "test" | "senders"> & { readonly acceptsSuppressed?: boolean },
  message: ReadMessage,
  { captured, refused = 0 }: Envelope,
): Promise<Accept> {
  const { workspaceId, test, senders, acceptsSuppressed } = submitter;
  const origin = { workspaceId, test, senders, acceptsSuppressed, anySender: captured, refused };
  const { from, sender, subject, messageId, bytes, instructions } = message;
  const { idempotencyKey: _, template, variables, tags, scheduledAt, bypassUnsubscribe, ...unread } = instructions;
  assertAllRead(unread);
  const request = { ...toRecipients(message, refused), from, tags, scheduledAt, bypassUnsubscribe };
  if (template !== null) {
    const prepared = await prepareTemplateSend(deps.db.read, deps.compiledTemplates, workspaceId, template, { ...request, variables });
    return (tx) => acceptPrepared(prepared, tx, deps, origin);
  }
  const file = { filename: "message.eml", contentType: MESSAGE_TYPE, contentId: null, size: bytes.length, content: bytes };
  const asIs = { messageId, sender };
  return (tx) => acceptSend(tx, deps, { ...origin, request: { ...request, subject }, files: [file], asIs });
}

/** Does nothing: a header whose field nothing above reads does not compile, so none is accepted and then ignored. */
function assertAllRead(_unread: Readonly<Record<string, never>>): void {}

/** The recipients as a send names them; one who is alone in the To header, and was so in the envelope, gets a mail like any other. */
function toRecipients({ recipients }: ReadMessage, refused: number) {
  const list = (kind: "to" | "cc" | "bcc"): string[] => recipients.filter((one) => one.kind === kind).map(({ text }) => text);
  const [to, cc, bcc] = [list("to"), list("cc"), list("bcc")];
  const [first] = to;
  if (recipients.length === 1 && refused === 0 && first !== undefined) return { to: first };
  return { to, together: true, ...(cc.length > 0 && { cc }), ...(bcc.length > 0 && { bcc }) };
}

/** The id in the answer to one mail. */
export function toId(answer: Pick<SendResponse, "status"> & { id?: string; ids?: string[] }): string {
  const id = answer.id ?? answer.ids?.[0];
  if (id === undefined) throw new Error("A send answers with an id.");
  return id;
}
