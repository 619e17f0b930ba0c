import { and, asc, eq, gt, inArray, isNotNull, isNull, lte, not, or, type SQL, sql } from "drizzle-orm";
import type { Db, Tx } from "../db/db.ts";
import { ATTEMPT_TIMEOUT_MS } from "./attempt.ts";
import type { ComposedEvent, Endpoint, WebhookPolicy } from "./endpoint.ts";
import type { OutboxName, WebhookTables } from "./tables.ts";

export type EventRow = WebhookTables["webhookEvents"]["$inferSelect"];

/** Fields of an event that its delivery needs. */
export interface OpenEvent
  extends Pick<
    EventRow,
    "id" | "streamId" | "type" | "at" | "eventKey" | "body" | "sealed" | "attempts" | "tries" | "dueAt" | "traceparent"
  > {
  /** The bytes of an event that are not stored, once they are made, and when that was: real time, ms. */
  composed?: (ComposedEvent & { readonly at: number }) | undefined;
}

/** The next event of a stream, claimed by one worker. */
export interface Job {
  readonly endpoint: Endpoint;
  readonly event: OpenEvent;
  /** Events after it in the stream that are due and were claimed with it. */
  readonly rest: readonly OpenEvent[];
  readonly held: boolean;
  /** Another worker that claims the stream later has another claim. */
  readonly claim: string;
  readonly leaseEndsAt: number;
}

/** Result of a claim: jobs, and the time at which the endpoint has more (ms; null for never). */
export interface Claimed {
  readonly jobs: Job[];
  readonly nextAt: number | null;
}

/**
 * Continuation of a stream: its next job, or the time at which it is due next (ms; null if nothing waits, or another worker has
 * it).
 */
export interface Continuation {
  readonly next: Job | null;
  readonly dueAt: number | null;
}

/** Finds an endpoint in the transaction of a batch, each once. */
export type FindEndpoint = (endpointId: string) => Promise<Endpoint | undefined>;

/** Time for which a worker keeps a claim if its death is not noticed sooner; an attempt takes 8 s at most. */
export const LEASE_MS = 30_000;

// Time limit of an attempt, and as much again for clocks that differ.
const ATTEMPT_MARGIN_MS = 2 * ATTEMPT_TIMEOUT_MS;

// Streams taken over in one transaction: a few ms of work, during which other writers wait.
const TAKEOVER_CHUNK = 256;

/** The claim of the streams that a worker takes in its n-th transaction. */
export function toClaim(worker: string, n: number): string {
  return `${worker}.${n}`;
}

const OUTBOXES: readonly OutboxName[] = ["webhookEvents", "webhookDeliveries"];

/** The names of a statement, one for each outbox. */
export function nameStatement(name: string): Readonly<Record<OutboxName, string>> {
  return { webhookEvents: name, webhookDeliveries: `${name}_to_developers` };
}

const CLAIMED_HEADS = nameStatement("claimed_heads");
const STREAM_HEADS = nameStatement("stream_heads");
const UNCLAIM_STREAMS = nameStatement("unclaim_streams");

/** Claims streams of an endpoint that are due, `limit` of them at most, the longest due first. */
export async function claimStreams(tx: Tx, endpoint: Endpoint | undefined, now: number, limit: number, claim: string): Promise<Claimed> {
  if (!endpoint) return { jobs: [], nextAt: null };
  const streams = await takeStreams(tx, endpoint.id, now, limit, claim);
  if (streams.length === 0) return { jobs: [], nextAt: await findNextDue(tx, endpoint.id) };
  const interrupted = streams.filter((stream) => stream.interrupted).map(({ streamId }) => streamId);
  if (interrupted.length > 0) await countInterrupted(tx, endpoint.policy.outbox, interrupted);
  const heads = Map.groupBy(await listClaimedHeads(tx, endpoint, claim, now), ({ streamId }) => streamId);
  const jobs: Job[] = [];
  for (const { streamId, held } of streams) {
    const [event, ...rest] = heads.get(streamId) ?? [];
    const dueAt = event?.dueAt ?? null;
    if (event && dueAt !== null && dueAt <= now) jobs.push({ endpoint, event, rest, held, claim, leaseEndsAt: now + LEASE_MS });
    else await unclaimStream(tx, streamId, dueAt);
  }
  return { jobs, nextAt: streams.length === limit ? now : await findNextDue(tx, endpoint.id) };
}

