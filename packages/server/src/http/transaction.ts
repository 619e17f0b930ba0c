import type { Endpoint } from "@mailsvc/sdk/contract";
import type { Tx } from "../db/db.ts";
import { UniqueViolation } from "../db/errors.ts";
import { GroupedWrites } from "../db/grouped-writes.ts";
import { ApiError } from "../lib/api-error.ts";
import type { AnyHandler, Caller, GroupedHandler, Input } from "./call.ts";
import type { ChangeRecorder } from "./change-recorder.ts";
import type { HttpDeps } from "./deps.ts";
import { type Claim, findAnswer, fromStored, type StoredAnswer, storeAnswers, toClaimId, toStored } from "./idempotency.ts";

/**
 * Runs writes: the preparation of the handler comes first, then one transaction with its effect and, if the request has an Idempotency-Key
 * (a claim), the stored answer (docs/emails.md#idempotency): both exist, or neither. The preparation of a write that takes no effect is
 * undone.
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
  readonly #deps: Pick<HttpDeps, "db" | "clock" | "seal" | "log" | "tracing">;
  /** Writes under way whose handlers prepare something, by claim. */
  readonly #running = new Map<string, { readonly requestHash: string; readonly result: Promise<WriteResult> }>();
  readonly #grouped: GroupedTransactions;
  readonly #changes: ChangeRecorder;

  constructor(deps: Pick<HttpDeps, "db" | "clock" | "seal" | "log" | "tracing">, changes: ChangeRecorder) {
    this.#deps = deps;
    this.#changes = changes;
    this.#grouped = new GroupedTransactions(deps);
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
      const result: WriteResult = await this.#commit(write, prepared, claim);
      if (result.replayed) await this.#undo(write, prepared);
      return result;
    } catch (error) {
      await this.#undo(write, prepared);
      throw error;
    }
  }

  async #commit(write: Write, prepared: unknown, claim: Claim | null): Promise<WriteResult> {
    const { handler } = write;
    // With tracing each write runs in the span of its own request.
    const isGrouped = "store" in handler && !this.#deps.tracing;
    const commit = (): Promise<WriteResult> =>
      isGrouped
        ? this.#grouped.run(handler, { write, prepared, claim })
        : this.#transact(write, (tx) => this.#executeOnce(write, tx, prepared, claim));
    if (claim === null) return commit();
    try {
      return await commit();
    } catch (error) {
      // The same key arrived twice at once, and the other request has committed, so its answer can be replayed. A feature may have
      // turned the unique violation into its own 409.
      if (error instanceof UniqueViolation || (error instanceof ApiError && error.status === 409)) return commit();
      throw error;
    }
  }

  async #executeOnce(write: Write, tx: Tx, prepared: unknown, claim: Claim | null): Promise<WriteResult> {
    if (claim === null) return this.#execute(write, tx, prepared);
    const { clock, seal } = this.#deps;
    const earlier = await findAnswer(tx, claim);
    if (earlier) return this.#replay(write, claim, earlier);
    const answer = await this.#execute(write, tx, prepared);
    await storeAnswers(tx, [{ claim, answer: toStored(seal, write.endpoint, claim, answer) }], clock.now());
    return answer;
  }

  #transact<T>({ caller }: Write, fn: (tx: Tx) => Promise<T>): Promise<T> {
    const work = async (tx: Tx): Promise<T> => {
      if (caller.confirm) await caller.confirm(tx);
      return fn(tx);
    };
    return this.#deps.db.tx(work);
  }

  async #execute({ endpoint, handler, input, caller }: Write, tx: Tx, prepared: unknown): Promise<StoredAnswer> {
    const run = (): Promise<unknown> => runHandler(handler, input, { ...caller.context, tx }, prepared);
    return toStoredAnswer(endpoint, await this.#changes.record({ endpoint, input, context: caller.context }, tx, run));
  }

  async #prepare({ handler, input, caller }: Write): Promise<unknown> {
    return typeof handler === "function" ? undefined : handler.prepare(input, { ...caller.context, read: this.#deps.db.read });
  }

  async #undo({ handler, caller }: Write, prepared: unknown): Promise<void> {
    if (typeof handler === "function" || !("undo" in handler) || !handler.undo) return;
    try {
      await handler.undo({ ...caller.context, read: this.#deps.db.read }, prepared);
    } catch (error) {
      this.#deps.log.warn("the preparation of a failed write could not be undone", { error: String(error) });
    }
  }

  #replay({ endpoint }: Write, claim: Claim, stored: StoredAnswer): WriteResult {
    return { ...fromStored(this.#deps.seal, endpoint, claim, stored), replayed: true };
  }
}

/** A write that may share its transaction, with what its handler prepared. */
interface GroupedWrite {
  readonly write: Write;
  readonly prepared: unknown;
  readonly claim: Claim | null;
}

/** Result of a check: an earlier answer, or the data to store, with the dependencies of the request. */
interface CheckedWrite extends GroupedWrite {
  readonly replayed: WriteResult | null;
  readonly checked?: unknown;
  readonly deps?: unknown;
}

/**
 * Transactions that writes of one handler share, each with the answers to its requests under an Idempotency-Key. Throws UniqueViolation for
 * one whose key was taken meanwhile.
 */
class GroupedTransactions {
  readonly #deps: Pick<HttpDeps, "db" | "clock" | "seal">;
  readonly #groups = new Map<GroupedHandler, GroupedWrites<GroupedWrite, CheckedWrite, WriteResult>>();

  constructor(deps: Pick<HttpDeps, "db" | "clock" | "seal">) {
    this.#deps = deps;
  }

  run(handler: GroupedHandler, write: GroupedWrite): Promise<WriteResult> {
    const group = this.#groups.get(handler) ?? this.#makeGroup(handler);
    this.#groups.set(handler, group);
    return group.run(write, handler.measure(write.write.input, write.prepared));
  }

  #makeGroup(handler: GroupedHandler): GroupedWrites<GroupedWrite, CheckedWrite, WriteResult> {
    return new GroupedWrites(this.#deps.db, {
      check: (tx, write: GroupedWrite) => this.#check(handler, tx, write),
      store: (tx, writes) => this.#store(handler, tx, writes),
    });
  }

  async #check(handler: GroupedHandler, tx: Tx, grouped: GroupedWrite): Promise<CheckedWrite> {
    const { write, prepared, claim } = grouped;
    const { context, confirm } = write.caller;
    if (confirm) await confirm(tx);
    const earlier = claim && (await findAnswer(tx, claim));
    if (claim && earlier)
      return { ...grouped, replayed: { ...fromStored(this.#deps.seal, write.endpoint, claim, earlier), replayed: true } };
    return { ...grouped, replayed: null, checked: await handler.check(write.input, { ...context, tx }, prepared), deps: context.deps };
  }

  async #store(handler: GroupedHandler, tx: Tx, writes: readonly CheckedWrite[]): Promise<WriteResult[]> {
    const fresh = writes.filter(({ replayed }) => replayed === null);
    const [first] = fresh;
    if (!first) return writes.map(({ replayed }) => replayed as WriteResult);
    // All requests have the same dependencies.
    const outputs = await handler.store(
      fresh.map(({ checked }) => checked),
      { deps: first.deps, tx },
    );
    const answered = fresh.map(({ write, claim }, i) => ({ claim, write, answer: toStoredAnswer(write.endpoint, outputs[i]) }));
    const toKeep = answered.flatMap(({ claim, write, answer }) =>
      claim ? [{ claim, answer: toStored(this.#deps.seal, write.endpoint, claim, answer) }] : [],
    );
    if (toKeep.length > 0) await storeAnswers(tx, toKeep, this.#deps.clock.now());
    const results = answered.map(({ answer }) => answer).values();
    return writes.map(({ replayed }) => replayed ?? (results.next().value as StoredAnswer));
  }
}

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

/** Runs a handler alone, inside a transaction if it writes. */
export async function runHandler(handler: AnyHandler, input: Input, context: object, prepared?: unknown): Promise<unknown> {
  if (typeof handler === "function") return handler(input, context);
  if ("run" in handler) return handler.run(input, context, prepared);
  const [output] = await handler.store([await handler.check(input, context, prepared)], context);
  return output;
}

/** Returns the answer as it is stored and sent. If an endpoint has several statuses, the handler has chosen one. */
function toStoredAnswer({ status = 200 }: Endpoint, output: unknown): StoredAnswer {
  if (typeof status === "number") return { status, answer: JSON.stringify(output) };
  const { status: chosen, body } = output as { status: number; body: unknown };
  return { status: chosen, answer: JSON.stringify(body) };
}
