import { and, asc, eq, inArray, isNull, lte, type SQL, sql } from "drizzle-orm";
import type { Tx } from "../db/db.ts";
import { isListed, type ListingRow, listingById } from "../marketplace/listings/store.ts";
import type { Tables } from "../schema.ts";
import { LIMIT_MS } from "./retry-policy.ts";

export type EventRow = Tables["agentEvents"]["$inferSelect"];

/** What it takes to deliver an event. */
export type OpenEvent = Pick<EventRow, "id" | "activationId" | "type" | "at" | "body" | "sealed" | "attempts" | "tries" | "dueAt">;

/** The next event of an activation, in the hands of one worker. */
export interface Job {
  readonly activationId: string;
  readonly listing: ListingRow;
  readonly event: OpenEvent;
  readonly held: boolean;
  /** Whoever has taken the lane since has another one. */
  readonly claim: string;
  /** The end of the lease. */
  readonly until: number;
}

/** What a claim found: work, and when there is more (ms; null for never). */
export interface Claimed {
  readonly jobs: Job[];
  readonly nextAt: number | null;
}

/** How long a worker keeps what it has, if nobody finds out sooner that it died; an attempt takes 8 s at most. */
export const LEASE_MS = 30_000;

/** What marks the lanes a process takes at a time. */
export function claimOf(owner: string, n: number): string {
  return `${owner}.${n}`;
}

/** The name of the process whose claim it is. */
export function ownerOf(claim: string): string {
  return claim.slice(0, claim.lastIndexOf("."));
}

// What an attempt may take, and as much again for clocks that differ.
const ATTEMPT_MS = 2 * LIMIT_MS;

/** What still goes out to a webhook that was given up. */
const WHILE_HELD = ["agent.paused", "agent.deactivated"] as const;

const ph = sql.placeholder;

/** Takes the events that are due for a listing's webhook, one of each activation: `limit` of them at most, longest due first. */
export async function claimLanes(tx: Tx, listingId: string, now: number, limit: number, claim: string): Promise<Claimed> {
  const listing = await listingById(tx, listingId);
  if (!listing) return { jobs: [], nextAt: null };
  const lanes = await takeLanes(tx, listingId, now, limit, claim);
  if (lanes.length === 0) return { jobs: [], nextAt: await nextDue(tx, listingId) };
  const next = new Map((await heads(tx, listingId, claim, now)).map((event) => [event.activationId, event]));
  const listed = isListed(listing, now);
  const jobs: Job[] = [];
  for (const { activationId, period, held } of lanes) {
    // The listing has ended: what it had to say before is moot, and must not be said.
    const ended = !listed || period !== listing.period;
    const event = ended || held ? await headAmong(tx, activationId, ended ? ["agent.deactivated"] : WHILE_HELD) : next.get(activationId);
    const due = event?.dueAt ?? null;
    if (event && due !== null && due <= now) jobs.push({ activationId, listing, event, held, claim, until: now + LEASE_MS });
    else await setLane(tx, activationId, null, due);
  }
  return { jobs, nextAt: lanes.length === limit ? now : await nextDue(tx, listingId) };
}

/** What follows in a lane: work, or when it is due next (ms; null when nothing waits, or somebody else has it by now). */
export interface Following {
  readonly next: Job | null;
  readonly dueAt: number | null;
}

/**
 * Goes on in lanes that were taken: where the event of a job has arrived (`goesOn`) with the next one, if that is due and the lease
 * lasts; all others are given back. `listingOf` tells how a listing stands now.
 */
export async function followLanes(
  tx: Tx,
  jobs: readonly Job[],
  goesOn: (job: Job) => boolean,
  now: number,
  listingOf: (id: string) => Promise<ListingRow | undefined>,
): Promise<Map<Job, Following>> {
  const going = jobs.filter((job) => goesOn(job) && now < job.until - ATTEMPT_MS);
  const heads = new Map((going.length === 0 ? [] : await nextEvents(tx, going)).map((head) => [head.activationId, head]));
  const following = new Map<Job, Following>();
  for (const job of going) {
    const head = heads.get(job.activationId);
    if (head?.claim !== job.claim || head.dueAt === null || head.dueAt > now) continue;
    const listing = await listingOf(job.listing.id);
    if (!listing || listing.period !== job.listing.period || !isListed(listing, now)) continue;
    const { claim, ...event } = head;
    following.set(job, { next: { ...job, listing, event }, dueAt: null });
  }
  const left = jobs.filter((job) => !following.has(job));
  const due = left.length === 0 ? null : await releaseLanes(tx, left);
  for (const job of left) following.set(job, { next: null, dueAt: due?.get(job.activationId) ?? null });
  return following;
}

/** Marks the webhook of an activation as given up. */
export async function holdLane(tx: Tx, activationId: string): Promise<void> {
  await tx.update(tx.t.deliveryLanes).set({ held: true }).where(eq(tx.t.deliveryLanes.activationId, activationId));
}

/** Has a lane looked at now; a worker that has it does so by itself. */
export async function lookAtLane(tx: Tx, activationId: string, now: number): Promise<void> {
  const { deliveryLanes: l } = tx.t;
  await tx
    .update(l)
    .set({ dueAt: now })
    .where(and(eq(l.activationId, activationId), isNull(l.claim)));
}