/**
 * Continues claimed streams: where a job was delivered (`goesOn`) with the next event, if that is due and the lease lasts long
 * enough. The other streams are released.
 */
export async function continueStreams(
  tx: Tx,
  jobs: readonly Job[],
  goesOn: (job: Job) => boolean,
  now: number,
  findEndpoint: FindEndpoint,
): Promise<Map<Job, Continuation>> {
  const going = jobs.filter((job) => goesOn(job) && canContinue(job, now));
  const heads = await listHeads(tx, going);
  const continuations = new Map<Job, Continuation>();
  for (const job of going) {
    const [event, ...rest] = heads.get(job) ?? [];
    const dueAt = event?.dueAt ?? null;
    if (!event || dueAt === null || dueAt > now) continue;
    const endpoint = await findEndpoint(job.endpoint.id);
    if (endpoint) continuations.set(job, { next: { ...job, endpoint, event, rest }, dueAt: null });
  }
  const left = jobs.filter((job) => !continuations.has(job));
  const due = await unclaimStreams(tx, left);
  for (const job of left) continuations.set(job, { next: null, dueAt: due.get(job.event.streamId) ?? null });
  return continuations;
}

/** True if a claim lasts long enough for another event. */
export function canContinue({ leaseEndsAt }: Job, now: number): boolean {
  return now < leaseEndsAt - ATTEMPT_MARGIN_MS;
}

/** Holds a stream: until `releaseStreams`, only events that pass a hold go out. */
export async function holdStream(tx: Tx, streamId: string): Promise<void> {
  await tx.update(tx.t.webhookStreams).set({ held: true }).where(eq(tx.t.webhookStreams.streamId, streamId));
}

/** Gives an event its own stream, so that the others of its stream do not wait for its next attempt. */
export async function moveAside(tx: Tx, { id, streamId }: OpenEvent, endpoint: Endpoint, dueAt: number | null): Promise<void> {
  const { [endpoint.policy.outbox]: e, webhookStreams: s } = tx.t;
  if (isAside(streamId)) return;
  const own = `${streamId}${ASIDE}${id}`;
  await tx.insert(s).values({ streamId: own, endpointId: endpoint.id, dueAt, claim: null, interrupted: false, held: false });
  await tx.update(e).set({ streamId: own }).where(eq(e.id, id));
}

// Separator between the name of a stream and the event that was moved out of it.
const ASIDE = "~";

/** Deletes those of these streams that were made for one event each: their events are gone. */
export async function deleteAsideStreams(tx: Tx, streamIds: readonly string[]): Promise<void> {
  const aside = streamIds.filter(isAside);
  if (aside.length > 0) await tx.delete(tx.t.webhookStreams).where(inArray(tx.t.webhookStreams.streamId, aside));
}

function isAside(streamId: string): boolean {
  return streamId.includes(ASIDE);
}

/**
 * Makes all waiting streams of an endpoint due now, with their next events. Streams that a worker has continue by themselves, and
 * an event that was moved aside keeps its time.
 */
export async function hurryStreams(tx: Tx, { id: endpointId, policy }: Pick<Endpoint, "id" | "policy">, now: number): Promise<void> {
  const { [policy.outbox]: e, webhookStreams: s } = tx.t;
  const aside = tx.sqlDialect.holds(s.streamId, ASIDE);
  const waiting = and(eq(s.endpointId, endpointId), gt(s.dueAt, now), isNull(s.claim), not(aside));
  const heads = tx
    .select({ id: e.id })
    .from(s)
    .innerJoin(e, eq(e.streamId, s.streamId))
    .where(and(waiting, isHead(e, s)));
  await tx.update(e).set({ dueAt: now }).where(inArray(e.id, heads));
  await tx.update(s).set({ dueAt: now }).where(waiting);
}

