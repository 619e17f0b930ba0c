import type { HandledEvent, HandledEvents, UnknownEvent } from "./event.ts";
import { isKnown } from "./event.ts";

/** A function that works on an event. What it returns is ignored; a promise is awaited. */
export type Handler<C> = (context: C) => unknown;

/** What an agent does with its events. The handlers of an event run one after the other, in the order they were added. */
export class Handlers<Context> {
  readonly #byType = new Map<string, Handler<Context>[]>();
  readonly #any: Handler<Context>[] = [];
  readonly #unknown: Handler<Context>[] = [];

  on(type: keyof HandledEvents, handler: Handler<Context>): void {
    const handlers = this.#byType.get(type) ?? [];
    this.#byType.set(type, [...handlers, handler]);
  }

  onAny(handler: Handler<Context>): void {
    this.#any.push(handler);
  }

  onUnknown(handler: Handler<Context>): void {
    this.#unknown.push(handler);
  }

  /** Runs the handlers of an event. Rejects with the error of the first one that fails; the rest do not run. */
  async run(event: HandledEvent | UnknownEvent, context: Context): Promise<void> {
    const own = isKnown(event) ? (this.#byType.get(event.type) ?? []) : this.#unknown;
    for (const handler of [...own, ...this.#any]) await handler(context);
  }
}
