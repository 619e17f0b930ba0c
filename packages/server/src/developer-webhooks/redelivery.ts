import type { WebhookRedelivery } from "@mailsvc/sdk/contract";
import { and, asc, desc, eq, gte, inArray, isNotNull, lt, lte, type SQL, sql } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { byPosition, inRun, isAfter, positionIn, positionOf } from "../events/events.ts";
import { ApiError, invalid } from "../lib/api-error.ts";
import type { JobHandler } from "../queue/queue.ts";
import { reviveEvents } from "../webhooks/webhooks.ts";
import type { DeveloperWebhookDeps } from "./developer-webhooks.ts";
import {
  ADDRESSED,
  catchUpWebhooks,
  collideWithReading,
  listWanted,
  type SentEvent,
  selectFor,
  sentColumns,
  toDeliveryId,
  writeForWebhooks,
} from "./fan-out.ts";
import { getWebhookRow, showWebhook, type WebhookRow } from "./webhook.ts";

/** The job that sends the events of a span of time again, some at a time. */
export const REDELIVER_JOB = "webhooks.redeliver";

// Events that one run of the job examines: a few ms of work, during which other writers wait.
const CHUNK = 500;
// Events that are examined for the count in a response: some 100 ms of work.
const MAX_EXAMINED = 10_000;

interface SpanInput {
  readonly since: string;
  readonly until?: string | undefined;
  readonly all: boolean;
}

/** Events to send again: those of a time span (ms) whose numbers are above `after` and at most `last`. */
interface Span {
  readonly from: number;
  readonly to: number;
  readonly after: number;
  readonly last: number;
  /** Also events that have arrived. */
  readonly all: boolean;
}

/** A redelivery and the number of its events. */
export interface PlannedRedelivery {
  /** Null if nothing happened in the span. */
  readonly span: Span | null;
  readonly count: Pick<WebhookRedelivery, "count" | "countIsMinimum">;
}

/** Counts what a redelivery sends, before the transaction that starts it. Throws ApiError not_found, invalid_state or validation_error. */
export async function planRedelivery(
  read: Reader,
  deps: DeveloperWebhookDeps,
  workspaceId: string,
  id: string,
  { since, until, all }: SpanInput,
): Promise<PlannedRedelivery> {
  assertEnabled(await getWebhookRow(read, workspaceId, id));
  const now = deps.clock.now();
  const [from, to] = [Date.parse(since), until === undefined ? now : Math.min(Date.parse(until), now)];
  if (from >= to) throw invalid("since", "invalid_range", "since must be before until, and in the past.");
  await catchUpWebhooks(read, deps, workspaceId);
  const webhook = await getWebhookRow(read, workspaceId, id);
  const numbers = await findNumbers(read, webhook, from, to);
  if (numbers === null) return { span: null, count: { count: 0 } };
  // Events that it has not read yet are sent to it anyway.
  const span = { from, to, all, after: numbers.after, last: Math.min(numbers.last, webhook.position) };
  let count = 0;
  let { after } = span;
  for (let examined = 0; examined < MAX_EXAMINED; examined += CHUNK) {
    const events = await listEvents(read, webhook, { ...span, after });
    const { settled, unknown } = await chooseEvents(read, webhook, events, all);
    count += settled.length + unknown.length;
    if (events.length < CHUNK) return { span, count: { count } };
    after = events.at(-1)?.position ?? after;
    // Other work runs between two queries: on SQLite a query blocks the process.
    await deps.clock.real.sleep(0);
  }
  return { span, count: { count, countIsMinimum: true } };
}

/** Lets a job send the events of a span of time again. Throws ApiError not_found or invalid_state. */
export async function startRedelivery(
  tx: Tx,
  deps: DeveloperWebhookDeps,
  workspaceId: string,
  id: string,
  { span, count }: PlannedRedelivery,
): Promise<WebhookRedelivery> {
  const webhook = await getWebhookRow(tx, workspaceId, id);
  assertEnabled(webhook);
  const now = deps.clock.now();
  if (span !== null) await deps.queue.enqueue(tx, { kind: REDELIVER_JOB, payload: { webhookId: id, ...span }, runAt: now });
  return { ...showWebhook(webhook, now), ...count };
}

