import type { Db } from "../db/db.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Queue } from "../queue/queue.ts";
import type { EventListener } from "./events.ts";
import type { EventReaders } from "./readers.ts";
import type { EventStream } from "./stream.ts";

export interface EventDeps {
  readonly eventStream: EventStream;
  /** Listeners that are told of new events: the recorder of a run, if there is one. */
  readonly eventListeners: readonly EventListener[];
}

export interface EventTailDeps extends EventDeps {
  readonly clock: Clock;
  readonly queue: Queue;
}

export interface EventStreamDeps {
  readonly clock: Clock;
  readonly db: Db;
  readonly log: Log;
  readonly queue: Queue;
}

/** Dependencies of rebuilding readers. */
export interface ReaderRebuildDeps extends EventReaderDeps {
  readonly clock: Clock;
  readonly queue: Queue;
  readonly config: { readonly keepDays: { readonly events: number | null } };
}

/** Dependencies of showing the progress of readers. */
export interface EventReaderDeps {
  readonly eventReaders: Pick<EventReaders, "failing" | "countFailing" | "countUnread">;
}
