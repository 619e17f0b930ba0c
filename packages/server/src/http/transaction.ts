import type { Endpoint } from "@mailsvc/sdk/contract";
import type { Tx } from "../db/db.ts";
import { UniqueViolation } from "../db/errors.ts";
import { ApiError } from "../lib/api-error.ts";
import type { AnyHandler, Caller, Input } from "./call.ts";
import type { HttpDeps } from "./deps.ts";
import { type Claim, findAnswer, type StoredAnswer, sealAnswer, storeAnswer, toClaimId, unsealAnswer } from "./idempotency.ts";

/** A write of the contract, with its input parsed and its caller admitted. */
interface Write {
  readonly endpoint: Endpoint;
  readonly handler: AnyHandler;
  readonly input: Input;
  readonly caller: Caller;
}

/** An answer, and whether it was stored by an earlier request. */
interface WriteResult extends StoredAnswer {
  readonly replayed?: true;
}

/**
 * Runs writes: what a handler prepares comes first, then one transaction with its effect and, if the request has an Idempotency-Key
 * (a claim), the stored answer (docs/emails.md#idempotency): both exist, or neither. What was prepared for a write that takes no effect is undone.
 *
 * A preparation may act on the outside world, so with a claim it runs once:
 *
 * | the claim                           | prepared        | answer                           |
 * | ----------------------------------- | --------------- | -------------------------------- |
 * | is new                              | yes             | its own, stored                  |
 * | has a stored answer                 | no              | the stored one                   |
 * | gets one from another process       | yes, and undone | the stored one                   |
 * | runs in this process, same request  | no              | that of the running request      |
 * | runs in this process, other request | no              | ApiError idempotency_in_progress |
 */
export class Writes {
  readonly #deps: Pick<HttpDeps, "db" | "clock" | "seal" | "log">;
  /** Those under way whose handlers prepare something, by claim. */
  readonly #running = new Map<string, { readonly requestHash: string; readonly result: Promise<WriteResult> }>();

  constructor(deps: Pick<HttpDeps, "db" | "clock" | "seal" | "log">) {
    this.#deps = deps;
  }

  async run(write: Write, claim: Claim | null): Promise<WriteResult> {
    if (claim === null || typeof write.handler === "function") return this.#perform(write, claim);
    const id = toClaimId(claim);
    const running = this.#running.get(id);
    if (running?.requestHash === claim.requestHash) return { ...(await running.result), replayed: true };
    if (running)
      throw new ApiError("idempotency_in_progress", "Another request with this Idempotency-Key is in progress.", {
        headers: { "retry-after": "1" },
      });
    const result = this.#performUnlessAnswered(write, claim);
    this.#running.set(id, { requestHash: claim.requestHash, result });
    try {
      return await result;
    } finally {
      this.#running.delete(id);
    }
  }

  async #performUnlessAnswered(write: Write, claim: Claim): Promise<WriteResult> {
    const answered = await findAnswer(this.#deps.db.read, claim);
    if (!answered) return this.#perform(write, claim);
    return this.#transact(write, async () => this.#replay(write, claim, answered));
  }

  async #perform(write: Write, claim: Claim | null): Promise<WriteResult> {
    const prepared = await this.#prepare(write);
    try {
      const result: WriteResult = await (claim === null ? this.#commit(write, prepared) : this.#commitClaimed(write, prepared, claim));
      if (result.replayed) await this.#undo(write, prepared);
      return result;
    } catch (error) {
      await this.#undo(write, prepared);
      throw error;
    }
  }

  #commit(write: Write, prepared: unknown): Promise<StoredAnswer> {
    return this.#transact(write, (tx) => this.#execute(write, tx, prepared));
  }

  async #commitClaimed(write: Write, prepared: unknown, claim: Claim): Promise<WriteResult> {
    const { clock, seal } = this.#deps;
    const commit = (): Promise<WriteResult> =>
      this.#transact(write, async (tx) => {
        const earlier = await findAnswer(tx, claim);
        if (earlier) return this.#replay(write, claim, earlier);
        const answer = await this.#execute(write, tx, prepared);
        await storeAnswer(tx, claim, write.endpoint.confidential ? sealAnswer(seal, claim, answer) : answer, clock.now());
        return answer;
      });
    try {
      return await commit();
    } catch (error) {
      // The same key arrived twice at once, and the other request has committed, so its answer can be replayed. A feature may have
      // turned the unique violation into its own 409.
      if (error instanceof UniqueViolation || (error instanceof ApiError && error.status === 409)) return commit();
      throw error;
    }
  }

  #transact<T>({ handler, caller }: Write, fn: (tx: Tx) => Promise<T>): Promise<T> {
    const work = async (tx: Tx): Promise<T> => {
      if (caller.confirm) await caller.confirm(tx);
      return fn(tx);
    };
    return this.#deps.db.tx(work, { insertsOnly: "insertsOnly" in handler });
  }

  async #execute({ endpoint, handler, input, caller }: Write, tx: Tx, prepared: unknown): Promise<StoredAnswer> {
    const run = typeof handler === "function" ? handler : handler.run;
    return toStoredAnswer(endpoint, await run(input, { ...caller.context, tx }, prepared));
  }

  async #prepare({ handler, input, caller }: Write): Promise<unknown> {
    return typeof handler === "function" ? undefined : handler.prepare(input, { ...caller.context, read: this.#deps.db.read });
  }

  async #undo({ handler, caller }: Write, prepared: unknown): Promise<void> {
    if (typeof handler === "function" || !handler.undo) return;
    try {
      await handler.undo({ ...caller.context, read: this.#deps.db.read }, prepared);
    } catch (error) {
      this.#deps.log.warn("the preparation of a failed write could not be undone", { error: String(error) });
    }
  }

  #replay({ endpoint }: Write, claim: Claim, stored: StoredAnswer): WriteResult {
    return { ...(endpoint.confidential ? unsealAnswer(this.#deps.seal, claim, stored) : stored), replayed: true };
  }
}

/** The answer as it is stored and sent. Where an endpoint has several statuses, the handler has chosen one. */
function toStoredAnswer({ status = 200 }: Endpoint, output: unknown): StoredAnswer {
  if (typeof status === "number") return { status, answer: JSON.stringify(output) };
  const { status: chosen, body } = output as { status: number; body: unknown };
  return { status: chosen, answer: JSON.stringify(body) };
}
