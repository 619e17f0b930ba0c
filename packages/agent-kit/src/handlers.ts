import { EVENT_KEYS } from "./contract.generated.ts";
import { UsageError } from "./errors.ts";
import { type HandledEvent, type HandledEvents, isKnown, type UnknownEvent } from "./event.ts";
import { didYouMean } from "./nearest.ts";

/** Function that works on an event. Its result is ignored; a promise is awaited. */
export type Handler<C> = (context: C) => unknown;

/** Handlers of an agent's events. An event's handlers run one after the other, in the order they were added. */
export class Handlers<Context> {
  readonly #byType = new Map<string, Handler<Context>[]>();
  readonly #any: Handler<Context>[] = [];
  readonly #unknown: Handler<Context>[] = [];

  on(type: keyof HandledEvents, handler: Handler<Context>): void {
    if (!isKnown({ type }))
      throw new UsageError(
        `on: there is no event "${type}".${didYouMean(String(type), Object.keys(EVENT_KEYS))} Types newer than this package go to onUnknown.`,
      );
    assertHandler(`on("${type}")`, handler);
    const handlers = this.#byType.get(type) ?? [];
    this.#byType.set(type, [...handlers, handler]);
  }

  onAny(handler: Handler<Context>): void {
    assertHandler("onAny", handler);
    this.#any.push(handler);
  }

  onUnknown(handler: Handler<Context>): void {
    assertHandler("onUnknown", handler);
    this.#unknown.push(handler);
  }

  /** Runs the handlers of an event. Rejects with the error of the first one that fails; the rest do not run. */
  async run(event: HandledEvent | UnknownEvent, context: Context): Promise<void> {
    const handlers = isKnown(event) ? [...(this.#byType.get(event.type) ?? []), ...this.#any] : this.#unknown;
    for (const handler of handlers) await handler(context);
  }
}

/** Throws UsageError for a handler that is no function, such as one that was never imported. */
export function assertHandler(where: string, handler: unknown): void {
  if (typeof handler !== "function")
    throw new UsageError(`${where}: the handler must be a function, not ${handler === null ? "null" : typeof handler}.`);
}
