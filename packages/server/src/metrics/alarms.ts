import {
  type Campaign,
  type contract,
  type HandlerInput,
  type MailLimits,
  RATE_ALARMS,
  type RateAlarm,
  type RateKind,
} from "@mailsvc/sdk/contract";
import { and, eq, gte } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { recordEvents } from "../events/events.ts";
import { invalid } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import { DAY } from "../lib/units.ts";
import { METRICS, type Metric, QUARTER, type Sum } from "./counting.ts";
import type { MailMetricsDeps } from "./deps.ts";
import { unpackDay } from "./packed-day.ts";
import type { Alarm, Alarms, MetricsTables, RateLimits } from "./tables.ts";

/*
 * The alarm of a rate. It looks when a bounce or a complaint was counted, and after a warning always, at the mail of a day or a week
 * (`WINDOWS`), and not before there are some (`leastMails`, `LEAST`).
 *
 * | state  | trigger                                   | becomes                                             |
 * | ------ | ----------------------------------------- | --------------------------------------------------- |
 * | OK     | the rate is at the limit that warns       | WARNED, with the event `mail.rate_high`             |
 * | any    | the rate is at the limit that pauses      | PAUSED, with the event; campaigns pause             |
 * | WARNED | the rate is below half of the limit, or the warning as old as the window | OK                   |
 * | PAUSED | a person resumes or sends a campaign      | OK; what was counted until then counts no more      |
 */

const WINDOWS: Readonly<Record<RateKind, number>> = { bounce: DAY, complaint: 7 * DAY };

// Bounces or complaints below which a rate says little.
const LEAST = 5;

const DEFAULTS: RateLimits = { leastMails: 200, bounceWarn: 0.05, bouncePause: 0.1, complaintWarn: 0.001, complaintPause: 0.003 };

type Reason = NonNullable<Campaign["statusReason"]>;
type AlarmsRow = MetricsTables["mailAlarms"]["$inferSelect"];

const at = (numbers: readonly number[], metric: Metric): number => numbers[METRICS.indexOf(metric)] ?? 0;

const WORDS: Readonly<Record<RateKind, { readonly of: string; readonly window: string; readonly advice: string }>> = {
  bounce: {
    of: "bounced",
    window: "in the last 24 hours",
    advice: "Remove addresses that no longer exist, or find out who refuses your mail.",
  },
  complaint: {
    of: "were reported as spam",
    window: "in the last 7 days",
    advice: "Write only to people who asked for it, and make it easy to unsubscribe.",
  },
};

/** Looks at the rates after numbers were added. Bounces or complaints over a limit are warned of, then campaigns pause. */
export async function watchRates(tx: Tx, deps: MailMetricsDeps, workspaceId: string, sums: readonly Sum[]): Promise<void> {
  const added = sums.filter(({ place }) => place.dimension === "all" && !place.test).flatMap(({ quarters }) => [...quarters.values()]);
  if (added.length === 0) return;
  const { limits, alarms } = await loadAlarms(tx, workspaceId);
  const kinds = RATE_ALARMS.filter((kind) => alarms[kind]?.state === "WARNED" || added.some((numbers) => countBad(kind, numbers) > 0));
  const now = deps.clock.now();
  const next: Record<string, Alarm> = { ...alarms };
  for (const kind of kinds) {
    const before = alarms[kind] ?? null;
    const found = await countRate(tx, workspaceId, kind, before, now);
    const state = decide(kind, limits, before, found, now);
    const isNew = state !== (before?.state ?? "OK");
    if (isNew) next[kind] = { ...(before ?? NEW), state, at: now };
    if (state === "OK") continue;
    const message = describe(kind, limits, found, state);
    const data = { kind, state, rate: found.rate, mails: found.mails, message };
    if (isNew) await recordEvents(tx, deps, [{ workspaceId, type: "mail.rate_high", at: now, data }]);
    // Also a campaign that another transaction started at the moment at which the others were paused.
    if (state === "PAUSED") await deps.rateHooks.pauseCampaigns(tx, workspaceId, { code: `${kind}_rate`, message });
  }
  if (JSON.stringify(next) !== JSON.stringify(alarms)) await storeAlarms(tx, workspaceId, { alarms: next });
}

