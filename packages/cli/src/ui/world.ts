import { type CapturedMail, type ClockState, contract, type Endpoint } from "@mailsvc/sdk/contract";
import { failureOf } from "../errors.ts";
import { callOf } from "../request.ts";
import type { Session } from "../session.ts";

/** What the screen shows of the server at one moment. */
export interface Glance {
  clock: ClockState;
  mails: readonly CapturedMail[];
  /** Captured mail in all. */
  total: number;
  faults: number;
}

/** What the screen can ask of the server; each action answers a sentence about what happened. */
export interface World {
  glance(): Promise<Glance>;
  toggleClock(frozen: boolean): Promise<string>;
  nextTimer(): Promise<string>;
  advance(by: string): Promise<string>;
  reset(): Promise<string>;
  /** An error as a sentence. */
  explain(error: unknown): string;
}

const SHOWN_MAILS = 50;

/** The dev endpoints of the server the session points at. */
export function worldOf(session: Session): World {
  const ask = async (endpoint: Endpoint, query: Record<string, unknown> = {}, body?: unknown): Promise<unknown> =>
    (await session.send(callOf(endpoint, [], query, body))).data;
  return {
    glance: async () => {
      const [clock, inbox, faults] = await Promise.all([
        ask(contract.clock.show),
        ask(contract.inbox.list, { limit: SHOWN_MAILS }),
        ask(contract.faults.list),
      ]);
      const { data, pagination } = inbox as { data: CapturedMail[]; pagination: { total: number } };
      return { clock: clock as ClockState, mails: data, total: pagination.total, faults: (faults as { data: unknown[] }).data.length };
    },
    toggleClock: async (frozen) => {
      await (frozen ? ask(contract.clock.thaw) : ask(contract.clock.freeze, {}, {}));
      return frozen ? "The clock runs." : "The clock stands still.";
    },
    nextTimer: async () => `Next timer: ${firedText((await ask(contract.clock.next)) as ClockState)}.`,
    advance: async (by) => `Forward ${by}: ${firedText((await ask(contract.clock.advance, {}, { by })) as ClockState)}.`,
    reset: async () => {
      await ask(contract.world.reset);
      return "Everything is as it was at the start.";
    },
    explain: (error) => failureOf(error).message,
  };
}

function firedText(state: ClockState): string {
  const [first] = state.fired;
  if (!first) return "nothing was due";
  return state.fired.length === 1 ? `ran ${first.name}` : `ran ${state.fired.length} timers, first ${first.name}`;
}
