import { EMAIL_STATUSES, type Email, type EmailReaction, type EmailStatus, type Page, toUnicodeDomain } from "@mailsvc/sdk/contract";
import { and, desc, eq, gt, gte, lt, or, type SQL, sql } from "drizzle-orm";
import type { Reader } from "../db/db.ts";
import { type PageInput, paginateById, type Slice, type Total, toIdCursor } from "../db/pagination.ts";
import type { EmailLabel } from "../lib/message-id.ts";
import { waitForTurn } from "../lib/turn.ts";
import { showEmail } from "./show.ts";
import { chooseEmails, type EmailFilter, isFirstOfMail, isTest, type ListedMail, selectIds, selectListed } from "./store.ts";
import { OF_CAMPAIGN } from "./tables.ts";

/** A filter of which some conditions have no index of emails. */
interface ExaminedFilter extends EmailFilter {
  /** Labels that the email has: all of them. */
  readonly labels: readonly EmailLabel[];
  readonly campaignId?: string | undefined;
  readonly reaction?: EmailReaction | undefined;
  /** The address it comes from, as `addressKey` returns it. */
  readonly from?: string | undefined;
  /** Text that its subject begins with. */
  readonly subject?: string | undefined;
}

// Emails that are looked at in one query: some milliseconds.
const SLICE = 1000;
// Slices that a page looks at until it is full.
const MAX_SLICES = 10;

/** The newest emails that one index yields, and those of them that match. */
interface Examined {
  readonly matching: readonly string[];
  /** Number of emails examined. */
  readonly count: number;
  /** The last id that was looked at; null if there are no more. */
  readonly end: string | null;
}

/**
 * Lists a page of emails, newest first, for filters that need rows of several tables. One index yields candidates: that of the recipient,
 * else that of a label or the campaign, else that of the status, else all emails. The newest of them are examined until the page is full,
 * ten thousand at most, so a page takes as long in a million emails as in ten thousand. A page may therefore be short, or empty, although
 * more follow; `examined` of its pagination tells how many were examined. `readable` gives mails of the page their final subjects.
 */
export async function listExamined(
  read: Reader,
  workspaceId: string,
  filter: ExaminedFilter,
  page: PageInput,
  readable: (mails: readonly Found[]) => Promise<Found[]>,
): Promise<Page<Email>> {
  const first = filter.before ?? null;
  // Earlier results by their start: the page and the count often begin at the same place.
  const known = new Map<string | null, Examined>();
  let from = first;
  const examine = async (before: string | null, wanted: number): Promise<Examined> => {
    let [count, end]: [number, string | null] = [0, before];
    const matching: string[] = [];
    for (let slices = 0; slices < MAX_SLICES && matching.length < wanted && (end !== null || slices === 0); slices += 1) {
      if (slices > 0) await waitForTurn();
      const ids = await selectCandidates(read, workspaceId, filter, { before: end, limit: SLICE, offset: 0 });
      if (ids.length > 0) matching.push(...(await selectMatching(read, workspaceId, filter, ids)));
      count += ids.length;
      end = ids.length < SLICE ? null : (ids.at(-1) ?? null);
    }
    const examined = { matching, count, end };
    known.set(before, examined);
    return examined;
  };
  const count = async (): Promise<Total> => {
    const { matching, end } = known.get(first) ?? (await examine(first, 1));
    return { total: matching.length, isMinimum: end !== null };
  };
  const found = await paginateById<Found, Email>(
    page,
    async ({ before, limit, offset }) => {
      from = before ?? first;
      const { matching } = await examine(from, offset + limit);
      return readable(await selectListed(read, workspaceId, matching.slice(offset, offset + limit)));
    },
    count,
    showEmail,
  );
  const { end = null, count: examined = 0 } = known.get(from) ?? {};
  const more = found.pagination.hasMore || end === null ? {} : { hasMore: true, nextCursor: toIdCursor(end) };
  return { ...found, pagination: { ...found.pagination, examined, ...more } };
}

/** A mail of a page, by the id of one of its recipients. */
type Found = ListedMail & { id: string };

/** The ids of the emails to look at, newest first. */
async function selectCandidates(read: Reader, workspaceId: string, filter: ExaminedFilter, slice: Slice): Promise<string[]> {
  const { campaignId, toKey } = filter;
  const label = findSourceLabel(filter);
  if (label !== undefined) return selectLabelled(read, workspaceId, label, filter, slice);
  if (toKey === undefined && campaignId !== undefined)
    return (await hasCampaign(read, workspaceId, campaignId)) ? selectOfCampaign(read, campaignId, filter, slice) : [];
  const rows = await selectIds(read, await chooseEmails(read, workspaceId, filter), slice);
  return rows.map(({ id }) => id);
}

/** True if a workspace has mail of a campaign, all of which is of one workspace. Others must not learn where the campaign's pages end. */
async function hasCampaign(read: Reader, workspaceId: string, campaignId: string): Promise<boolean> {
  const { emails } = read.t;
  const ofCampaign = and(OF_CAMPAIGN, eq(emails.campaignId, campaignId));
  const [first] = await read.select({ workspaceId: emails.workspaceId }).from(emails).where(ofCampaign).limit(1);
  return first?.workspaceId === workspaceId;
}

/** The label whose index yields the candidates. All of them have it, so it is not checked again. */
function findSourceLabel({ labels, toKey }: ExaminedFilter): EmailLabel | undefined {
  return toKey === undefined ? labels[0] : undefined;
}

