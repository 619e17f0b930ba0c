import type { Mailsvc } from "@mailsvc/sdk";
import type { Event, EventType } from "@mailsvc/sdk/contract";
import type { Deps } from "../deps.ts";
import type { Activity } from "./activity.ts";

/** Description of the awaited event: its type, and its object. */
export interface EventWanted<Type extends EventType = EventType> {
  readonly type?: Type;
  /** The id of an email. */
  readonly email?: string;
  /** The recipient of an email. */
  readonly to?: string;
  /** The ids of a campaign, an automation and a contact. */
  readonly campaign?: string;
  readonly automation?: string;
  readonly contact?: string;
  /** For opens and clicks: true for only those of machines, false for only those of people. */
  readonly machine?: boolean;
}

/** An event of one of these types. */
type OfType<Type extends EventType> = Extract<Event, { type: Type }>;

/** The events of a world. Each method first waits until everything that is due has been done. */
export interface TestEvents {
  /** All matching events, oldest first. */
  all<Type extends EventType = EventType>(wanted?: EventWanted<Type>): Promise<OfType<Type>[]>;
  /**
   * The oldest matching event; with `after`, the oldest one with a larger sequence. Throws if none comes, naming those that did: at once
   * while the clock is frozen, when no request is under way and nothing is due; after 5 seconds while it runs. With `timeout` it waits for
   * as many seconds of real time, for code that does something by itself.
   */
  waitFor<Type extends EventType = EventType>(
    wanted?: EventWanted<Type> & { readonly after?: number; readonly timeout?: number },
  ): Promise<OfType<Type>>;
}

/** @internal */
interface EventParts {
  readonly sdk: Mailsvc;
  readonly settle: () => Promise<void>;
  readonly activity: Activity;
  readonly deps: Pick<Deps, "clock" | "eventStream">;
  readonly workspaceId: string;
}

/** @internal */
export function createEvents({ sdk, settle, activity, deps, workspaceId }: EventParts): TestEvents {
  const { clock, eventStream } = deps;
  async function all<Type extends EventType>(wanted: EventWanted<Type> = {}): Promise<OfType<Type>[]> {
    await settle();
    return (await sdk.events.list(wanted).toArray()).reverse() as OfType<Type>[];
  }
  return {
    all,
    waitFor: async ({ after = 0, timeout = activity.timeout, ...wanted } = {}) => {
      const end = clock.real.now() + timeout * 1000;
      for (;;) {
        const left = end - clock.real.now();
        const looked = new AbortController();
        // Begun before the look, so that nothing is missed in between.
        const changed = eventStream.followers.wait(workspaceId, Math.max(left, 0), looked.signal);
        try {
          await activity.end();
          const found = (await all(wanted)).find(({ sequence }) => sequence > after);
          if (found) return found;
          if (left > 0) await changed;
          else if (!activity.isAsked)
            throw new Error(`No event matches ${JSON.stringify(wanted)}. ${describe(await all())}${activity.explain()}`);
        } finally {
          looked.abort();
        }
      }
    },
  };
}

function describe(events: readonly Event[]): string {
  if (events.length === 0) return "Nothing happened at all.";
  return `These happened:\n${events.map(({ sequence, type, to, contactId }) => `  ${sequence} ${type} ${to ?? contactId ?? ""}`.trimEnd()).join("\n")}`;
}
