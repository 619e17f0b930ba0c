import type { Tx } from "../db/db.ts";
import { DAY, HOUR } from "../lib/units.ts";
import type { JobHandler } from "../queue/queue.ts";
import type { SenderDeps } from "./deps.ts";
import { lookForRecord, type RecordLook } from "./dns.ts";

/*
 * The record of a verified domain. The domain stays verified: people who tidy their DNS must not lose mail by that.
 *
 * | record  | is found | is missing                                | no name server answers |
 * | ------- | -------- | ----------------------------------------- | ---------------------- |
 * | there   | –        | missing, and the operator's log has a warning | –                  |
 * | missing | there    | –                                         | –                      |
 */

/** What is stored of the looks for the record of a domain. */
export interface CheckState {
  readonly checkedAt: number | null;
  readonly failingSince: number | null;
  readonly lastError: string | null;
}

/** A verified domain, sender or inbound, whose record is looked for. */
export interface CheckedDomain extends CheckState {
  readonly id: string;
  readonly workspaceId: string;
  readonly value: string;
  readonly token: string;
}

/** Where verified domains are kept. */
export interface CheckedDomains {
  /** Those whose record was last looked for before `since`, or `missingSince` if it is missing; at most `limit`, the longest unseen first. */
  findDue(due: { readonly since: number; readonly missingSince: number; readonly limit: number }): Promise<readonly CheckedDomain[]>;
  save(tx: Tx, id: string, state: CheckState): Promise<void>;
}

// Less than a day and an hour, so that no domain is left out because a run came some minutes early.
const DUE_AFTER = DAY - HOUR;
const MISSING_DUE_AFTER = HOUR / 2;
const AT_ONCE = 10;
const LIMIT = 100;

/** The state of a domain after a look for its record. */
export function judgeLook(before: Pick<CheckState, "failingSince">, { fault, answered }: RecordLook, now: number): CheckState {
  const failingSince = fault === null ? null : answered ? (before.failingSince ?? now) : before.failingSince;
  return { checkedAt: now, failingSince, lastError: fault };
}

/** Looks for the records of verified domains, each once a day, and once an hour while it is missing. */
export function recheckDomains(deps: Pick<SenderDeps, "clock" | "dns" | "log">, domains: CheckedDomains): JobHandler {
  return async () => {
    const now = deps.clock.now();
    const due = await domains.findDue({ since: now - DUE_AFTER, missingSince: now - MISSING_DUE_AFTER, limit: LIMIT });
    const looks: { readonly row: CheckedDomain; readonly state: CheckState }[] = [];
    for (let from = 0; from < due.length; from += AT_ONCE)
      looks.push(
        ...(await Promise.all(
          due.slice(from, from + AT_ONCE).map(async (row) => ({ row, state: judgeLook(row, await lookForRecord(deps, row), now) })),
        )),
      );
    const next = due.length === LIMIT ? now + 1 : looks.some(({ state }) => state.failingSince !== null) ? now + HOUR : now + DAY;
    return {
      commit: async (tx) => {
        for (const { row, state } of looks) await domains.save(tx, row.id, state);
        tx.afterCommit(() => {
          for (const look of looks) warn(deps, look);
        });
      },
      again: next,
    };
  };
}

function warn({ log }: Pick<SenderDeps, "log">, { row, state }: { readonly row: CheckedDomain; readonly state: CheckState }): void {
  const { id, workspaceId } = row;
  if (row.failingSince === null && state.failingSince !== null)
    log.warn("the DNS record of a verified domain is missing", { id, workspaceId, reason: state.lastError });
  if (row.failingSince !== null && state.failingSince === null)
    log.info("the DNS record of a verified domain is back", { id, workspaceId });
}
