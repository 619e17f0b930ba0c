import { type AutomationStep, durationMs } from "@mailsvc/sdk/contract";
import type { Universe } from "../universe.ts";

/**
 * Says which entries of automations did not go along the connections of their version, ended on their way, did not wait long enough, or
 * waited on although what they waited for had happened.
 */
export async function findWrongWays({ world, ledger, script }: Universe): Promise<string[]> {
  const { read } = world.app.deps.db;
  // A server that is dead or has no place, or a pause whose answer was lost, can keep an entry where it is.
  const isLate = script.steps.some((step) => step.do === "disturb" && /^(month|fullDisk|faults|kill)/.test(step.by));
  const versions = new Map((await read.select().from(read.t.automationVersions)).map((row) => [`${row.automationId} ${row.version}`, row]));
  const tracked = (await read.select().from(read.t.events)).filter(({ type }) => type === "contact.tracked");
  const moves = Map.groupBy(await read.select().from(read.t.automationMoves), ({ entryId }) => entryId);
  return (await read.select().from(read.t.automationEntries)).flatMap((entry) => {
    const version = versions.get(`${entry.automationId} ${entry.version}`);
    const path = (moves.get(entry.id) ?? []).sort((one, other) => one.move - other.move);
    if (!version || path.length === 0) return [];
    const { steps, connections } = version;
    const leads = (from: string, branch: string | null): readonly string[] =>
      connections.flatMap((one) => (one.from === from && (branch === null || one.branch === branch) ? one.to : []));
    const found = path.flatMap(({ stepId, at, branch }, i) => {
      const next = path[i + 1];
      if (next === undefined) return [];
      if (!leads(stepId, branch).includes(next.stepId))
        return [`The entry ${entry.id} went from ${stepId} to ${next.stepId}, which are not connected.`];
      const wasPaused = ledger.stops.some(
        ({ what, from, until }) => what === entry.automationId && from.at < next.at && (until === null || until.at > at),
      );
      const awaited = awaitedAt(steps, stepId);
      const met = tracked
        .filter((one) => one.contactId === entry.contactId && one.data?.["name"] === awaited && one.at > at && !isPast(one))
        .map((one) => one.at + LATE_MS);
      if (branch === "event" && next.at >= Math.min(...met, at + timeoutOf(steps, stepId)) && !wasPaused && !isLate)
        return [`The entry ${entry.id} stayed at ${stepId} after the event that it waits for had happened.`];
      const [waited, wait] = [next.at - at, waitOf(steps, stepId)];
      // A wait of a minute or more ends with a full second.
      const least = wait < 60_000 ? wait : wait - 999;
      return waited < least ? [`The entry ${entry.id} was at the delay ${stepId} for ${waited} ms.`] : [];
    });
    const last = path.at(-1);
    const isCut = entry.status === "COMPLETED" && entry.goalReachedAt === null && last && leads(last.stepId, last.branch).length > 0;
    return isCut ? [...found, `The entry ${entry.id} is completed, and stands at ${last.stepId}, which leads on.`] : found;
  });
}

function timeoutOf(steps: readonly AutomationStep[], id: string): number {
  const step = steps.find((one) => one.id === id);
  return step?.type === "wait_for_event" && step.timeout !== undefined ? durationMs(step.timeout) : Number.POSITIVE_INFINITY;
}

// An entry goes on as soon as the event is read.
const LATE_MS = 60_000;

/** True for an event that was tracked later than it happened. */
const isPast = ({ data }: { readonly data: Readonly<Record<string, unknown>> | null }): boolean =>
  (data?.["properties"] as { readonly batch?: string } | undefined)?.batch !== undefined;

/** The name of the event that a step waits for; undefined for another step. */
function awaitedAt(steps: readonly AutomationStep[], id: string): string | undefined {
  const step = steps.find((one) => one.id === id);
  return step?.type === "wait_for_event" && step.event.type === "event" ? step.event.name : undefined;
}

function waitOf(steps: readonly AutomationStep[], id: string): number {
  const step = steps.find((one) => one.id === id);
  return step?.type === "delay" ? durationMs(step.for) : 0;
}
