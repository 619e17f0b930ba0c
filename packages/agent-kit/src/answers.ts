import type { HandledEvent, HandledEvents, UnknownEvent } from "./event.ts";
import { systemClock } from "./runtime.ts";
import { type Store, update } from "./stores/store.ts";

/** What a run waits for: the answer to an approval request, or a wakeup. */
export type Answer = HandledEvents["approval_response"] | HandledEvents["agent.wakeup"];

/** The answers that runs wait for, by the ids of their messages and wakeups. They are stored, since a run may ask after a restart. */
export interface Answers {
  /** Stores the answer that an event carries, if any, and tells the run that waits for it. */
  record(event: HandledEvent | UnknownEvent): Promise<void>;
  /** Resolves with the answer, also one that another process received. Rejects with the signal's reason. */
  wait(id: string, signal: AbortSignal): Promise<Answer>;
}

const PREFIX = "answer/";

/** `pollMs`: how often a process looks for answers that another one received, in real time. */
export function createAnswers(store: Store, keepMs: number, pollMs: number): Answers {
  const waiting = new Map<string, Set<() => void>>();

  const untilNews = (id: string, signal: AbortSignal): Promise<void> =>
    new Promise((done) => {
      const others = waiting.get(id) ?? new Set();
      const finish = (): void => {
        cancel();
        signal.removeEventListener("abort", finish);
        others.delete(finish);
        if (others.size === 0) waiting.delete(id);
        done();
      };
      const cancel = systemClock.after(pollMs, finish);
      signal.addEventListener("abort", finish);
      waiting.set(id, others.add(finish));
    });

  return {
    record: async (event) => {
      const id = idOf(event as HandledEvent);
      if (id === null) return;
      await update(store, PREFIX + id, () => ({ to: JSON.stringify(event), ttlMs: keepMs }));
      for (const tell of [...(waiting.get(id) ?? [])]) tell();
    },
    wait: async (id, signal) => {
      for (;;) {
        signal.throwIfAborted();
        // Listening before the look, so that no answer falls between the two.
        const stop = new AbortController();
        const news = untilNews(id, AbortSignal.any([signal, stop.signal]));
        const text = await store.get(PREFIX + id);
        if (text !== null) {
          stop.abort();
          return JSON.parse(text) as Answer;
        }
        await news;
      }
    },
  };
}

function idOf(event: HandledEvent): string | null {
  if (event.type === "approval_response") return event.messageId;
  return event.type === "agent.wakeup" ? event.wakeupId : null;
}
