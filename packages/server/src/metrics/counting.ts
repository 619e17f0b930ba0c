import { type EventType, type MetricsDimension, parseAnyMailbox } from "@mailsvc/sdk/contract";
import { and, eq, inArray, min } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { domainOf } from "../delivery/delivery.ts";
import { OPEN, STATUS_OF_EVENT } from "../emails/emails.ts";
import type { ReadEvent } from "../events/events.ts";
import { isTestMail } from "../lib/ids.ts";
import { splitIntoChunks } from "../lib/parts.ts";
import { DAY, MINUTE, SECOND } from "../lib/units.ts";
import type { Quarters } from "./packed-day.ts";
import { receiverOf } from "./receivers.ts";

/** The numbers that are kept, in the order in which they are stored: new ones come last. */
export const METRICS = [
  "accepted",
  "sent",
  "delivered",
  "handOverMs",
  "within1s",
  "within10s",
  "within1m",
  "within10m",
  "within1h",
  "deferred",
  "hardBounced",
  "softBounced",
  /** Bounces of mail that had been handed over before. */
  "bouncedLater",
  "complained",
  "failed",
  "suppressed",
  "cancelled",
  "opens",
  "opened",
  "machineOpens",
  "clicks",
  "clicked",
  "machineClicks",
  "unsubscribed",
] as const;
export type Metric = (typeof METRICS)[number];

const HAND_OVER_LIMITS: readonly (readonly [metric: Metric, ms: number])[] = [
  ["within1s", SECOND],
  ["within10s", 10 * SECOND],
  ["within1m", MINUTE],
  ["within10m", 10 * MINUTE],
  ["within1h", 60 * MINUTE],
];

/** Numbers that need the mail besides its events: once it is deleted they cannot be counted anew. */
export const NUMBERS_OF_MAIL: ReadonlySet<Metric> = new Set(["handOverMs", ...HAND_OVER_LIMITS.map(([metric]) => metric), "bouncedLater"]);

/** The place of each number. */
export const INDEX = Object.fromEntries(METRICS.map((metric, i) => [metric, i])) as Readonly<Record<Metric, number>>;

/** A length of time that divides the offsets of all time zones. */
export const QUARTER = 15 * MINUTE;
const QUARTERS_A_DAY = DAY / QUARTER;

/** The types of events that are counted. */
export const COUNTED_TYPES = [
  ...["email.queued", "email.sent", "email.delivered", "email.deferred", "email.bounced", "email.complained", "email.failed"],
  ...["email.suppressed", "email.cancelled", "email.opened", "email.clicked", "email.unsubscribed"],
] as readonly EventType[];

/** The part of an event that is counted. */
export type CountedEvent = Pick<ReadEvent, "type" | "emailId" | "campaignId" | "at" | "machine" | "data" | "was" | "sequence">;

export type Dimension = MetricsDimension | "all";

/** A row of the table. */
export interface Place {
  readonly test: boolean;
  readonly dimension: Dimension;
  readonly day: number;
  readonly value: string;
}

/** Numbers to be added to a row, by quarter. */
export interface Sum {
  readonly place: Place;
  readonly quarters: Quarters;
}

/** Sums up numbers by the rows that they are added to. */
export class Sums {
  readonly #sums = new Map<string, { readonly place: Place; readonly quarters: Map<number, number[]> }>();

  /** Adds numbers of a quarter to a row. */
  add(place: Place, quarter: number, numbers: readonly number[]): void {
    const { test, dimension, day, value } = place;
    const key = `${test} ${dimension} ${day} ${value}`;
    let sum = this.#sums.get(key);
    if (sum === undefined) {
      sum = { place, quarters: new Map() };
      this.#sums.set(key, sum);
    }
    const before = sum.quarters.get(quarter);
    if (before === undefined) sum.quarters.set(quarter, [...numbers]);
    else for (const [i, n] of numbers.entries()) before[i] = (before[i] ?? 0) + n;
  }