const NEW: Omit<Alarm, "state" | "at"> = { from: 0, mails: 0, bad: 0 };

/** The reason for which campaigns pause until a person resumes one; null while nothing is wrong. */
export async function findRateStop(tx: Tx, workspaceId: string, now: number): Promise<Reason | null> {
  const { limits, alarms } = await loadAlarms(tx, workspaceId);
  const kind = RATE_ALARMS.find((one) => alarms[one]?.state === "PAUSED");
  if (kind === undefined) return null;
  const found = await countRate(tx, workspaceId, kind, alarms[kind] ?? null, now);
  return { code: `${kind}_rate`, message: describe(kind, limits, found, "PAUSED") };
}

/** A person has decided to go on: mail that was counted until now does not pause campaigns again. */
export async function endRateStop(tx: Tx, { clock }: Pick<MailMetricsDeps, "clock">, workspaceId: string): Promise<void> {
  const { alarms } = await loadAlarms(tx, workspaceId);
  if (!RATE_ALARMS.some((kind) => alarms[kind]?.state === "PAUSED")) return;
  const now = clock.now();
  const from = Math.floor(now / QUARTER);
  const next: Record<string, Alarm> = { ...alarms };
  for (const kind of RATE_ALARMS) {
    if (alarms[kind]?.state !== "PAUSED") continue;
    const { mails, bad } = await countRate(tx, workspaceId, kind, { ...NEW, state: "OK", at: now, from }, now);
    next[kind] = { state: "OK", at: now, from, mails, bad };
  }
  await storeAlarms(tx, workspaceId, { alarms: next });
}

/** The limits of a workspace, its rates and the states of its alarms. */
export async function getLimits(q: Reader | Tx, { clock }: Pick<MailMetricsDeps, "clock">, workspaceId: string): Promise<MailLimits> {
  const { limits, alarms } = await loadAlarms(q, workspaceId);
  const now = clock.now();
  const show = async (kind: RateKind): Promise<RateAlarm> => {
    const before = alarms[kind] ?? null;
    const { rate, mails } = await countRate(q, workspaceId, kind, before, now);
    const state = before === null || isOver(kind, before, now) ? "OK" : before.state;
    const since = before === null || state === "OK" ? null : iso(before.at);
    return { warn: limits[`${kind}Warn`], pause: limits[`${kind}Pause`], rate, mails, state, since };
  };
  return { leastMails: limits.leastMails, bounce: await show("bounce"), complaint: await show("complaint") };
}

/** Changes limits. Throws ApiError validation_error for one that warns above the one that pauses. */
export async function setLimits(
  tx: Tx,
  deps: Pick<MailMetricsDeps, "clock">,
  workspaceId: string,
  change: HandlerInput<typeof contract.metrics.setLimits>,
): Promise<MailLimits> {
  const { own, limits: before } = await loadAlarms(tx, workspaceId);
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  const limits: RateLimits = { ...before, ...given };
  for (const kind of RATE_ALARMS) {
    const [warn, pause] = [limits[`${kind}Warn`], limits[`${kind}Pause`]];
    if (warn !== null && pause !== null && warn > pause)
      throw invalid(`${kind}Warn`, "above_pause", `${kind}Warn must not be above ${kind}Pause, which is ${pause}.`);
  }
  await storeAlarms(tx, workspaceId, { limits: { ...own, ...given } });
  return getLimits(tx, deps, workspaceId);
}

/** The number of workspaces by the state of their alarms, for Prometheus. */
export async function countAlarms(read: Reader): Promise<Record<string, number>> {
  const { mailAlarms: t } = read.t;
  const counts = { warned: 0, paused: 0 };
  for (const { alarms } of await read.select({ alarms: t.alarms }).from(t)) {
    const states = Object.values(alarms).map(({ state }) => state);
    if (states.includes("PAUSED")) counts.paused += 1;
    else if (states.includes("WARNED")) counts.warned += 1;
  }
  return counts;
}

