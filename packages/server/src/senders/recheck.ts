import type { Tx } from "../db/db.ts";
import { recordEvents } from "../events/events.ts";
import { iso } from "../lib/clock.ts";
import { DAY, HOUR } from "../lib/units.ts";
import type { JobHandler } from "../queue/queue.ts";
import type { RecordLook } from "./dns.ts";
import type { SenderDeps } from "./senders.ts";

/*
 * The records of a verified domain. The domain stays verified: people who tidy their DNS must not lose mail by that.
 *
 * | records | are found                   | one is missing                            | no name server answers |
 * | ------- | --------------------------- | ----------------------------------------- | ---------------------- |
 * | there   | –                           | missing, and the operator's log has a warning | –                  |
 * | missing | there                       | after a day: reported, with an event      | the same               |
 * | reported | there, with an event       | –                                         | –                      |
 */

/** Stored results of the checks of a domain's records. */
interface CheckState {
  readonly checkedAt: number | null;
  readonly failingSince: number | null;
  readonly lastError: string | null;
}

/** A verified domain, sender or inbound, whose records are looked for. */
interface CheckedDomain extends CheckState {
  readonly id: string;
  readonly workspaceId: string;
  readonly value: string;
  readonly token: string;
}

/** Store of verified domains. */
export interface CheckedDomains {
  /** Field of an event that holds the id of a domain. */
  readonly idName: "senderId" | "inboundDomainId";
  /**
   * Finds domains whose records were last checked before `since`, or `missingSince` if one is missing; at most `limit`, those
   * checked longest ago first.
   */
  findDue(due: { readonly since: number; readonly missingSince: number; readonly limit: number }): Promise<readonly CheckedDomain[]>;
  /** A domain as it is now; null if it was removed. */
  find(tx: Tx, id: string): Promise<CheckedDomain | null>;
  /** Looks for the records of a domain. */
  look(domain: CheckedDomain): Promise<RecordLook>;
  save(tx: Tx, id: string, state: CheckState): Promise<void>;
}

type RecheckDeps = Pick<SenderDeps, "clock" | "eventListeners" | "eventStream" | "log">;

// Less than a day and an hour, so that no domain is left out because a run came some minutes early.
const DUE_AFTER = DAY - HOUR;
const MISSING_DUE_AFTER = HOUR / 2;
// Time for which a record has to be missing until its owner is told: name servers make mistakes, and correct them.
const REPORTED_AFTER = DAY;
const AT_ONCE = 10;
const LIMIT = 100;

/** Looks for the records of verified domains, each once a day, and once an hour while one is missing. */
export function recheckDomains(deps: RecheckDeps, domains: CheckedDomains): JobHandler {
  return async () => {
    const now = deps.clock.now();
    const due = await domains.findDue({ since: now - DUE_AFTER, missingSince: now - MISSING_DUE_AFTER, limit: LIMIT });
    const looks: { readonly row: CheckedDomain; readonly look: RecordLook }[] = [];
    for (let from = 0; from < due.length; from += AT_ONCE)
      looks.push(...(await Promise.all(due.slice(from, from + AT_ONCE).map(async (row) => ({ row, look: await domains.look(row) })))));
    const isMissing = looks.some(({ row, look }) => judgeLook(row, look, now).failingSince !== null);
    return {
      commit: async (tx) => {
        for (const { row, look } of looks) {
          // It may have been removed, or looked at, while the name servers were asked.
          const before = await domains.find(tx, row.id);
          if (before !== null) await storeLook(tx, deps, domains, before, look);
        }
      },
      again: due.length === LIMIT ? now + 1 : isMissing ? now + HOUR : now + DAY,
    };
  };
}

/** Stores what a look for the records of a verified domain found, and tells the operator's log and those who follow events. */
export async function storeLook(
  tx: Tx,
  deps: RecheckDeps,
  domains: Pick<CheckedDomains, "idName" | "save">,
  before: CheckedDomain,
  look: RecordLook,
): Promise<CheckState> {
  const state = judgeLook(before, look, deps.clock.now());
  await domains.save(tx, before.id, state);
  await report(tx, deps, domains, before, state);
  tx.afterCommit(() => warn(deps, before, state));
  return state;
}

/** The state of a domain after a look for its records. */
function judgeLook(before: Pick<CheckState, "failingSince">, { fault, answered }: RecordLook, now: number): CheckState {
  const failingSince = fault === null ? null : answered ? (before.failingSince ?? now) : before.failingSince;
  return { checkedAt: now, failingSince, lastError: fault };
}

/** Records an event once a record has been missing for a day, and one when it is back. */
async function report(
  tx: Tx,
  deps: RecheckDeps,
  { idName }: Pick<CheckedDomains, "idName">,
  before: CheckedDomain,
  after: CheckState,
): Promise<void> {
  const { id, workspaceId, value: domain } = before;
  const at = deps.clock.now();
  const about = { [idName]: id, domain };
  if (before.failingSince !== null && after.failingSince === null && isReported(before)) {
    const data = { ...about, failingSince: iso(before.failingSince) };
    await recordEvents(tx, deps, [{ workspaceId, type: "domain.record_restored", at, data }]);
  }
  if (after.failingSince !== null && isReported(after) && !isReported(before)) {
    const data = { ...about, failingSince: iso(after.failingSince), reason: after.lastError };
    await recordEvents(tx, deps, [{ workspaceId, type: "domain.record_missing", at, data }]);
  }
}

/** True if an event has reported that a record is missing: at the first check a day after the one that missed it. */
function isReported({ checkedAt, failingSince }: CheckState): boolean {
  return checkedAt !== null && failingSince !== null && checkedAt - failingSince >= REPORTED_AFTER;
}

function warn({ log }: Pick<SenderDeps, "log">, before: CheckedDomain, after: CheckState): void {
  const { id, workspaceId } = before;
  if (before.failingSince === null && after.failingSince !== null)
    log.warn("the DNS record of a verified domain is missing", { id, workspaceId, reason: after.lastError });
  if (before.failingSince !== null && after.failingSince === null)
    log.info("the DNS record of a verified domain is back", { id, workspaceId });
}
