import type { Event } from "@mailsvc/sdk/contract";
import { signal } from "@preact/signals";
import { parseSse } from "../../../sdk/src/call/sse.ts";
import { chance, pause } from "../browser.ts";
import { send } from "./client.ts";
import { nextReturn, suspectOutage } from "./outage.ts";
import { RequestError } from "./request-error.ts";

const RETRY_MS = 1000;
const MAX_RETRY_MS = 30_000;

type Listener = (event: Event) => void;
type Message =
  | { readonly kind: "event"; readonly event: Event }
  | { readonly kind: "state"; readonly connected: boolean }
  // A tab that was opened asks the one that reads for the state.
  | { readonly kind: "question" };

/** True while events arrive live. */
export const connected = signal(false);

/**
 * Follows the events of a workspace. All tabs of a browser share one connection: the tab that holds the lock reads it and passes events on
 * to the others; when it is closed, the next one takes over. Browsers have locks only in pages that are safe to transmit (https, or this
 * machine); elsewhere each tab has its own connection.
 */
export class LiveEvents {
  readonly #listeners = new Set<Listener>();
  readonly #over = new AbortController();
  readonly #channel: BroadcastChannel;
  #lastSequence = 0;
  #isReading = false;

  constructor(workspaceId: string) {
    this.#channel = new BroadcastChannel(`mailsvc.events.${workspaceId}`);
    this.#channel.onmessage = ({ data }: MessageEvent<Message>) => this.#take(data);
    this.#channel.postMessage({ kind: "question" } satisfies Message);
    const lead = (): Promise<void> => this.#follow();
    const name = `mailsvc.events.${workspaceId}`;
    const { signal: over } = this.#over;
    void (navigator.locks ? navigator.locks.request(name, { signal: over }, lead).catch(() => {}) : lead());
  }

  /** Calls `listener` with each event; returns how to stop that. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#over.abort();
    this.#channel.close();
    connected.value = false;
  }

  #take(message: Message): void {
    if (message.kind === "question") {
      if (this.#isReading) this.#pass({ kind: "state", connected: true });
      return;
    }
    if (message.kind === "state") {
      connected.value = message.connected;
      // The tab that reads has lost the server, which the others learn before they need it.
      if (!message.connected) suspectOutage();
      return;
    }
    connected.value = true;
    if (message.event.sequence <= this.#lastSequence) return;
    this.#lastSequence = message.event.sequence;
    for (const listener of this.#listeners) listener(message.event);
  }

  #pass(message: Message): void {
    this.#take(message);
    if (!this.#over.signal.aborted) this.#channel.postMessage(message);
  }

  /** Reads the stream and connects again when it ends, after the last event that this tab has seen. */
  async #follow(): Promise<void> {
    const { signal: over } = this.#over;
    let failures = 0;
    while (!over.aborted) {
      try {
        await this.#read(over, () => {
          failures = 0;
        });
      } catch (error) {
        if (error instanceof RequestError && error.status >= 400 && error.status < 500 && error.status !== 429) return;
      }
      if (over.aborted) return;
      this.#pass({ kind: "state", connected: false });
      failures += 1;
      await Promise.race([pause(Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** (failures - 1)) * (0.5 + chance() / 2), over), nextReturn()]);
    }
  }

  async #read(signal: AbortSignal, opened: () => void): Promise<void> {
    const from = this.#lastSequence > 0 ? { "last-event-id": String(this.#lastSequence) } : undefined;
    const response = await send("/api/v1/events/stream", { signal, headers: { accept: "text/event-stream", ...from } });
    if (!response.body) return;
    this.#isReading = true;
    this.#pass({ kind: "state", connected: true });
    opened();
    try {
      for await (const { data } of parseSse(readChunks(response.body))) {
        if (data !== null) this.#pass({ kind: "event", event: JSON.parse(data) as Event });
      }
    } finally {
      this.#isReading = false;
    }
  }
}

async function* readChunks(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    void reader.cancel().catch(() => {});
  }
}
