import type { Tx } from "../db/db.ts";
import { GroupedWrites } from "../db/grouped-writes.ts";
import type { GroupedHandler } from "./call.ts";
import type { HttpDeps } from "./deps.ts";
import { type Claim, findAnswer, fromStored, type StoredAnswer, storeAnswers, toStored } from "./idempotency.ts";
import { toStoredAnswer, type Write, type WriteResult } from "./write.ts";

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
export class GroupedTransactions {
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