/** Answers of an endpoint that is down or overloaded, besides none at all. */
const OUTAGE = [408, 429, 502, 503, 504];

/**
 * Makes what waits for its next attempt due now because its endpoint was down, which has just answered. An event that was refused for what
 * it is keeps its time: it would use up its attempts.
 */
export async function recoverStreams(tx: Tx, { id: endpointId }: Pick<Endpoint, "id">, now: number): Promise<number> {
  const { webhookEvents: e, webhookStreams: s } = tx.t;
  const down = and(isNotNull(e.lastClass), or(isNull(e.lastStatus), inArray(e.lastStatus, OUTAGE)));
  const heads = await tx
    .select({ id: e.id, streamId: s.streamId })
    .from(s)
    .innerJoin(e, eq(e.streamId, s.streamId))
    .where(and(eq(s.endpointId, endpointId), gt(s.dueAt, now), isNull(s.claim), isHead(e, s), down));
  for (const { id, streamId } of heads) {
    await tx.update(e).set({ dueAt: now }).where(eq(e.id, id));
    await tx
      .update(s)
      .set({ dueAt: now })
      .where(and(eq(s.streamId, streamId), isNull(s.claim)));
  }
  return heads.length;
}

/** Makes a stream due now, unless a worker has it, which continues by itself. */
export async function wakeStream(tx: Tx, streamId: string, now: number): Promise<void> {
  const { webhookStreams: s } = tx.t;
  await tx
    .update(s)
    .set({ dueAt: now })
    .where(and(eq(s.streamId, streamId), isNull(s.claim)));
}

/** Releases what dead workers had claimed, without waiting for the end of their leases. */
export async function takeOverStreams(db: Db, now: () => number, listLiveWorkers: () => Promise<readonly string[]>): Promise<void> {
  const { webhookStreams: s } = db.read.t;
  // Workers register before they claim, and stay registered until they have released: read the claims first.
  const rows = await db.read.select({ streamId: s.streamId, claim: s.claim }).from(s).where(isNotNull(s.claim));
  const live = new Set(await listLiveWorkers());
  const orphaned = rows.filter(({ claim }) => claim !== null && !live.has(getWorker(claim)));
  for (let i = 0; i < orphaned.length; i += TAKEOVER_CHUNK) {
    const chunk = orphaned.slice(i, i + TAKEOVER_CHUNK);
    await db.tx(async (tx) => {
      const released = await tx
        .update(s)
        .set({ claim: null, dueAt: now() })
        .where(
          and(
            inArray(
              s.streamId,
              chunk.map(({ streamId }) => streamId),
            ),
            inArray(s.claim, [...new Set(chunk.flatMap(({ claim }) => claim ?? []))]),
          ),
        )
        .returning({ streamId: s.streamId });
      // A stream has events in one of the tables.
      for (const outbox of OUTBOXES)
        await countInterrupted(
          tx,
          outbox,
          released.map(({ streamId }) => streamId),
        );
    });
  }
}

/** The name of the worker whose claim it is. */
function getWorker(claim: string): string {
  return claim.slice(0, claim.lastIndexOf("."));
}

/**
 * Counts the attempts that were under way at the next events of these streams when their worker died: the receiver may have got
 * them, so the next X-Service-Attempt is another number. They do not count for the retry schedule.
 */
async function countInterrupted(tx: Tx, outbox: OutboxName, streamIds: readonly string[]): Promise<void> {
  const { [outbox]: e, webhookStreams: s } = tx.t;
  const heads = tx
    .select({ id: e.id })
    .from(s)
    .innerJoin(e, eq(e.streamId, s.streamId))
    .where(and(inArray(s.streamId, [...streamIds]), isHead(e, s)));
  await tx
    .update(e)
    .set({ attempts: sql`${e.attempts} + 1` })
    .where(inArray(e.id, heads));
}

