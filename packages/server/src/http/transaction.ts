import type { Endpoint } from "@mailsvc/sdk/contract";
import type { Tx } from "../db/db.ts";
import { UniqueViolation } from "../db/errors.ts";
import type { Deps } from "../deps.ts";
import { ApiError } from "../lib/api-error.ts";
import type { AgentContext, KeyContext, PublicContext } from "./handler.ts";
import { type Claim, findAnswer, type StoredAnswer, sealAnswer, storeAnswer, toClaimId, unsealAnswer } from "./idempotency.ts";

export type Input = Record<string, unknown>;
export type RunAny = (input: Input, ctx: object, prepared?: unknown) => Promise<unknown>;
export type AnyHandler = RunAny | { prepare: RunAny; run: RunAny; undo?: (ctx: object, prepared: unknown) => Promise<void> };

/** An admitted caller: the owner of rate limits and Idempotency-Keys, and the context of its handlers. */
export interface Caller {
  readonly id: string;
  readonly context: KeyContext | AgentContext | PublicContext;
  /** Runs first inside the transaction of a write; throws when the caller's key no longer works. */
  readonly confirm?: (tx: Tx) => Promise<unknown>;
  /** The largest body, in bytes. */
  readonly maxBody: number;
  /** Limits that depend on the input. Throws ApiError rate_limited. */
  readonly limit?: (input: Input) => Promise<void>;
}

/** An answer, and whether it was stored by an earlier request. */
export interface WriteResult extends StoredAnswer {
  readonly replayed?: true;
}

/** Runs a write of the contract. With a claim its answer is stored, and repeated when the same request comes again. */
export type Write = (endpoint: Endpoint, handler: AnyHandler, input: Input, caller: Caller, claim: Claim | null) => Promise<WriteResult>;

/**
 * Makes the function that runs writes. The effect of a write and its stored answer are one transaction (SPEC 4): both exist, or
 * neither.
 */
export function createWriter({ db, clock, seal, log }: Deps): Write {
  /** What a write does before its transaction; not a promise when nothing is awaited. */
  const prepare = (handler: AnyHandler, input: Input, { context }: Caller): unknown =>
    typeof handler === "function" ? undefined : handler.prepare(input, { ...context, read: db.read });

  /** Undoes the preparation of a write that failed. */
  const undo = async (handler: AnyHandler, { context }: Caller, prepared: unknown): Promise<void> => {
    if (typeof handler === "function" || !handler.undo) return;
    const undoing = handler.undo({ ...context, read: db.read }, prepared);
    await undoing.catch((error: unknown) => log.warn("the preparation of a failed write could not be undone", { error: String(error) }));
  };

  const writeWithoutClaim = (
    endpoint: Endpoint,
    handler: AnyHandler,
    input: Input,
    caller: Caller,
    prepared: unknown,
  ): Promise<StoredAnswer> => {
    const { context, confirm } = caller;
    const writing = db.tx(async (tx) => {
      if (confirm) await confirm(tx);
      return toStoredAnswer(endpoint, await getRun(handler)(input, { ...context, tx }, prepared));
    }, endpoint);
    if (typeof handler === "function" || !handler.undo) return writing;
    return writing.catch(async (error: unknown) => {
      await undo(handler, caller, prepared);
      throw error;
    });
  };

  const writeOnce = async (endpoint: Endpoint, handler: AnyHandler, input: Input, caller: Caller, claim: Claim): Promise<WriteResult> => {
    const { context, confirm } = caller;
    const replay = (stored: StoredAnswer): WriteResult => ({
      ...(endpoint.confidential ? unsealAnswer(seal, claim, stored) : stored),
      replayed: true,
    });
    // Preparation may act on the outside world, which a repeat must not do again.
    const answered = typeof handler === "function" ? null : await findAnswer(db.read, claim);
    if (answered)
      return db.tx(async (tx) => {
        if (confirm) await confirm(tx);
        return replay(answered);
      }, endpoint);
    const prepared = await prepare(handler, input, caller);
    const attempt = (): Promise<WriteResult> =>
      db.tx(async (tx) => {
        if (confirm) await confirm(tx);
        const earlier = await findAnswer(tx, claim);
        if (earlier) return replay(earlier);
        const answer = toStoredAnswer(endpoint, await getRun(handler)(input, { ...context, tx }, prepared));
        await storeAnswer(tx, claim, endpoint.confidential ? sealAnswer(seal, claim, answer) : answer, clock.now());
        return answer;
      }, endpoint);
    try {
      const result = await attempt().catch((error: unknown) => {
        // The same key arrived twice at once, and the other request has committed, so its answer can be replayed. A feature may have
        // turned the unique violation into its own 409.
        if (error instanceof UniqueViolation || (error instanceof ApiError && error.status === 409)) return attempt();
        throw error;
      });
      if (result.replayed) await undo(handler, caller, prepared);
      return result;
    } catch (error) {
      await undo(handler, caller, prepared);
      throw error;
    }
  };

  /** Running writes whose preparation acts on the outside world, by claim. */
  const running = new Map<string, { requestHash: string; result: Promise<WriteResult> }>();

  /**
   * Runs a write with a claim. The same request many times at once is prepared once in this process and has one answer. Throws
   * ApiError idempotency_in_progress.
   */
  const writeWithClaim = async (
    endpoint: Endpoint,
    handler: AnyHandler,
    input: Input,
    caller: Caller,
    claim: Claim,
  ): Promise<WriteResult> => {
    if (typeof handler === "function") return writeOnce(endpoint, handler, input, caller, claim);
    const id = toClaimId(claim);
    const { requestHash } = claim;
    const first = running.get(id);
    if (first?.requestHash === requestHash) return { ...(await first.result), replayed: true };
    if (first)
      throw new ApiError("idempotency_in_progress", "Another request with this Idempotency-Key is in progress.", {
        headers: { "retry-after": "1" },
      });
    const result = writeOnce(endpoint, handler, input, caller, claim);
    running.set(id, { requestHash, result });
    try {
      return await result;
    } finally {
      running.delete(id);
    }
  };

  return (endpoint, handler, input, caller, claim) => {
    if (claim) return writeWithClaim(endpoint, handler, input, caller, claim);
    const preparing = prepare(handler, input, caller);
    return preparing instanceof Promise
      ? preparing.then((prepared) => writeWithoutClaim(endpoint, handler, input, caller, prepared))
      : writeWithoutClaim(endpoint, handler, input, caller, preparing);
  };
}

function getRun(handler: AnyHandler): RunAny {
  return typeof handler === "function" ? handler : handler.run;
}

/** The answer as it is stored and sent. Where an endpoint has several statuses, the handler has chosen one. */
function toStoredAnswer({ status = 200 }: Endpoint, output: unknown): StoredAnswer {
  if (typeof status === "number") return { status, answer: JSON.stringify(output) };
  const { status: chosen, body } = output as { status: number; body: unknown };
  return { status: chosen, answer: JSON.stringify(body) };
}
