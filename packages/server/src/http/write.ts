import type { Endpoint } from "@mailsvc/sdk/contract";
import type { AnyHandler, Caller, Input } from "./call.ts";
import type { StoredAnswer } from "./idempotency.ts";

/** A write of the contract, with its input parsed and its caller admitted. */
export interface Write {
  readonly endpoint: Endpoint;
  readonly handler: AnyHandler;
  readonly input: Input;
  readonly caller: Caller;
}

/** An answer, and whether it was stored by an earlier request. */
export interface WriteResult extends StoredAnswer {
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
export function toStoredAnswer({ status = 200 }: Endpoint, output: unknown): StoredAnswer {
  if (typeof status === "number") return { status, answer: JSON.stringify(output) };
  const { status: chosen, body } = output as { status: number; body: unknown };
  return { status: chosen, answer: JSON.stringify(body) };
}