/** True of the first `n` open events of a stream; while it is held, of the first one that passes. */
function isAmongFirst(e: WebhookTables["webhookEvents"], s: WebhookTables["webhookStreams"], n: number): SQL | undefined {
  if (n === 1) return isHead(e, s);
  return and(
    isNull(e.settledAt),
    sql`${e.sequence} in (select x.sequence from ${e} as x where x.stream_id = ${s.streamId} and x.settled_at is null order by x.sequence limit ${sql.raw(String(n))})`,
  );
}

function takeStreams(tx: Tx, endpointId: string, now: number, limit: number, claim: string) {
  return tx
    .prepared("take_streams", (q, { webhookStreams: s }, arg) =>
      q
        .update(s)
        .set({ claim: sql`${arg("claim")}`, dueAt: sql`${arg("leaseEndsAt")}`, interrupted: sql`${s.claim} is not null` })
        .where(
          tx.sqlDialect.amongFound(s.streamId, [
            tx.sqlDialect.passingLocked(
              q
                .select({ streamId: s.streamId })
                .from(s)
                .where(and(eq(s.endpointId, arg("endpointId")), lte(s.dueAt, arg("now"))))
                .orderBy(asc(s.dueAt))
                .limit(arg("limit")),
            ),
          ]),
        )
        .returning({ streamId: s.streamId, held: s.held, interrupted: s.interrupted }),
    )
    .execute({ endpointId, now, limit, claim, leaseEndsAt: now + LEASE_MS });
}

function openColumns(e: WebhookTables["webhookEvents"]) {
  return {
    id: e.id,
    streamId: e.streamId,
    type: e.type,
    at: e.at,
    eventKey: e.eventKey,
    body: e.body,
    sealed: e.sealed,
    attempts: e.attempts,
    tries: e.tries,
    dueAt: e.dueAt,
    traceparent: e.traceparent,
  };
}

/** True of the next event of a stream, in a query of both: the first open one, or the first that passes while it is held. */
export function isHead(e: WebhookTables["webhookEvents"], s: WebhookTables["webhookStreams"]): SQL | undefined {
  return and(
    isNull(e.settledAt),
    sql`${e.sequence} = (select min(x.sequence) from ${e} as x where x.stream_id = ${s.streamId} and x.settled_at is null
      and (${eq(s.held, false)} or x.passes_hold))`,
  );
}

/** The next events of the streams of a claim, as many of each as the policy claims, in one query and in their order. */
function listClaimedHeads(tx: Tx, { id: endpointId, policy }: Endpoint, claim: string, now: number): Promise<OpenEvent[]> {
  const { outbox, claims } = policy;
  const name = CLAIMED_HEADS[outbox];
  return tx
    .prepared(name, (q, { [outbox]: e, webhookStreams: s }, arg) =>
      q
        .select(openColumns(e))
        .from(s)
        .innerJoin(e, eq(e.streamId, s.streamId))
        .where(
          and(eq(s.endpointId, arg("endpointId")), eq(s.dueAt, arg("leaseEndsAt")), eq(s.claim, arg("claim")), isAmongFirst(e, s, claims)),
        )
        .orderBy(asc(e.sequence)),
    )
    .execute({ endpointId, claim, leaseEndsAt: now + LEASE_MS });
}

async function unclaimStream(tx: Tx, streamId: string, dueAt: number | null): Promise<void> {
  await tx
    .prepared("unclaim_stream", (q, { webhookStreams: s }, arg) =>
      q
        .update(s)
        .set({ claim: null, dueAt: sql`${arg("dueAt")}` })
        .where(eq(s.streamId, arg("streamId"))),
    )
    .execute({ streamId, dueAt });
}

