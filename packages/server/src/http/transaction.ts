import type { Endpoint } from "@mailsvc/sdk/contract";
import type { Tx } from "../db/db.ts";
import { UniqueViolation } from "../db/errors.ts";
import type { Deps } from "../deps.ts";
import { ApiError } from "../lib/api-error.ts";
import type { AgentContext, KeyContext, PublicContext } from "./handler.ts";
import { type Claim, findAnswer, type Stored, sealAnswer, storeAnswer, toClaimId, unsealAnswer } from "./idempotency.ts";

export type Input = Record<string, unknown>;
export type RunAny = (input: Input, ctx: object, prepared?: unknown) => Promise<unknown>;
export type AnyHandler = RunAny | { prepare: RunAny; run: RunAny; undo?: (ctx: object, prepared: unknown) => Promise<void> };

/** Who calls: whose rate and Idempotency-Keys it uses, and what handlers get to know of it. */
export interface Caller {
  readonly id: string;
  readonly context: KeyContext | AgentContext | PublicContext;
  /** Asked inside the transaction of a write, before anything else. */
  readonly confirm?: (tx: Tx) => Promise<unknown>;
  /** What it may send, in bytes. */
  readonly maxBody: number;
  /** Limits that depend on what is asked for. Throws ApiError rate_limited. */
  readonly limit?: (input: Input) => Promise<void>;
}

/** An answer, and whether it is one that was given before. */
export interface Repeatable extends Stored {
  readonly replayed?: true;
}

/** Runs a write of the contract; with a claim its answer is kept, and repeated to whoever sends the same again. */
export type Write = (endpoint: Endpoint, handler: AnyHandler, input: Input, caller: Caller, claim: Claim | null) => Promise<Repeatable>;

/** What makes the effect of a write and its answer one (SPEC 4): both are there, or neither. */
export function createWriter({ db, clock, seal, log }: Deps): Write {
  const runOf = (handler: AnyHandler): RunAny => (typeof handler === "function" ? handler : handler.run);

  /** What a write does before its transaction; no promise where it waits for nothing. */
  const prepare = (handler: AnyHandler, input: Input, { context }: Caller): unknown =>
    typeof handler === "function" ? undefined : handler.prepare(input, { ...context, read: db.read });

  /** Takes back what was prepared for a write that did not come about. */
  const undo = async (handler: AnyHandler, { context }: Caller, prepared: unknown): Promise<void> => {
    if (typeof handler === "function" || !handler.undo) return;
    const undoing = handler.undo({ ...context, read: db.read }, prepared);
    await undoing.catch((error: unknown) => log.warn("what was prepared stays", { error: String(error) }));
  };

  /** Runs a write in one transaction. */
  const writePlainly = (endpoint: Endpoint, handler: AnyHandler, input: Input, caller: Caller, prepared: unknown): Promise<Stored> => {
    const { context, confirm } = caller;
    const writing = db.tx(async (tx) => {
      if (confirm) await confirm(tx);
      return storedOf(endpoint, await runOf(handler)(input, { ...context, tx }, prepared));
    });
    if (typeof handler === "function" || !handler.undo) return writing;
    return writing.catch(async (error: unknown) => {
      await undo(handler, caller, prepared);
      throw error;
    });
  };

  /** Runs a write, or repeats its answer: the answer is kept in the transaction of its effect. */
  const writeOnce = async (endpoint: Endpoint, handler: AnyHandler, input: Input, caller: Caller, claim: Claim): Promise<Repeatable> => {
    const { context, confirm } = caller;
    const replay = (before: Stored): Repeatable => ({
      ...(endpoint.confidential ? unsealAnswer(seal, claim, before) : before),
      replayed: true,
    });
    // What is prepared may act on the outside world, which a repeat must not do again.
    const answered = typeof handler === "function" ? null : await findAnswer(db.read, claim);
    if (answered)
      return db.tx(async (tx) => {
        if (confirm) await confirm(tx);
        return replay(answered);
      });
    const prepared = await prepare(handler, input, caller);
    const attempt = (): Promise<Repeatable> =>
      db.tx(async (tx) => {
        if (confirm) await confirm(tx);
        const given = await findAnswer(tx, claim);
        if (given) return replay(given);
        const stored = storedOf(endpoint, await runOf(handler)(input, { ...context, tx }, prepared));
        await storeAnswer(tx, claim, endpoint.confidential ? sealAnswer(seal, claim, stored) : stored, clock.now());
        return stored;
      });
    try {
      const stored = await attempt().catch((error: unknown) => {
        // The same key arrived twice at once: the other one has committed, so its answer is there now. A feature may have put what
        // the database refused into words of its own.
        if (error instanceof UniqueViolation || (error instanceof ApiError && error.status === 409)) return attempt();
        throw error;
      });
      if (stored.replayed) await undo(handler, caller, prepared);
      return stored;
    } catch (error) {
      await undo(handler, caller, prepared);
      throw error;
    }
  };

  /** Writes under way whose preparation acts on the outside world, by their claim. */
  const underWay = new Map<string, { requestHash: string; stored: Promise<Repeatable> }>();

  /** The same request many times at once is prepared once in this process, and has one answer. Throws ApiError idempotency_in_progress. */
  const writeAlone = async (endpoint: Endpoint, handler: AnyHandler, input: Input, caller: Caller, claim: Claim): Promise<Repeatable> => {
    if (typeof handler === "function") return writeOnce(endpoint, handler, input, caller, claim);
    const place = toClaimId(claim);
    const { requestHash } = claim;
    const first = underWay.get(place);
    if (first?.requestHash === requestHash) return { ...(await first.stored), replayed: true };
    if (first)
      throw new ApiError("idempotency_in_progress", "Another request with this Idempotency-Key is under way.", {
        headers: { "retry-after": "1" },
      });
    const stored = writeOnce(endpoint, handler, input, caller, claim);
    underWay.set(place, { requestHash, stored });
    try {
      return await stored;
    } finally {
      underWay.delete(place);
    }
  };

  return async (endpoint, handler, input, caller, claim) => {
    if (claim) return writeAlone(endpoint, handler, input, caller, claim);
    const preparing = prepare(handler, input, caller);
    return writePlainly(endpoint, handler, input, caller, preparing instanceof Promise ? await preparing : preparing);
  };
}

/** What a handler gave back, as it is kept and sent. Where an endpoint has several statuses, the handler has named one. */
function storedOf({ status = 200 }: Endpoint, output: unknown): Stored {
  if (typeof status === "number") return { status, answer: JSON.stringify(output) };
  const { status: chosen, body } = output as { status: number; body: unknown };
  return { status: chosen, answer: JSON.stringify(body) };
}
