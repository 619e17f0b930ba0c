import type { Failure } from "./worker.ts";

/** Prints an error of a handler, for an agent without `onError`: the event, the attempt, and whether another one follows. */
export function printError(error: unknown, { key, attempt, willRetry }: Failure): void {
  console.error(`[agent-kit] ${key || "A request"}, attempt ${attempt}, failed${willRetry ? " and is tried again" : " for good"}:`, error);
}

/** Prints that an agent was never started: what it leaves unfinished would stay so. */
export function warnNotStarted(): void {
  console.warn("[agent-kit] Call agent.start() once: without it, what a crash or an error leaves is not worked on.");
}