async function findNextDue(tx: Tx, endpointId: string): Promise<number | null> {
  const [row] = await tx
    .prepared("next_stream", (q, { webhookStreams: s }, arg) =>
      q
        .select({ dueAt: s.dueAt })
        .from(s)
        // The second condition lets the partial index be used.
        .where(and(eq(s.endpointId, arg("endpointId")), isNotNull(s.dueAt), isNull(s.claim)))
        .orderBy(asc(s.dueAt))
        .limit(1),
    )
    .execute({ endpointId });
  return row?.dueAt ?? null;
}

/** The next events of the streams of these jobs that are still claimed by them: one query for each kind of webhook. */
async function listHeads(tx: Tx, jobs: readonly Job[]): Promise<Map<Job, OpenEvent[]>> {
  const heads = new Map<Job, OpenEvent[]>();
  for (const [{ outbox, claims }, some] of groupByPolicy(jobs)) {
    const name = STREAM_HEADS[outbox];
    const rows = await tx
      .prepared(name, (q, { [outbox]: e, webhookStreams: s }, arg) =>
        q
          .select({ ...openColumns(e), claim: s.claim })
          .from(s)
          .innerJoin(e, eq(e.streamId, s.streamId))
          .where(and(tx.sqlDialect.among(s.streamId, arg("streamIds")), isAmongFirst(e, s, claims)))
          .orderBy(asc(e.sequence)),
      )
      .execute({ streamIds: JSON.stringify(some.map(({ event }) => event.streamId)) });
    const byStream = Map.groupBy(rows, ({ streamId }) => streamId);
    for (const job of some)
      heads.set(
        job,
        (byStream.get(job.event.streamId) ?? []).filter(({ claim }) => claim === job.claim),
      );
  }
  return heads;
}

/** Releases claimed streams: each is due when its next event is. Returns when that is; null when nothing waits. */
async function unclaimStreams(tx: Tx, jobs: readonly Job[]): Promise<Map<string, number | null>> {
  const due = new Map<string, number | null>();
  for (const [{ outbox }, some] of groupByPolicy(jobs)) {
    const name = UNCLAIM_STREAMS[outbox];
    const rows = await tx
      .prepared(name, (q, { webhookStreams: s, [outbox]: e }, arg) =>
        q
          .update(s)
          .set({
            claim: null,
            dueAt: sql`(select ${e.dueAt} from ${e} where ${e.streamId} = ${s.streamId} and ${e.settledAt} is null
            and (${eq(s.held, false)} or ${eq(e.passesHold, true)}) order by ${e.sequence} limit 1)`,
          })
          // Only streams that are still ours. A claim is that of many streams, so both are compared together.
          .where(
            and(
              tx.sqlDialect.among(s.streamId, arg("streamIds")),
              tx.sqlDialect.among(sql`(${s.claim} || ' ' || ${s.streamId})`, arg("claims")),
            ),
          )
          .returning({ streamId: s.streamId, dueAt: s.dueAt }),
      )
      .execute({
        streamIds: JSON.stringify(some.map(({ event }) => event.streamId)),
        claims: JSON.stringify(some.map(({ event, claim }) => `${claim} ${event.streamId}`)),
      });
    for (const { streamId, dueAt } of rows) due.set(streamId, dueAt);
  }
  return due;
}

/** Jobs by what decides their statements: the table of their events, and how many of a stream are claimed. */
function groupByPolicy(jobs: readonly Job[]): [Pick<WebhookPolicy, "outbox" | "claims">, Job[]][] {
  const groups = Map.groupBy(jobs, ({ endpoint }) => endpoint.policy.outbox);
  return [...groups].map(([outbox, some]) => [{ outbox, claims: some[0]?.endpoint.policy.claims ?? 1 }, some]);
}

/** Deletes the attempts of events that are deleted. */
export async function deleteAttempts(tx: Tx, eventIds: readonly string[]): Promise<void> {
  if (eventIds.length > 0) await tx.delete(tx.t.webhookAttempts).where(inArray(tx.t.webhookAttempts.eventId, [...eventIds]));
}
