import { and, eq, inArray, lte } from "drizzle-orm";
import type { Tx } from "../db/db.ts";
import { contains } from "../db/dialect.ts";
import { type EventReader, holdReader, positionOf } from "../events/events.ts";
import { splitIntoChunks } from "../lib/parts.ts";
import { SECOND } from "../lib/units.ts";
import { watchRates } from "./alarms.ts";
import { COUNTED_TYPES, type CountedEvent, countEvents, type Dimension, Sums } from "./counting.ts";
import type { MailMetricsDeps } from "./deps.ts";
import { unpackDay } from "./packed-day.ts";
import { addSums, OTHER } from "./rows.ts";
import type { MetricsTables } from "./tables.ts";

export { countAlarms, endRateStop, findRateStop } from "./alarms.ts";
export { MailCounters } from "./mail-counters.ts";
export { RECEIVERS_JOB } from "./receivers-job.ts";

/** The name of the reader that counts. */
export const METRICS_READER = "metrics";

/** Counts what happens to mail, by quarters of an hour: all of it, and by tag, sender, receiver, relay, campaign and template. */
export function metricsReader(deps: () => MailMetricsDeps): EventReader {
  return {
    name: METRICS_READER,
    types: COUNTED_TYPES,
    // A mail has three events or more. Those that come later are counted with those of other mail.
    restMs: SECOND,
    plan: async (_q, workspaceId, events) => async (tx) => {
      const sums = new Sums();
      await countEvents(tx, workspaceId, events, sums);
      await addSums(tx, workspaceId, sums.all);
      await watchRates(tx, deps(), workspaceId, sums.all);
      tx.afterCommit(() => deps().mailCounters.add(sums.all));
    },
  };
}

/**
 * Notes which of the counted events are about emails that are erased, before these are deleted: the numbers stay, and counting anew finds
 * how they came about. A tag that names the person, by one of these texts, loses its row, as does a tag or domain that nobody else had
 * mail with.
 */
export async function eraseFromMetrics(
  tx: Tx,
  workspaceId: string,
  emailIds: readonly string[],
  texts: readonly string[],
): Promise<number> {
  const { events: e, mailMetrics: t } = tx.t;
  const counted = await holdReader(tx, METRICS_READER, workspaceId);
  const sums = new Sums();
  for (const ids of splitIntoChunks(emailIds)) {
    const events = await tx
      .select()
      .from(e)
      .where(and(inArray(e.emailId, ids), inArray(e.type, [...COUNTED_TYPES]), lte(positionOf(tx.t), counted)));
    await countEvents(tx, workspaceId, events as CountedEvent[], sums);
  }
  await addSums(tx, workspaceId, sums.all, "erased");
  const keys = sums.all.filter(({ place }) => NAMING.has(place.dimension) && place.value !== OTHER);
  const touched =
    keys.length === 0
      ? []
      : await tx.lookUp(
          t,
          keys.map(({ place }) => ({ workspaceId, ...place })),
        );
  const naming: MetricsRow[] = touched.flat().filter(({ counts, erased }) => erased !== null && Buffer.compare(counts, erased) === 0);
  for (const text of texts)
    naming.push(
      ...(await tx
        .select()
        .from(t)
        .where(and(eq(t.workspaceId, workspaceId), eq(t.dimension, "tag"), contains(tx.sqlDialect, t.value, text)))),
    );
  return forgetValues(tx, workspaceId, naming);
}

type MetricsRow = MetricsTables["mailMetrics"]["$inferSelect"];

// Values of these may be about one person.
const NAMING: ReadonlySet<Dimension> = new Set(["tag", "domain"]);

/** Adds rows to those of what has no row of its own, and deletes them. Returns how many there were. */
async function forgetValues(tx: Tx, workspaceId: string, rows: readonly MetricsRow[]): Promise<number> {
  const { mailMetrics: t } = tx.t;
  let forgotten = 0;
  for (const { test, dimension, day, value, counts, erased } of rows) {
    const key = and(eq(t.workspaceId, workspaceId), eq(t.test, test), eq(t.dimension, dimension), eq(t.day, day), eq(t.value, value));
    if ((await tx.delete(t).where(key).returning({ day: t.day })).length === 0) continue;
    const place = { test, dimension: dimension as Dimension, day, value: OTHER };
    await addSums(tx, workspaceId, [{ place, quarters: unpackDay(counts) }]);
    if (erased !== null) await addSums(tx, workspaceId, [{ place, quarters: unpackDay(erased) }], "erased");
    forgotten += 1;
  }
  return forgotten;
}
