import type { HandledEvent, HandledEvents, UnknownEvent } from "./event.ts";
import { type Store, update } from "./stores/store.ts";

/** Event that a run waits for: the answer to an approval request, or a wakeup. */
export type Answer = HandledEvents["approval_response"] | HandledEvents["agent.wakeup"];

/** The answers that runs wait for, by the ids of their messages and wakeups. They are stored, since a run may ask after a restart. */
export interface Answers {
  /** Stores the answer that an event carries, if any, and tells the run of this process that waits for it. */
  record(event: HandledEvent | UnknownEvent): Promise<void>;
  /** True once the answer is there. */
  has(id: string): Promise<boolean>;
  /** Resolves with the answer that is there, or that this process receives. Rejects with the signal's reason. */
  wait(id: string, signal: AbortSignal): Promise<Answer>;
}

const PREFIX = "answer/";

export function createAnswers(store: Store, keepMs: number): Answers {
  const waiting = new Map<string, Set<() => void>>();
  const find = async (id: string): Promise<Answer | null> => {
    const text = await store.get(PREFIX + id);
    return text === null ? null : (JSON.parse(text) as Answer);
  };

  /** Resolves when the answer is stored, or the signal aborts. */
  const untilNews = (id: string, signal: AbortSignal): Promise<void> =>
    new Promise((done) => {
      const others = waiting.get(id) ?? new Set();
      const finish = (): void => {
        signal.removeEventListener("abort", finish);
        others.delete(finish);
        if (others.size === 0) waiting.delete(id);
        done();
      };
      signal.addEventListener("abort", finish);
      waiting.set(id, others.add(finish));
    });

  return {
    record: async (event) => {
      const id = answerIdOf(event);
      if (id === null) return;
      await update(store, PREFIX + id, () => ({ to: JSON.stringify(event), ttlMs: keepMs }));
      for (const tell of [...(waiting.get(id) ?? [])]) tell();
    },
    has: async (id) => (await find(id)) !== null,
    wait: async (id, signal) => {
      for (;;) {
        signal.throwIfAborted();
        // Listening before the look, so that no answer falls between the two.
        const stop = new AbortController();
        const news = untilNews(id, AbortSignal.any([signal, stop.signal]));
        const answer = await find(id);
        if (answer !== null) {
          stop.abort();
          return answer;
        }
        await news;
      }
    },
  };
}

/** The id of the message or wakeup that an event answers; null for another event. */
export function answerIdOf(event: HandledEvent | UnknownEvent): string | null {
  const { type, messageId, wakeupId } = event as UnknownEvent;
  if (type === "approval_response") return String(messageId);
  return type === "agent.wakeup" ? String(wakeupId) : null;
}