/** Sends events again, some at a time: each run schedules the next one. */
export function redeliverEvents(deps: DeveloperWebhookDeps): JobHandler {
  return async ({ payload }) => ({
    commit: async (tx) => {
      const { webhookId, ...span } = payload as unknown as Span & { webhookId: string };
      const { developerWebhooks: w } = tx.t;
      const [webhook] = await findRows(tx, w, { id: webhookId });
      if (!webhook || webhook.status === "disabled") return;
      const events = await listEvents(tx, webhook, span);
      const { settled, unknown } = await chooseEvents(tx, webhook, events, span.all);
      await reviveEvents(tx, deps, webhook.id, settled);
      await writeForWebhooks(tx, deps, [webhook], unknown);
      if (unknown.length > 0) await collideWithReading(tx, webhook.workspaceId);
      const last = events.at(-1)?.position;
      if (events.length === CHUNK && last)
        await deps.queue.enqueue(tx, { kind: REDELIVER_JOB, payload: { ...payload, after: last }, runAt: deps.clock.now() });
    },
  });
}

function assertEnabled({ status }: WebhookRow): void {
  if (status === "disabled")
    throw new ApiError("invalid_state", "This webhook is disabled, so nothing can be sent to it.", { hint: "Resume it first." });
}

/**
 * The numbers between which the events of a span of time lie; null if there are none. Times may lie a little out of the order of the
 * numbers, so the lowest number is looked for among the first events by time, and the highest among the last ones.
 */
async function findNumbers(read: Reader, webhook: WebhookRow, from: number, to: number): Promise<Pick<Span, "after" | "last"> | null> {
  const { events: e } = read.t;
  const find = async (order: SQL, pick: SQL): Promise<number | null> => {
    const found: number[] = [];
    for (const type of listTypes(webhook)) {
      const ends = read
        .select({ position: positionOf(read.t).as("position") })
        .from(e)
        .where(and(eq(e.workspaceId, webhook.workspaceId), eq(e.type, type), gte(e.at, from), lt(e.at, to)))
        .orderBy(order)
        .limit(MAX_EXAMINED)
        .as("ends");
      const [row] = await read.select({ number: sql<number | null>`${pick}(${ends.position})` }).from(ends);
      if (row?.number !== null && row?.number !== undefined) found.push(Number(row.number));
    }
    return found.length === 0 ? null : pick === MIN ? Math.min(...found) : Math.max(...found);
  };
  const first = await find(asc(e.at), MIN);
  const last = await find(desc(e.at), MAX);
  return first === null || last === null ? null : { after: first - 1, last };
}

const MIN = sql.raw("min");
const MAX = sql.raw("max");

function listTypes(webhook: WebhookRow): string[] {
  return [...new Set([...listWanted(webhook), ADDRESSED])];
}

/** The next events of the types that a webhook gets, in the order of their numbers. */
function listEvents(q: Tx | Reader, webhook: WebhookRow, { from, to, after, last }: Omit<Span, "all">): Promise<SentEvent[]> {
  const { events: e, eventRuns: r } = q.t;
  const inSpan = q.sqlDialect.usually(and(gte(e.at, from), lt(e.at, to), inArray(e.type, listTypes(webhook))) ?? isNotNull(e.at));
  return Promise.resolve(
    q
      .select(sentColumns(q.t))
      .from(r)
      .innerJoin(e, inRun(q.t))
      .where(and(isAfter(q.t, webhook.workspaceId, after), lte(positionIn(q.t), last), inSpan))
      .orderBy(...byPosition(q.t))
      .limit(CHUNK),
  );
}

interface ChosenEvents {
  /** Deliveries that get a fresh set of attempts. */
  readonly settled: readonly { readonly id: string; readonly streamId: string }[];
  /** Events that the webhook never got. */
  readonly unknown: readonly SentEvent[];
}

/** Chooses the events to send again: those that were given up (or all that have ended), and those that the webhook never got. */
async function chooseEvents(q: Tx | Reader, webhook: WebhookRow, events: readonly SentEvent[], all: boolean): Promise<ChosenEvents> {
  const wanted = await selectFor(q, webhook, events);
  if (wanted.length === 0) return { settled: [], unknown: [] };
  const { webhookDeliveries: d } = q.t;
  const unknown = new Map(wanted.map((event) => [toDeliveryId(webhook.id, event.sequence), event]));
  const known = await q
    .select({ id: d.id, streamId: d.streamId, state: d.state, settledAt: d.settledAt })
    .from(d)
    .where(inArray(d.id, [...unknown.keys()]));
  for (const { id } of known) unknown.delete(id);
  return {
    settled: known.filter(({ state, settledAt }) => settledAt !== null && (all || state !== "delivered")),
    unknown: [...unknown.values()],
  };
}
