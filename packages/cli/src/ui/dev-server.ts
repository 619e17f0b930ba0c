import {
  type CapturedMail,
  type ClockState,
  contract,
  type Email,
  type EmailStatus,
  type Endpoint,
  type RequestRecord,
} from "@mailsvc/sdk/contract";
import { findObstacle, formatObstacle } from "../commands/obstacle.ts";
import { toFailure } from "../runtime/errors.ts";
import { buildCall } from "../runtime/request.ts";
import type { Session } from "../types.ts";

/** The server's state at one moment. */
export interface ServerSnapshot {
  clock: ClockState;
  mails: readonly CapturedMail[];
  /** Total number of captured mails. */
  total: number;
  faults: number;
  /** Reason mail waits, and the remedy; null when it does not wait. */
  obstacle: string | null;
  /** Emails that did not arrive, newest first, and how many there are. */
  undelivered: readonly Email[];
  undeliveredTotal: number;
  /** The latest requests of programs, newest first. */
  requests: readonly RequestRecord[];
}

/** Server as the screen reads it and acts on it. Each action returns a sentence about its result. */
export interface DevServer {
  poll(): Promise<ServerSnapshot>;
  toggleClock(frozen: boolean): Promise<string>;
  nextTimer(): Promise<string>;
  advance(by: string): Promise<string>;
  reset(): Promise<string>;
  /** Describes an error in a sentence. */
  explain(error: unknown): string;
}

const SHOWN_MAILS = 50;
const SHOWN_UNDELIVERED = 3;
const SHOWN_REQUESTS = 5;
// The server does not count reads with this header among the requests that it shows.
const LOOK = { "x-mailsvc-look": "1" };
const UNDELIVERED: readonly EmailStatus[] = ["bounced", "complained", "deferred", "failed", "suppressed"];

interface ListPage<T> {
  data: T[];
  pagination: { total: number };
}

/** Connects to the dev endpoints of the session's server. */
export function connectDevServer(session: Session): DevServer {
  const ask = async (endpoint: Endpoint, query: Record<string, unknown> = {}, body?: unknown): Promise<unknown> =>
    (await session.send(buildCall(endpoint, [], query, body))).data;
  const looking: Session = { ...session, send: (call) => session.send({ ...call, headers: { ...call.headers, ...LOOK } }) };
  const look = async (endpoint: Endpoint, query: Record<string, unknown> = {}): Promise<unknown> =>
    (await looking.send(buildCall(endpoint, [], query, undefined))).data;
  return {
    poll: async () => {
      const [clock, inbox, faults, requests, obstacle, ...lists] = await Promise.all([
        look(contract.clock.show),
        look(contract.inbox.list, { limit: SHOWN_MAILS }),
        look(contract.faults.list),
        look(contract.requests.list, { limit: SHOWN_REQUESTS }),
        findObstacle(looking, null),
        ...UNDELIVERED.map((status) => look(contract.emails.list, { status, limit: SHOWN_UNDELIVERED })),
      ]);
      const { data, pagination } = inbox as ListPage<CapturedMail>;
      const pages = lists as ListPage<Email>[];
      return {
        clock: clock as ClockState,
        mails: data,
        total: pagination.total,
        obstacle: obstacle && formatObstacle(obstacle),
        requests: (requests as { data: RequestRecord[] }).data,
        faults: (faults as { data: unknown[] }).data.length,
        undelivered: pages
          .flatMap((page) => page.data)
          .sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))
          .slice(0, SHOWN_UNDELIVERED),
        undeliveredTotal: pages.reduce((sum, page) => sum + page.pagination.total, 0),
      };
    },
    toggleClock: async (frozen) => {
      await (frozen ? ask(contract.clock.thaw) : ask(contract.clock.freeze, {}, {}));
      return frozen ? "The clock is running." : "The clock is frozen.";
    },
    nextTimer: async () => `Next timer: ${describeFired((await ask(contract.clock.next)) as ClockState)}.`,
    advance: async (by) => `Forward ${by}: ${describeFired((await ask(contract.clock.advance, {}, { by })) as ClockState)}.`,
    reset: async () => {
      await ask(contract.world.reset);
      return "Everything was erased.";
    },
    explain: (error) => toFailure(error).message,
  };
}

function describeFired(state: ClockState): string {
  const [first] = state.fired;
  if (!first) return "nothing was due";
  return state.fired.length === 1 ? `ran ${first.name}` : `ran ${state.fired.length} timers, first ${first.name}`;
}