  get all(): readonly Sum[] {
    return [...this.#sums.values()];
  }
}

/** Numbers of emails that have all values in common, of a quarter of an hour. */
interface Alike {
  readonly test: boolean;
  readonly day: number;
  readonly quarter: number;
  readonly values: readonly Value[];
  readonly relay: string | null;
  readonly numbers: number[];
}

/** Counts events of a workspace: what they add to all mail, and to the values of each dimension that their mail has. */
export async function countEvents(q: Reader | Tx, workspaceId: string, events: readonly CountedEvent[], sums: Sums): Promise<number> {
  const ids = [...new Set(events.flatMap(({ emailId }) => emailId ?? []))];
  const [facts, firsts] = await Promise.all([loadFacts(q, workspaceId, ids), findFirstUnsubscribes(q, events)]);
  const texts: Texts = { senders: new Map(), receivers: new Map() };
  // Most emails of a batch are alike, so few numbers are added to the rows of each dimension.
  const alike = new Map<string, Alike>();
  let unknown = 0;
  for (const event of events) {
    const { emailId, at, campaignId } = event;
    if (emailId === null) continue;
    const fact = facts.get(emailId);
    if (fact === undefined) unknown += 1;
    const [test, time] = [isTestMail(emailId), Math.floor(at / QUARTER)];
    const relay = fact === undefined ? null : typeof event.data?.relay === "string" ? event.data.relay : fact.relay;
    const key = `${time} ${test} ${fact?.kind} ${campaignId} ${relay}`;
    let one = alike.get(key);
    if (one === undefined) {
      const values = fact === undefined ? [] : listValues(event, fact, texts);
      one = { test, day: Math.floor(at / DAY), quarter: time % QUARTERS_A_DAY, values, relay, numbers: METRICS.map(() => 0) };
      alike.set(key, one);
    }
    count(one.numbers, event, fact, firsts);
  }
  for (const { test, day, quarter, values, relay, numbers } of alike.values()) {
    if (numbers.every((n) => n === 0)) continue;
    for (const [dimension, value] of [ALL, ...values]) sums.add({ test, day, dimension, value }, quarter, numbers);
    const ofRelay = numbers.map((n, i) => (BEFORE_RELAYS.has(METRICS[i] as Metric) ? 0 : n));
    if (relay !== null && ofRelay.some((n) => n > 0)) sums.add({ test, day, dimension: "relay", value: relay }, quarter, ofRelay);
  }
  return unknown;
}

/** The row of all mail. */
const ALL = ["all", ""] as const;

// Metrics that count before a relay is chosen.
const BEFORE_RELAYS: ReadonlySet<Metric> = new Set(["accepted", "suppressed", "cancelled"]);

/** Facts about an email that it is counted by. */
interface Facts extends FactsRow {
  /** The same number for emails of a batch with the same contents to the same domain. */
  readonly kind: number;
}

type FactsRow = Awaited<ReturnType<typeof selectFacts>>[number];

/** A value of a dimension that an email has. */
type Value = readonly [dimension: Exclude<MetricsDimension, "relay">, value: string];

/** Senders and receivers by the texts that they were found in: most mails of a batch have the same few. */
interface Texts {
  readonly senders: Map<string, string>;
  readonly receivers: Map<string, string>;
}

function listValues({ campaignId }: CountedEvent, fact: Facts, { senders, receivers }: Texts): Value[] {
  const values: Value[] = Object.entries(fact.tags).map(([name, value]): Value => ["tag", `${name}=${value}`]);
  const sender = senders.get(fact.from) ?? parseAnyMailbox(fact.from).key;
  senders.set(fact.from, sender);
  const domain = domainOf(fact.toKey);
  const receiver = receivers.get(domain) ?? receiverOf(domain);
  receivers.set(domain, receiver);
  values.push(["sender", sender], ["domain", receiver]);
  if (campaignId !== null) values.push(["campaign", campaignId]);
  if (fact.template !== null) values.push(["template", fact.template.slice(0, fact.template.lastIndexOf("@"))]);
  return values;
}

/** Adds what an event counts for to numbers. */
function count(numbers: number[], event: CountedEvent, fact: Facts | undefined, firsts: ReadonlySet<number>): void {
  const { type, at, data, machine, campaignId, was, sequence } = event;
  const add = (metric: Metric, by = 1): void => {
    numbers[INDEX[metric]] = (numbers[INDEX[metric]] ?? 0) + by;
  };
  const next = STATUS_OF_EVENT[type];
  // No event says that a recipient of a campaign was added: it counts once it is no longer under way.
  if (campaignId !== null && was !== null && next !== undefined && OPEN.includes(was) && !OPEN.includes(next)) add("accepted");
  switch (type) {
    case "email.queued":
      add("accepted");
      break;
    case "email.sent":
      add("sent");
      if (fact !== undefined) {
        // The time from when the email was to leave until it was handed over.
        const ms = Math.max(0, at - (fact.scheduledAt ?? fact.createdAt));
        add("handOverMs", ms);
        for (const [metric, limit] of HAND_OVER_LIMITS) if (ms <= limit) add(metric);
      }
      break;
    case "email.bounced":
      add(data?.type === "PERMANENT" ? "hardBounced" : "softBounced");
      if ((fact?.sentAt ?? null) !== null) add("bouncedLater");
      break;
    case "email.failed":
    case "email.suppressed":
    case "email.cancelled":
    case "email.delivered":
    case "email.deferred":
    case "email.complained":
      add(SIMPLE[type]);
      break;
    case "email.opened":
      add(machine === true ? "machineOpens" : "opens");
      if (machine !== true && data?.unique === true) add("opened");
      break;
    case "email.clicked":
      add(machine === true ? "machineClicks" : "clicks");
      if (machine !== true && data?.unique === true) add("clicked");
      break;
    case "email.unsubscribed":
      if (firsts.has(sequence)) add("unsubscribed");
      break;
    default:
      break;
  }
}

const SIMPLE = {
  "email.failed": "failed",
  "email.suppressed": "suppressed",
  "email.cancelled": "cancelled",
  "email.delivered": "delivered",
  "email.deferred": "deferred",
  "email.complained": "complained",
} as const;

async function loadFacts(q: Reader | Tx, workspaceId: string, emailIds: readonly string[]): Promise<Map<string, Facts>> {
  const rows = emailIds.length === 0 ? [] : await selectFacts(q, workspaceId, emailIds);
  const kinds = new Map<string, number>();
  return new Map(
    rows.map((row) => {
      const text = `${row.contentsId} ${domainOf(row.toKey)}`;
      const kind = kinds.get(text) ?? kinds.size;
      kinds.set(text, kind);
      return [row.id, { ...row, kind }];
    }),
  );
}

function selectFacts(q: Reader | Tx, workspaceId: string, emailIds: readonly string[]) {
  const { sqlDialect } = q;
  return q
    .prepared("metrics_of_emails", (query, { emails: m, contents: c }, arg) =>
      query
        .select({
          ...{
            id: m.id,
            contentsId: m.contentsId,
            toKey: m.toKey,
            relay: m.relay,
            createdAt: m.createdAt,
            scheduledAt: m.scheduledAt,
            sentAt: m.sentAt,
          },
          ...{ from: c.from, tags: c.tags, template: c.template },
        })
        .from(m)
        .innerJoin(c, eq(c.id, m.contentsId))
        .where(and(eq(m.workspaceId, arg("workspaceId")), sqlDialect.among(m.id, arg("emailIds")))),
    )
    .execute({ workspaceId, emailIds: JSON.stringify(emailIds) });
}

/** The first unsubscribes of emails among events, by their keys: a link can be used twice. */
async function findFirstUnsubscribes(q: Reader | Tx, events: readonly CountedEvent[]): Promise<Set<number>> {
  const { events: e } = q.t;
  const ids = new Set(events.flatMap(({ type, emailId }) => (type === "email.unsubscribed" && emailId !== null ? emailId : [])));
  const firsts = new Set<number>();
  for (const chunk of splitIntoChunks([...ids])) {
    const rows = await q
      .select({ first: min(e.sequence) })
      .from(e)
      .where(and(inArray(e.emailId, chunk), eq(e.type, "email.unsubscribed")))
      .groupBy(e.emailId);
    for (const { first } of rows) if (first !== null) firsts.add(Number(first));
  }
  return firsts;
}