async function selectLabelled(
  read: Reader,
  workspaceId: string,
  label: EmailLabel,
  { since }: EmailFilter,
  { before, limit }: Slice,
): Promise<string[]> {
  const { emailLabels: t } = read.t;
  const within = and(before === null ? undefined : lt(t.emailId, before), since === undefined ? undefined : gte(t.emailId, since));
  const rows = await read
    .select({ id: t.emailId })
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), eq(t.label, label), within))
    .orderBy(desc(t.emailId))
    .limit(limit);
  return rows.map(({ id }) => id);
}

/**
 * The ids of the newest emails of a campaign, newest first. The index of a campaign starts with the status, so the newest of each are
 * merged: all in one statement.
 */
export async function selectOfCampaign(
  read: Reader,
  campaignId: string,
  { status, since }: Pick<EmailFilter, "status" | "since">,
  { before, limit, offset }: Slice,
): Promise<string[]> {
  const { emails } = read.t;
  const within = and(before === null ? undefined : lt(emails.id, before), since === undefined ? undefined : gte(emails.id, since));
  const selectNewest = (one: EmailStatus) => {
    const newest = read
      .select({ id: emails.id })
      .from(emails)
      .where(and(OF_CAMPAIGN, eq(emails.campaignId, campaignId), eq(emails.status, one), within))
      .orderBy(desc(emails.id))
      .limit(limit + offset)
      .as("newest");
    return read.select({ id: newest.id }).from(newest);
  };
  const statuses = status === undefined ? EMAIL_STATUSES : [status];
  const [first, ...others] = statuses.map(selectNewest);
  const merged = others.reduce((all, one) => all.unionAll(one) as typeof all, first as ReturnType<typeof selectNewest>);
  const rows = await merged.orderBy(sql`id desc`).limit(limit).offset(offset);
  return rows.map(({ id }) => id);
}

/** Returns the candidates that match all conditions, newest first. */
async function selectMatching(read: Reader, workspaceId: string, filter: ExaminedFilter, ids: readonly string[]): Promise<string[]> {
  const { emails, contents } = read.t;
  const ofContents = matchContents(read, filter);
  const source = findSourceLabel(filter);
  const where = and(
    eq(emails.workspaceId, workspaceId),
    read.sqlDialect.among(emails.id, sql`${JSON.stringify(ids)}`),
    matchEmail(read, filter),
    ...filter.labels.filter((label) => label !== source).map((label) => hasLabel(read, workspaceId, label)),
    filter.reaction === undefined ? undefined : hasReaction(read, workspaceId, filter.reaction),
    ofContents,
  );
  const query = read.select({ id: emails.id }).from(emails);
  const rows = await (ofContents ? query.innerJoin(contents, eq(contents.id, emails.contentsId)) : query)
    .where(where)
    .orderBy(desc(emails.id));
  return rows.map(({ id }) => id);
}

function matchEmail(read: Reader, filter: ExaminedFilter): SQL | undefined {
  const { emails } = read.t;
  const { status, scheduledAfter, toKey, inDoubt, test, campaignId } = filter;
  return and(
    test === undefined ? undefined : isTest(read, test),
    status === undefined ? undefined : eq(emails.status, status),
    scheduledAfter === undefined ? undefined : and(eq(emails.status, "queued"), gt(emails.scheduledAt, scheduledAfter)),
    toKey === undefined ? isFirstOfMail(read, filter) : eq(emails.toKey, toKey),
    inDoubt === undefined ? undefined : eq(emails.inDoubt, inDoubt),
    campaignId === undefined ? undefined : eq(emails.campaignId, campaignId),
  );
}

/** True for emails with an open, or a click, of a person. */
function hasReaction(read: Reader, workspaceId: string, reaction: EmailReaction): SQL {
  const { emails, engagements: t } = read.t;
  const found = read
    .select({ emailId: t.emailId })
    .from(t)
    .where(
      and(
        eq(t.workspaceId, workspaceId),
        eq(t.emailId, emails.id),
        eq(t.machine, false),
        reaction === "opened" ? eq(t.linkId, 0) : gt(t.linkId, 0),
      ),
    )
    .limit(1);
  return sql`${found} is not null`;
}

/** Looks the label up by its key. Not as `exists`, for which Postgres may read all labels and join them. */
function hasLabel(read: Reader, workspaceId: string, label: EmailLabel): SQL {
  const { emails, emailLabels: t } = read.t;
  const found = read
    .select({ label: t.label })
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), eq(t.label, label), eq(t.emailId, emails.id)));
  return sql`${found} is not null`;
}

function matchContents({ t: { contents }, sqlDialect: words }: Reader, { from, subject }: ExaminedFilter): SQL | undefined {
  const sender = words.fold(contents.from);
  const isFrom = (address: string): SQL | undefined =>
    or(eq(sender, words.fold(words.text(address))), words.ends(sender, words.fold(words.text(`<${address}>`))));
  return and(
    from === undefined ? undefined : or(...listSpellings(from).map(isFrom)),
    subject === undefined ? undefined : words.starts(words.fold(contents.subject), words.fold(words.text(subject))),
  );
}

/** An address with its domain in ASCII, and in Unicode where that differs: From has one of them. */
function listSpellings(key: string): string[] {
  const at = key.lastIndexOf("@") + 1;
  return [...new Set([key, key.slice(0, at) + toUnicodeDomain(key.slice(at))])];
}