interface Found {
  readonly mails: number;
  readonly bad: number;
  readonly rate: number | null;
}

function decide(kind: RateKind, limits: RateLimits, before: Alarm | null, { mails, bad, rate }: Found, now: number): Alarm["state"] {
  const state = before === null || isOver(kind, before, now) ? "OK" : before.state;
  const [warn, pause] = [limits[`${kind}Warn`], limits[`${kind}Pause`]];
  if (state === "PAUSED") return state;
  if (rate === null || mails < limits.leastMails || bad < LEAST) return state;
  if (pause !== null && rate >= pause) return "PAUSED";
  if (warn !== null && rate >= warn) return "WARNED";
  return warn !== null && rate >= warn / 2 ? state : "OK";
}

/** True for a warning about mail that counts no more. */
function isOver(kind: RateKind, { state, at: since }: Alarm, now: number): boolean {
  return state === "WARNED" && now - since >= WINDOWS[kind];
}

function describe(kind: RateKind, limits: RateLimits, { rate, mails }: Found, state: "WARNED" | "PAUSED"): string {
  const { of, window, advice } = WORDS[kind];
  const percent = (share: number | null): string => `${Number(((share ?? 0) * 100).toPrecision(2))} %`;
  const fact = `${percent(rate)} of ${mails.toLocaleString("en-US")} emails ${of} ${window}.`;
  const limit = percent(state === "PAUSED" ? limits[`${kind}Pause`] : limits[`${kind}Warn`]);
  if (state === "WARNED") return `${fact} Your limit for a warning is ${limit}. ${advice}`;
  return `${fact} Your limit is ${limit}, so campaigns are paused; all other mail goes on. ${advice} Then resume.`;
}

function countBad(kind: RateKind, numbers: readonly number[]): number {
  return kind === "complaint" ? at(numbers, "complained") : at(numbers, "hardBounced") + at(numbers, "softBounced");
}

/** Counts the mail of a window, from the last decision of a person on. */
async function countRate(q: Reader | Tx, workspaceId: string, kind: RateKind, alarm: Alarm | null, now: number): Promise<Found> {
  const { mailMetrics: t } = q.t;
  const first = Math.max(Math.floor((now - WINDOWS[kind]) / QUARTER) + 1, alarm?.from ?? 0);
  const rows = await q
    .select({ day: t.day, counts: t.counts })
    .from(t)
    .where(
      and(
        ...[eq(t.workspaceId, workspaceId), eq(t.test, false), eq(t.dimension, "all")],
        gte(t.day, Math.floor((first * QUARTER) / DAY)),
        eq(t.value, ""),
      ),
    );
  let [mails, bad] = [0, 0];
  for (const { day, counts } of rows)
    for (const [quarter, numbers] of unpackDay(counts)) {
      if ((day * DAY) / QUARTER + quarter < first) continue;
      bad += countBad(kind, numbers);
      mails += at(numbers, "sent");
      if (kind === "bounce") mails += countBad(kind, numbers) - at(numbers, "bouncedLater");
    }
  if (alarm !== null && alarm.from === first) [mails, bad] = [mails - alarm.mails, bad - alarm.bad];
  return { mails, bad, rate: mails <= 0 ? null : Math.min(1, bad / mails) };
}

interface Stored {
  /** The limits that the workspace has set. */
  readonly own: Partial<RateLimits>;
  readonly limits: RateLimits;
  readonly alarms: Alarms;
}

async function loadAlarms(q: Reader | Tx, workspaceId: string): Promise<Stored> {
  const [row] = await findRows(q, q.t.mailAlarms, { workspaceId });
  return { own: row?.limits ?? {}, limits: { ...DEFAULTS, ...row?.limits }, alarms: row?.alarms ?? {} };
}

async function storeAlarms(tx: Tx, workspaceId: string, change: Partial<Pick<AlarmsRow, "limits" | "alarms">>): Promise<void> {
  const { mailAlarms: t } = tx.t;
  await tx
    .insert(t)
    .values({ workspaceId, limits: {}, alarms: {}, ...change })
    .onConflictDoUpdate({ target: t.workspaceId, set: change });
}
