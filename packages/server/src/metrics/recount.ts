import type { MetricsVerification } from "@mailsvc/sdk/contract";
import { and, asc, eq, gt, gte, lt, lte, or, type SQL } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { findReaderPosition, positionOf } from "../events/events.ts";
import { ApiError } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import { waitForTurn } from "../lib/turn.ts";
import { DAY } from "../lib/units.ts";
import { COUNTED_TYPES, type CountedEvent, countEvents, METRICS, type Metric, NUMBERS_OF_MAIL, type Place, Sums } from "./counting.ts";
import type { MailMetricsDeps } from "./deps.ts";
import { METRICS_READER } from "./metrics.ts";
import { type Quarters, unpackDay } from "./packed-day.ts";
import { readPeriod } from "./period.ts";
import { OTHER } from "./rows.ts";

type Difference = MetricsVerification["differences"][number];

// Events read by one query: some ms, after which others have their turn.
const CHUNK = 1000;
const MOST_DIFFERENCES = 100;

/** Counts some days anew and compares. Throws ApiError validation_error, and invalid_state for days whose events may be deleted already. */
export async function verifyMetrics(
  read: Reader,
  { clock, config }: MailMetricsDeps,
  workspaceId: string,
  question: { readonly from?: string | undefined; readonly to?: string | undefined },
): Promise<MetricsVerification> {
  const { bounds } = readPeriod({ ...question, interval: "day" }, "UTC", clock.now());
  const [from, to] = [bounds[0] as number, bounds.at(-1) as number];
  const kept = config.keepDays.events;
  if (kept !== null && question.from !== undefined && from < clock.now() - kept * DAY)
    throw new ApiError(
      "invalid_state",
      `This server deletes events after ${kept} days (--keep), so there is nothing to count anew from before. The numbers stay.`,
    );
  const differences: Difference[] = [];
  let [events, daysWithoutMail] = [0, 0];
  for (const start of bounds.slice(0, -1)) {
    // Without a date the question may begin with days whose events have been deleted.
    if (kept !== null && start < clock.now() - kept * DAY) continue;
    const day = await compareDay(read, workspaceId, start / DAY);
    events += day.events;
    if (day.unknown > 0) daysWithoutMail += 1;
    differences.push(...day.differences);
  }
  return {
    correct: differences.length === 0,
    from: iso(from),
    to: iso(to),
    events,
    daysWithoutMail,
    differences: differences.slice(0, MOST_DIFFERENCES),
  };
}

interface Day {
  readonly events: number;
  /** Events of mail that was deleted since. */
  readonly unknown: number;
  readonly differences: readonly Difference[];
}

async function compareDay(read: Reader, workspaceId: string, day: number): Promise<Day> {
  const { rows, counted: position } = await readRows(read, workspaceId, day);
  const named = new Set(rows.map((row) => nameOf(row as Place)));
  const counted = new Map<string, number>();
  const actual = new Map<string, number>();
  for (const row of rows) {
    addNumbers(counted, nameOf(row as Place), unpackDay(row.counts), 1);
    if (row.erased !== null) addNumbers(counted, nameOf(row as Place), unpackDay(row.erased), -1);
  }
  let [events, unknown] = [0, 0];
  for await (const chunk of readEvents(read, workspaceId, day, lte(positionOf(read.t), position))) {
    const sums = new Sums();
    unknown += await countEvents(read, workspaceId, chunk, sums);
    events += chunk.length;
    for (const { place, quarters } of sums.all) {
      // Values without a row of their own were counted with the rest.
      const name = named.has(nameOf(place)) ? nameOf(place) : nameOf({ ...place, value: OTHER });
      addNumbers(actual, name, quarters, 1);
    }
  }
  const names = [...new Set([...counted.keys(), ...actual.keys()])].filter((name) => unknown === 0 || isOfEvents(name)).sort();
  const differences = names.flatMap((what) => {
    const [c, a] = [counted.get(what) ?? 0, actual.get(what) ?? 0];
    return c === a ? [] : [{ what, counted: c, actual: a }];
  });
  return { events, unknown, differences };
}

/** The rows of a day, and the number of the last event that they count: more may be counted between two reads. */
async function readRows(read: Reader, workspaceId: string, day: number) {
  const { mailMetrics: t } = read.t;
  for (let before = await findReaderPosition(read, METRICS_READER, workspaceId); ; ) {
    const rows = await read
      .select()
      .from(t)
      .where(and(eq(t.workspaceId, workspaceId), eq(t.day, day)));
    const counted = await findReaderPosition(read, METRICS_READER, workspaceId);
    if (counted === before) return { rows, counted };
    before = counted;
  }
}

/** True for a number that needs no mail, by its name: one of all mail that the events alone say. */
function isOfEvents(name: string): boolean {
  return name.includes(" all ") && !NUMBERS_OF_MAIL.has(name.slice(name.lastIndexOf(" ") + 1) as Metric);
}

export function nameOf({ test, dimension, day, value }: Place): string {
  const shown = dimension === "all" ? "" : ` ${value === OTHER ? "(other)" : value}`;
  return `${iso(day * DAY).slice(0, 10)}${test ? " test" : ""} ${dimension}${shown} `;
}

/** Adds numbers by the names of their rows, quarters and metrics. */
function addNumbers(to: Map<string, number>, name: string, quarters: Quarters, factor: 1 | -1): void {
  for (const [quarter, numbers] of quarters)
    for (const [i, n] of numbers.entries()) {
      const key = `${name}${formatQuarter(quarter)} ${METRICS[i]}`;
      if (n !== 0) to.set(key, (to.get(key) ?? 0) + factor * n);
    }
}

function formatQuarter(quarter: number): string {
  return `${String(quarter >> 2).padStart(2, "0")}:${String((quarter & 3) * 15).padStart(2, "0")}`;
}

/** The counted events of a UTC day, one type after the other: so the index of types has them in their order. */
export async function* readEvents(read: Reader | Tx, workspaceId: string, day: number, also?: SQL): AsyncGenerator<CountedEvent[]> {
  const { events: e } = read.t;
  for (const type of COUNTED_TYPES)
    for (let after: { at: number; sequence: number } | null = null; ; ) {
      const behind = after && and(gte(e.at, after.at), or(gt(e.at, after.at), gt(e.sequence, after.sequence)));
      const rows: (typeof e.$inferSelect)[] = await read
        .select()
        .from(e)
        .where(
          and(eq(e.workspaceId, workspaceId), eq(e.type, type), gte(e.at, day * DAY), lt(e.at, (day + 1) * DAY), behind ?? undefined, also),
        )
        .orderBy(asc(e.at), asc(e.sequence))
        .limit(CHUNK);
      if (rows.length > 0) yield rows as CountedEvent[];
      const last = rows.at(-1);
      if (rows.length < CHUNK || last === undefined) break;
      after = last;
      await ("breathe" in read ? read.breathe() : waitForTurn());
    }
}
