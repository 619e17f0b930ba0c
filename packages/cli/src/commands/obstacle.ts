import { type ClockState, contract, type MailsvcContract, type Output, type QueueStatus } from "@mailsvc/sdk/contract";
import { buildCall } from "../runtime/request.ts";
import { safeText } from "../text/safe-text.ts";
import { formatInstant } from "../text/units.ts";
import type { Session } from "../types.ts";

/** Reason mail waits, and the command that resumes it. */
interface Obstacle {
  readonly reason: string;
  readonly next: string;
}

/**
 * Finds what keeps mail to these addresses from leaving, or all mail with `null`: a pause, a held domain, a fault of the
 * relay, a frozen clock. Null when nothing is known; holds are known with the operator key only. Never throws, because it explains
 * another result.
 */
export async function findObstacle(session: Session, recipients: readonly string[] | null): Promise<Obstacle | null> {
  try {
    const { server } = (await session.send(buildCall(contract.me.get, [], {}, undefined))).data as Output<MailsvcContract["me"]["get"]>;
    if (server.pausedAt !== null)
      return { reason: `All sending is paused since ${formatInstant(server.pausedAt)}.`, next: "mailsvc queue resume" };
    const held = await findHold(session, recipients);
    if (held) return { reason: `Mail to ${safeText(held)} is held.`, next: `mailsvc queue release --domain ${safeText(held)}` };
    if (server.mailerFault !== null) return { reason: safeText(server.mailerFault), next: "mailsvc doctor" };
    const frozen = server.dev ? await findFrozenTime(session) : null;
    return frozen === null
      ? null
      : { reason: `The clock is frozen at ${formatInstant(frozen)}: what is due later waits.`, next: "mailsvc clock thaw" };
  } catch {
    return null;
  }
}

/** The sentence of an obstacle for people. */
export function formatObstacle({ reason, next }: Obstacle): string {
  return `${reason} Go on with: ${next}`;
}

async function findHold(session: Session, recipients: readonly string[] | null): Promise<string | null> {
  if (session.settings().operatorKey === undefined) return null;
  const { holds } = (await session.send(buildCall(contract.queue.status, [], {}, undefined))).data as QueueStatus;
  const domains = recipients && new Set(recipients.map((address) => address.slice(address.lastIndexOf("@") + 1).toLowerCase()));
  return holds.find(({ domain }) => domains === null || domains.has(domain))?.domain ?? null;
}

async function findFrozenTime(session: Session): Promise<string | null> {
  const { mode, now } = (await session.send(buildCall(contract.clock.show, [], {}, undefined))).data as ClockState;
  return mode === "frozen" ? now : null;
}
