import { addressKey, EVENT_LIMITS, type Event, type Page, parseEventTypes } from "@mailsvc/sdk/contract";
import { and, desc, eq, exists, gte, inArray, isNull, lt, lte, not, or, type SQL, sql } from "drizzle-orm";
import type { Reader } from "../db/db.ts";
import {
  countQuery,
  countUpTo,
  ONE,
  type PageInput,
  paginateAscending,
  paginateBySeq,
  paginateByTime,
  type TimeSlice,
  type Total,
  toSeqCursor,
} from "../db/pagination.ts";
import { invalid, notFound } from "../lib/api-error.ts";
import { isTestMail, TEST_MAIL_FROM } from "../lib/ids.ts";
import { toLabelOfTag } from "../lib/message-id.ts";
import { findContactId } from "./contact-filter.ts";
import type { EventDeps } from "./deps.ts";
import { byPosition, byPositionDown, inRun, isAfter, positionIn } from "./runs.ts";
import { type FullEvent, parseEventId, selectByKeys, selectNewest, showEvent } from "./show.ts";
import { OF_TEST_MAIL } from "./tables.ts";

/** Filters of events, as the contract parses them. */
export interface EventFilter {
  readonly type?: string | undefined;
  readonly email?: string | undefined;
  readonly to?: string | undefined;
  readonly tag?: string | undefined;
  readonly campaign?: string | undefined;
  readonly automation?: string | undefined;
  readonly contact?: string | undefined;
  readonly machine?: boolean | undefined;
  /** Only events of mail of test keys, or only others. */
  readonly test?: boolean | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

/** A filter with the ids of all recipients of the mail that it names. */
type ResolvedFilter = Omit<EventFilter, "email" | "tag"> & {
  readonly emailIds: readonly string[] | undefined;
  /** `isRare`: reads the events of the few emails with the tag. Otherwise checks each event for the tag of its email. */
  readonly tag: { readonly label: string; readonly isRare: boolean } | undefined;
};

// Up to this many emails with a tag, the events of all of them are sorted: a few ms. With more, a page is met soon on the way down.
const MAX_RARE = 1000;

// In a list that is merged from the branches of many types, each branch reads as many events as a page skips. Page numbers reach this far,
// cursors further. Two branches cost little.
const MAX_NUMBERED = EVENT_LIMITS.numbered;

// Events that a page by sequence looks through for those that match: some 10 ms.
const MAX_EXAMINED = 5000;

/**
 * A page of the events of a workspace, with everything that was committed before the call. All of them are listed newest first by number,
 * those of a filter newest first by time, and those `after` a number oldest first by number. Throws ApiError
 * validation_error for a page number that is too far.
 */
export async function listEvents(
  read: Reader,
  deps: Pick<EventDeps, "eventStream">,
  workspaceId: string,
  { page, limit, cursor, after, email, tag, contact, ...others }: PageInput & EventFilter & { readonly after?: number | undefined },
): Promise<Page<Event>> {
  await deps.eventStream.catchUp();
  const emailIds = email === undefined ? undefined : await listRecipientIds(read, workspaceId, email);
  const contactId = contact === undefined ? undefined : await findContactId(read, workspaceId, contact);
  const wanted = { ...others, contact: contactId, emailIds, tag: tag === undefined ? undefined : await findTag(read, workspaceId, tag) };
  if (after !== undefined) return listAfter(read, workspaceId, { page, limit, cursor }, after, wanted);
  if (!isFiltered(wanted)) return listNewest(read, workspaceId, { page, limit, cursor });
  const filter = { ...wanted, test: wanted.test ?? false };
  const branches = listBranches(read, workspaceId, filter);
  return paginateByTime<FullEvent & { at: number; key: number }, Event>(
    { page, limit, cursor },
    async (slice) => {
      if (branches.length > 2 && slice.offset > 0 && slice.offset + limit > MAX_NUMBERED) {
        const { total, isMinimum } = await countEvents(read, branches);
        if (!isMinimum && slice.offset >= total) return [];
        throw invalid(
          "page",
          "too_far",
          `A filtered list of more than two event types has page numbers for its first ${MAX_NUMBERED.toLocaleString("en-US")} events only. Filter by one or two types, or continue with cursor=pagination.nextCursor.`,
        );
      }
      const rows = await selectPage(read, deps, branches, slice);
      return rows.map((row) => ({ ...row, at: row.event.at, key: row.event.sequence }));
    },
    () => countEvents(read, branches),
    showEvent,
  );
}

/** One event of a workspace; a test key sees only those of test mail. Throws ApiError not_found. */
export async function getEvent(
  read: Reader,
  deps: Pick<EventDeps, "eventStream">,
  { workspaceId, test }: { readonly workspaceId: string; readonly test: boolean },
  id: string,
): Promise<Event> {
  await deps.eventStream.catchUp();
  const key = parseEventId(id);
  const [found] = key === null ? [] : await selectByKeys(read, [key]);
  if (!found || found.event.workspaceId !== workspaceId || found.position === null || (test && !isTestMail(found.event.emailId)))
    throw notFound("event", id);
  return showEvent(found);
}

/** A tag as it is stored among the labels of emails, and whether few emails have it. */
async function findTag(read: Reader, workspaceId: string, tag: string): Promise<NonNullable<ResolvedFilter["tag"]>> {
  const { emailLabels: l } = read.t;
  const label = toLabelOfTag(tag);
  const labelled = read
    .select(ONE)
    .from(l)
    .where(and(eq(l.workspaceId, workspaceId), eq(l.label, label)));
  return { label, isRare: (await countUpTo(read, labelled, MAX_RARE + 1)) <= MAX_RARE };
}

/** The condition that the email of an event has a tag, for events that are found by something else. */
function hasTag(read: Reader, workspaceId: string, tag: ResolvedFilter["tag"]): SQL | undefined {
  if (tag === undefined) return undefined;
  const { events: e, emailLabels: l } = read.t;
  return exists(
    read
      .select(ONE)
      .from(l)
      .where(and(eq(l.workspaceId, workspaceId), eq(l.label, tag.label), eq(l.emailId, e.emailId))),
  );
}

/** The ids under which events of a mail are recorded: its own and, if it has several recipients, theirs. */
async function listRecipientIds(read: Reader, workspaceId: string, id: string): Promise<string[]> {
  const { emails: m } = read.t;
  const others = await read
    .select({ id: m.id })
    .from(m)
    .where(and(eq(m.workspaceId, workspaceId), eq(m.mailId, id)));
  return [...new Set([id, ...others.map((row) => row.id)])];
}

/**
 * A page of events with numbers above `after`. With filters it looks through 5,000 events at most: it may be short, or empty, and there be
 * more.
 */
async function listAfter(read: Reader, workspaceId: string, input: PageInput, after: number, filter: ResolvedFilter): Promise<Page<Event>> {
  const { events: e, eventRuns: r } = read.t;
  const filtered = isFiltered(filter);
  const matching = filtered ? matchFilter(read, workspaceId, filter) : undefined;
  const examine = (above: number, limit: number) =>
    read
      .select({ position: positionIn(read.t).as("position"), eventKey: sql<number>`${e.sequence}`.mapWith(Number).as("event_key") })
      .from(r)
      .innerJoin(e, inRun(read.t))
      .where(isAfter(read.t, workspaceId, above))
      .orderBy(...byPosition(read.t))
      .limit(limit)
      .as("examined");
  const examineMost = async (above: number) => {
    const examined = examine(above, MAX_EXAMINED);
    const last = sql<number>`max(${examined.position})`.mapWith(Number);
    const [range] = await read.select({ count: sql<number>`count(*)`.mapWith(Number), last }).from(examined);
    return { examined, examinedTo: range?.count === MAX_EXAMINED ? range.last : null };
  };
  const countMatching = async (): Promise<Total> => {
    const { examined, examinedTo } = await examineMost(after);
    const matches = read.select(ONE).from(examined).innerJoin(e, eq(e.sequence, examined.eventKey)).where(matching);
    return { total: await countUpTo(read, matches, MAX_EXAMINED), isMinimum: examinedTo !== null };
  };
  let examinedTo: number | null = null;
  const page = await paginateAscending<FullEvent & { seq: number }, Event>(
    input,
    after,
    async ({ above, limit, offset }) => {
      if (filtered) ({ examinedTo } = await examineMost(above));
      const examined = examine(above, filtered ? MAX_EXAMINED : limit + offset);
      const found = await read
        .select({ key: e.sequence, position: examined.position })
        .from(examined)
        .innerJoin(e, eq(e.sequence, examined.eventKey))
        .where(matching)
        .orderBy(examined.position)
        .limit(limit)
        .offset(offset);
      const keys = found.map(({ key }) => key);
      const rows = new Map((keys.length === 0 ? [] : await selectByKeys(read, keys)).map((row) => [row.event.sequence, row]));
      return keys.flatMap((key) => rows.get(key) ?? []).map((row) => ({ ...row, seq: row.position ?? 0 }));
    },
    () =>
      filtered
        ? countMatching()
        : countQuery(
            read,
            read
              .select(ONE)
              .from(r)
              .innerJoin(e, inRun(read.t))
              .where(isAfter(read.t, workspaceId, after)),
          ),
    showEvent,
  );
  if (page.pagination.hasMore || examinedTo === null) return page;
  return { ...page, pagination: { ...page.pagination, hasMore: true, nextCursor: toSeqCursor(examinedTo) } };
}

/** A page of all events but those of test mail, newest first by number. */
function listNewest(read: Reader, workspaceId: string, input: PageInput): Promise<Page<Event>> {
  const { events: e, eventRuns: r } = read.t;
  const all = and(eq(r.workspaceId, workspaceId), matchTest(read, { test: false }));
  return paginateBySeq<FullEvent & { seq: number }, Event>(
    input,
    async ({ below, limit, offset }) => {
      const found = await read
        .select({ key: e.sequence, position: positionIn(read.t) })
        .from(r)
        .innerJoin(e, inRun(read.t))
        .where(and(all, lt(r.position, below), lt(positionIn(read.t), below)))
        .orderBy(...byPositionDown(read.t))
        .limit(limit)
        .offset(offset);
      const rows =
        found.length === 0
          ? []
          : await selectByKeys(
              read,
              found.map(({ key }) => key),
            );
      const byKey = new Map(rows.map((row) => [row.event.sequence, row]));
      return found.flatMap(({ key, position }) => {
        const row = byKey.get(key);
        return row ? { ...row, seq: position } : [];
      });
    },
    () => countQuery(read, read.select(ONE).from(r).innerJoin(e, inRun(read.t)).where(all)),
    showEvent,
  );
}

function isFiltered(filter: ResolvedFilter): boolean {
  return Object.values(filter).some((value) => value !== undefined);
}

/** The condition that a filter makes, for events that are found by something else. */
function matchFilter(read: Reader, workspaceId: string, filter: ResolvedFilter): SQL | undefined {
  const { events: e } = read.t;
  const few = listFew(read, workspaceId, filter);
  return and(
    eq(e.workspaceId, workspaceId),
    filter.type === undefined ? undefined : inArray(e.type, parseEventTypes(filter.type)),
    matchTime(read, filter),
    filter.campaign === undefined ? undefined : eq(e.campaignId, filter.campaign),
    filter.automation === undefined ? undefined : eq(e.automationId, filter.automation),
    filter.machine === undefined ? undefined : eq(e.machine, filter.machine),
    matchTest(read, filter),
    hasTag(read, workspaceId, filter.tag),
    few.length === 0 ? undefined : or(...few),
  );
}

function matchTime({ t: { events: e } }: Reader, { since, until }: Pick<EventFilter, "since" | "until">): SQL | undefined {
  return and(since === undefined ? undefined : gte(e.at, Date.parse(since)), until === undefined ? undefined : lt(e.at, Date.parse(until)));
}

function matchTest({ t: { events: e } }: Reader, { test }: Pick<EventFilter, "test">): SQL | undefined {
  if (test === undefined) return undefined;
  return test ? OF_TEST_MAIL : or(isNull(e.emailId), lt(e.emailId, TEST_MAIL_FROM));
}

/** Events that one index yields, from the newest on: conditions that it answers, and others that are checked row by row. */
interface Branch {
  readonly index: SQL | undefined;
  readonly rest: SQL | undefined;
}

/**
 * Branches whose events together are those of a filter, none twice. An index that starts with the type is read once per type, so
 * that a page takes as long in a million events as in a hundred.
 */
function listBranches(read: Reader, workspaceId: string, filter: ResolvedFilter): Branch[] {
  const { events: e } = read.t;
  const types = parseEventTypes(filter.type);
  const inWorkspace = eq(e.workspaceId, workspaceId);
  const ofType = filter.type === undefined ? undefined : inArray(e.type, types);
  const inTime = matchTime(read, filter);
  const ofCampaign = filter.campaign === undefined ? undefined : read.sqlDialect.rarely(eq(e.campaignId, filter.campaign));
  const ofAutomation = filter.automation === undefined ? undefined : read.sqlDialect.rarely(eq(e.automationId, filter.automation));
  const byMachine = filter.machine === undefined ? undefined : eq(e.machine, filter.machine);
  const ofTest = and(matchTest(read, filter), filter.tag?.isRare === false ? hasTag(read, workspaceId, filter.tag) : undefined);
  const few = listFew(read, workspaceId, filter);
  if (few.length > 0)
    return few.map((index) => ({ index, rest: and(inWorkspace, ofType, inTime, ofCampaign, ofAutomation, byMachine, ofTest) }));
  return types.map((type) => {
    const typeAndTime = and(eq(e.type, type), inTime);
    if (ofCampaign) return { index: and(inWorkspace, ofCampaign, typeAndTime), rest: and(ofAutomation, byMachine, ofTest) };
    if (ofAutomation) return { index: and(inWorkspace, ofAutomation, typeAndTime), rest: and(byMachine, ofTest) };
    if (filter.test) return { index: and(inWorkspace, OF_TEST_MAIL, typeAndTime), rest: and(byMachine, ofTest) };
    return { index: and(inWorkspace, byMachine, typeAndTime), rest: ofTest };
  });
}

/** The condition of a branch, in a form that leaves the planner no other index: without statistics it takes a wrong one. */
function toCondition({ sqlDialect }: Reader, { index, rest }: Branch): SQL | undefined {
  return and(index, rest && sqlDialect.notTrue(not(rest)));
}

/** Conditions for the events of few emails, or of one contact; none when no such filter was given. */
function listFew(read: Reader, workspaceId: string, { emailIds, to, contact, tag }: ResolvedFilter): (SQL | undefined)[] {
  const { events: e, emails: m, contacts: c, emailLabels: l } = read.t;
  const labelled = (label: string): SQL =>
    inArray(
      e.emailId,
      read
        .select({ id: l.emailId })
        .from(l)
        .where(and(eq(l.workspaceId, workspaceId), eq(l.label, label))),
    );
  const sentTo = (key: SQL | string): SQL =>
    inArray(
      e.emailId,
      read
        .select({ id: m.id })
        .from(m)
        .where(and(eq(m.workspaceId, workspaceId), eq(m.toKey, key))),
    );
  const one = and(
    emailIds === undefined ? undefined : inArray(e.emailId, [...emailIds]),
    to === undefined ? undefined : sentTo(addressKey(to)),
    tag?.isRare ? labelled(tag.label) : undefined,
  );
  if (contact === undefined) return one ? [one] : [];
  const own = eq(e.contactId, contact);
  const address = sql`(select ${c.emailKey} from ${c} where ${c.workspaceId} = ${workspaceId} and ${c.id} = ${contact})`;
  return [and(one, own), and(one, sentTo(address), read.sqlDialect.notTrue(own))];
}

/** The rows of a page: the newest of each branch, merged. */
async function selectPage(
  read: Reader,
  deps: Pick<EventDeps, "eventStream">,
  branches: readonly Branch[],
  { before, limit, offset }: TimeSlice,
): Promise<FullEvent[]> {
  const { events: e } = read.t;
  const older = before && and(lte(e.at, before.at), or(lt(e.at, before.at), lt(e.sequence, before.key)));
  const newest = branches.map((branch, i) =>
    read
      .select({ key: e.sequence, at: e.at })
      .from(e)
      .where(and(toCondition(read, branch), older ?? undefined))
      .orderBy(desc(e.at), desc(e.sequence))
      .limit(limit + offset)
      .as(`b${i}`),
  );
  const union = sql.join(
    newest.map((branch) => sql`select * from ${branch}`),
    sql` union all `,
  );
  const page = await read
    .select({ key: sql<number>`page.sequence`.mapWith(Number) })
    .from(sql`(${union}) as page`)
    .orderBy(sql`page.at desc, page.sequence desc`)
    .limit(limit)
    .offset(offset);
  const keys = page.map(({ key }) => key);
  if (keys.length === 0) return [];
  let found = await selectByKeys(read, keys);
  if (found.some(({ position }) => position === null)) {
    // Committed since the call began.
    await deps.eventStream.catchUp();
    found = await selectByKeys(read, keys);
  }
  const rows = new Map(found.map((row) => [row.event.sequence, row]));
  return keys.flatMap((key) => rows.get(key) ?? []);
}

function countEvents(read: Reader, branches: readonly Branch[]) {
  const { events: e } = read.t;
  const union = sql.join(
    branches.map((branch, i) => sql`select * from ${read.select(ONE).from(e).where(toCondition(read, branch)).as(`c${i}`)}`),
    sql` union all `,
  );
  return countQuery(read, read.select(ONE).from(sql`(${union}) as branches`));
}

/** The latest events of all workspaces, newest first: for the recording of a run in dev mode. */
export async function listRecentEvents(read: Reader, limit: number): Promise<(Event & { workspaceId: string })[]> {
  const rows = await selectNewest(read, limit);
  return rows.map((row) => ({ ...showEvent(row), workspaceId: row.event.workspaceId }));
}