/** Marks the lanes that are due as ours, those that wait longest first. */
function takeLanes(tx: Tx, listingId: string, now: number, limit: number, claim: string) {
  return tx
    .prepared("take_lanes", (q, { deliveryLanes: l }) =>
      q
        .update(l)
        .set({ claim: sql`${ph("claim")}`, dueAt: sql`${ph("until")}` })
        .where(
          inArray(
            l.activationId,
            tx.sqlDialect.passingLocked(
              q
                .select({ activationId: l.activationId })
                .from(l)
                .where(and(eq(l.listingId, ph("listingId")), lte(l.dueAt, ph("now"))))
                .orderBy(asc(l.dueAt))
                .limit(ph("limit")),
            ),
          ),
        )
        .returning({ activationId: l.activationId, period: l.period, held: l.held })
        .prepare("take_lanes"),
    )
    .execute({ listingId, now, limit, claim, until: now + LEASE_MS });
}

function openColumns(e: Tables["agentEvents"]) {
  return {
    id: e.id,
    activationId: e.activationId,
    type: e.type,
    at: e.at,
    body: e.body,
    sealed: e.sealed,
    attempts: e.attempts,
    tries: e.tries,
    dueAt: e.dueAt,
  };
}

/** True of the first event of a lane that is still open. */
function isHead(e: Tables["agentEvents"], l: Tables["deliveryLanes"]): SQL | undefined {
  return and(
    isNull(e.settledAt),
    sql`${e.sequence} = (select min(x.sequence) from ${e} as x where x.activation_id = ${l.activationId} and x.settled_at is null)`,
  );
}

/** The next event of each lane of a claim, in one query. */
function heads(tx: Tx, listingId: string, claim: string, now: number): Promise<OpenEvent[]> {
  return tx
    .prepared("lane_heads", (q, { agentEvents: e, deliveryLanes: l }) =>
      q
        .select(openColumns(e))
        .from(l)
        .innerJoin(e, eq(e.activationId, l.activationId))
        .where(and(eq(l.listingId, ph("listingId")), eq(l.dueAt, ph("until")), eq(l.claim, ph("claim")), isHead(e, l)))
        .prepare("lane_heads"),
    )
    .execute({ listingId, claim, until: now + LEASE_MS });
}

async function headAmong(tx: Tx, activationId: string, types: readonly EventRow["type"][]): Promise<OpenEvent | undefined> {
  const { agentEvents: e } = tx.t;
  const [row] = await tx
    .select(openColumns(e))
    .from(e)
    .where(and(eq(e.activationId, activationId), isNull(e.settledAt), inArray(e.type, [...types])))
    .orderBy(asc(e.sequence))
    .limit(1);
  return row;
}

async function setLane(tx: Tx, activationId: string, claim: string | null, dueAt: number | null): Promise<void> {
  await tx
    .prepared("set_lane", (q, { deliveryLanes: l }) =>
      q
        .update(l)
        .set({ claim: sql`${ph("claim")}`, dueAt: sql`${ph("dueAt")}` })
        .where(eq(l.activationId, ph("activationId")))
        .prepare("set_lane"),
    )
    .execute({ activationId, claim, dueAt });
}

async function nextDue(tx: Tx, listingId: string): Promise<number | null> {
  const [row] = await tx
    .prepared("next_lane", (q, { deliveryLanes: l }) =>
      q
        .select({ dueAt: l.dueAt })
        .from(l)
        // The first condition lets the index of waiting lanes be used.
        .where(and(eq(l.listingId, ph("listingId")), sql`${l.dueAt} is not null`, isNull(l.claim)))
        .orderBy(asc(l.dueAt))
        .limit(1)
        .prepare("next_lane"),
    )
    .execute({ listingId });
  return row?.dueAt ?? null;
}

/** The next events of lanes, in one query, with whose the lane is. */
function nextEvents(tx: Tx, jobs: readonly Job[]): Promise<(OpenEvent & { claim: string | null })[]> {
  return tx
    .prepared("next_events", (q, { agentEvents: e, deliveryLanes: l }) =>
      q
        .select({ ...openColumns(e), claim: l.claim })
        .from(l)
        .innerJoin(e, eq(e.activationId, l.activationId))
        .where(and(tx.sqlDialect.among(l.activationId, ph("activationIds")), isHead(e, l)))
        .prepare("next_events"),
    )
    .execute({ activationIds: JSON.stringify(jobs.map(({ activationId }) => activationId)) });
}

/** Gives lanes back: each is due when its next event is. Answers when that is, by activation; null when nothing waits. */
async function releaseLanes(tx: Tx, jobs: readonly Job[]): Promise<Map<string, number | null>> {
  const rows = await tx
    .prepared("release_lanes", (q, { deliveryLanes: l, agentEvents: e }) =>
      q
        .update(l)
        .set({
          claim: null,
          dueAt: sql`(select ${e.dueAt} from ${e} where ${e.activationId} = ${l.activationId} and ${e.settledAt} is null
            and (${eq(l.held, false)} or ${inArray(e.type, [...WHILE_HELD])}) order by ${e.sequence} limit 1)`,
        })
        // Only what is still ours: both together, since a claim is that of many lanes.
        .where(
          and(
            tx.sqlDialect.among(l.activationId, ph("activationIds")),
            tx.sqlDialect.among(sql`(${l.claim} || ' ' || ${l.activationId})`, ph("claims")),
          ),
        )
        .returning({ activationId: l.activationId, dueAt: l.dueAt })
        .prepare("release_lanes"),
    )
    .execute({
      activationIds: JSON.stringify(jobs.map(({ activationId }) => activationId)),
      claims: JSON.stringify(jobs.map(({ activationId, claim }) => `${claim} ${activationId}`)),
    });
  return new Map(rows.map(({ activationId, dueAt }) => [activationId, dueAt]));
}
