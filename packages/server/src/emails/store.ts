import { EMAIL_STATES, type EmailStatus } from "@mailsvc/sdk/contract";
import { and, desc, eq, getTableColumns, gt, gte, inArray, isNotNull, isNull, lt, notExists, or, type SQL, sql } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { alias, findRows } from "../db/find.ts";
import type { HeldContactId } from "../db/held.ts";
import { type ChosenFilters, chooseFilter, countFiltered, countRows, type Filter, type Slice, type Total } from "../db/pagination.ts";
import { TEST_MAIL_FROM } from "../lib/ids.ts";
import { splitIntoChunks } from "../lib/parts.ts";
import { selectWorkspaceIds } from "../workspaces/workspaces.ts";
import { type EmailTables, IN_DOUBT, OF_MAIL, SCHEDULED } from "./tables.ts";

export type EmailRow = EmailTables["emails"]["$inferSelect"];
export type ContentsRow = EmailTables["contents"]["$inferSelect"];
type AttachmentRow = EmailTables["attachments"]["$inferSelect"];

/** An email with its contents. */
export interface FullEmail {
  readonly email: EmailRow;
  readonly contents: ContentsRow;
}

/** A mail with what a list shows of its contents; their texts may be megabytes. */
export interface ListedMail {
  /** Its recipients, in the order in which the send named them; one or more. */
  readonly emails: readonly EmailRow[];
  readonly contents: Pick<ContentsRow, "from" | "subject" | "tags" | "template" | "messageId">;
}

/** A mail with its contents. */
export interface FullMail extends ListedMail {
  readonly contents: ContentsRow;
}

/** The traces that emails belong to, as traceparents by the id of the email; those without one are left out. */
export async function findTraces(tx: Pick<Tx, "select" | "t">, workspaceId: string, ids: readonly string[]): Promise<Map<string, string>> {
  const { emails, contents } = tx.t;
  const found = new Map<string, string>();
  for (const chunk of splitIntoChunks(ids)) {
    const rows = await tx
      .select({ id: emails.id, traceparent: contents.traceparent })
      .from(emails)
      .innerJoin(contents, eq(contents.id, emails.contentsId))
      .where(and(eq(emails.workspaceId, workspaceId), inArray(emails.id, chunk), isNotNull(contents.traceparent)));
    for (const { id, traceparent } of rows) if (traceparent !== null) found.set(id, traceparent);
  }
  return found;
}

/** Contents to be inserted. Omitted fields are empty, false or null. */
export type NewContents = Pick<ContentsRow, "workspaceId" | "from" | "subject"> & Partial<Omit<ContentsRow, "id" | "threadId">>;

/** Inserts contents and returns their ids, in the same order. */
export async function insertContents(tx: Tx, rows: readonly NewContents[]): Promise<number[]> {
  return tx.insertNumbered(
    tx.t.contents,
    rows.map((row) => ({ headers: {}, tags: {}, attachments: 0, bypassUnsubscribe: false, ...row })),
  );
}

/** An email to be inserted. Omitted fields are null. */
export type NewEmail = Pick<EmailRow, "workspaceId" | "id" | "contentsId" | "to" | "toKey" | "createdAt"> &
  Partial<Omit<EmailRow, "attempts" | "inDoubt" | "updatedAt" | "contactId" | "claimedBy" | "faults">> & {
    readonly contactId?: HeldContactId | null;
  };

const NEW = { status: "queued", attempts: 0, inDoubt: false, faults: 0, bytes: 0 } as const;

/** The columns of an email that a new one may omit. */
const OMITTED = {
  ...{ name: null, mailId: null, kind: null, lastError: null, scheduledAt: null, nextAttemptAt: null, lane: null, claimedBy: null },
  ...{ sentAt: null, campaignId: null, contactId: null, variant: null, skipReason: null, relay: null, sentAs: null },
} as const satisfies Partial<EmailRow>;

/** Inserts emails, by default such that are queued, and returns them as they are stored. */
export async function insertEmails(tx: Tx, rows: readonly NewEmail[]): Promise<EmailRow[]> {
  const inserted = rows.map((row) => ({ ...NEW, ...row, updatedAt: row.createdAt }));
  await tx.insertAll(tx.t.emails, inserted);
  return inserted.map((row) => ({ ...OMITTED, ...row }));
}

export async function findEmail(q: Tx | Reader, workspaceId: string, id: string): Promise<FullEmail | null> {
  const [row] = await q
    .prepared("find_email", (build, { emails, contents }, arg) =>
      build
        .select({ email: emails, contents })
        .from(emails)
        .innerJoin(contents, eq(contents.id, emails.contentsId))
        .where(and(eq(emails.workspaceId, arg("workspaceId")), eq(emails.id, arg("id")))),
    )
    .execute({ workspaceId, id });
  return row ?? null;
}

/** A mail by its id, or by that of one of its recipients. */
export async function findMail(q: Tx | Reader, workspaceId: string, id: string): Promise<FullMail | null> {
  const found = await findEmail(q, workspaceId, id);
  if (found && found.email.mailId === null) return { emails: [found.email], contents: found.contents };
  // The first recipient, whose id the mail has, may have been erased.
  const emails = await listRecipients(q, workspaceId, [found?.email.mailId ?? id]);
  const [contents] = emails[0] ? await findContents(q, [emails[0].contentsId]) : [];
  return contents ? { emails, contents } : null;
}

/** The recipients of mails to several, in the order of their ids. */
function listRecipients(q: Tx | Reader, workspaceId: string, mailIds: readonly string[]): Promise<EmailRow[]> {
  const { emails } = q.t;
  return Promise.resolve(
    q
      .select()
      .from(emails)
      .where(and(eq(emails.workspaceId, workspaceId), inArray(emails.mailId, [...mailIds]), OF_MAIL))
      .orderBy(emails.id),
  );
}

/** An email of any workspace, for reports that name nothing else. Names the workspaces, because the key starts with them. */
export async function findEmailById(q: Tx | Reader, id: string): Promise<EmailRow | null> {
  const { emails } = q.t;
  const [row] = await q
    .select()
    .from(emails)
    .where(and(inArray(emails.workspaceId, selectWorkspaceIds(q)), eq(emails.id, id)));
  return row ?? null;
}

/** A recipient of a mail to several, of any workspace. */
export async function findRecipientById(q: Tx | Reader, mailId: string, toKey: string): Promise<EmailRow | null> {
  const { emails } = q.t;
  const [row] = await q
    .select()
    .from(emails)
    .where(and(inArray(emails.workspaceId, selectWorkspaceIds(q)), eq(emails.mailId, mailId), eq(emails.toKey, toKey)));
  return row ?? null;
}

/** An attachment without its bytes. */
type AttachmentInfo = Omit<AttachmentRow, "content">;

/** The attachments of several contents, by the id of the contents that own them, in their order; their bytes are not read. */
export async function listAttachmentInfo(q: Tx | Reader, contents: readonly ContentsRow[]): Promise<Map<number, AttachmentInfo[]>> {
  const owners = contents.filter((c) => c.attachments > 0).map(({ id, filesOf }) => filesOf ?? id);
  if (owners.length === 0) return new Map();
  const { content: _, ...columns } = getTableColumns(q.t.attachments);
  const { contentsId, position } = columns;
  const rows = await q
    .select(columns)
    .from(q.t.attachments)
    .where(inArray(contentsId, [...new Set(owners)]))
    .orderBy(contentsId, position);
  return Map.groupBy(rows as AttachmentInfo[], (row) => row.contentsId);
}

/** The columns of an email that change. */
type Mutable = Pick<
  EmailRow,
  | "status"
  | "attempts"
  | "inDoubt"
  | "lastError"
  | "scheduledAt"
  | "nextAttemptAt"
  | "lane"
  | "sentAt"
  | "skipReason"
  | "updatedAt"
  | "relay"
  | "sentAs"
>;
export type EmailPatch = Partial<Mutable> & Pick<Mutable, "updatedAt">;

/** A change of an email as it was read. */
interface EmailChange {
  readonly email: EmailRow;
  readonly patch: EmailPatch;
}

/**
 * Updates emails whose status, number of attempts and scheduled instant are still as they were read; tells for each whether it was.
 * There is no other way to update one, so of two callers at once exactly one succeeds. No email may be among them twice.
 *
 * An email leaves the queue when it ends, and while it has no instant. Only a mark keeps its claim: after any other change nobody holds it.
 */
export function updateEmails(tx: Tx, changes: readonly EmailChange[]): Promise<boolean[]> {
  // An attempt at the relay of the attempt before changes nothing.
  const routed = changes.some(({ email, patch }) => patch.relay !== undefined && patch.relay !== email.relay);
  // Few relays tell a Message-ID of their own.
  const renamed = changes.some(({ email, patch }) => patch.sentAs !== undefined && patch.sentAs !== email.sentAs);
  return tx.updateAll(
    tx.t.emails,
    changes.map(({ email, patch }) => {
      const row = patchEmail(email, patch);
      const { status, attempts, inDoubt, lastError, scheduledAt, nextAttemptAt, sentAt, skipReason, updatedAt, relay, sentAs } = row;
      const { lane, claimedBy, faults } = row;
      const ofQueue = { nextAttemptAt, lane, claimedBy, faults };
      const set = { status, attempts, inDoubt, lastError, scheduledAt, ...ofQueue, sentAt, skipReason, updatedAt };
      const { workspaceId, id } = email;
      return {
        // The instant too: an email that was rescheduled while it waited for its hand-over is as `queued` as before.
        where: { workspaceId, id, attempts: email.attempts, status: email.status, scheduledAt: email.scheduledAt },
        set: { ...set, ...(routed && { relay }), ...(renamed && { sentAs }) },
      };
    }),
  );
}

/** An email as `updateEmails` leaves it. */
export function patchEmail(email: EmailRow, patch: EmailPatch): EmailRow {
  const row = { ...email, ...patch };
  const waits = EMAIL_STATES[row.status].open && row.nextAttemptAt !== null;
  const isMarked = row.status === "sending";
  return { ...row, lane: waits ? row.lane : null, claimedBy: isMarked ? row.claimedBy : null, faults: isMarked ? row.faults : 0 };
}

/** Emails by their ids, without their contents. */
export function findEmailRows(q: Reader, workspaceId: string, ids: readonly string[]): Promise<EmailRow[]> {
  return findRows(q, q.t.emails, { workspaceId, id: ids });
}

/** Contents by their ids. */
export function findContents(q: Reader | Tx, ids: readonly number[]): Promise<ContentsRow[]> {
  return findRows(q, q.t.contents, { id: ids });
}

export interface EmailFilter {
  /** Only emails with this id or a larger one, and only those with a smaller one. */
  since?: string | undefined;
  before?: string | undefined;
  /** Only mail of test keys, or only other mail; both when absent. */
  test?: boolean | undefined;
  status?: EmailStatus | undefined;
  /** Only emails that are scheduled for a time after this instant, ms. */
  scheduledAfter?: number | undefined;
  toKey?: string | undefined;
  inDoubt?: boolean | undefined;
}

/** Chooses the index that serves a filter with few rows read. It finds the first matching recipient of a mail to several. */
export async function chooseEmails(q: Reader, workspaceId: string, filter: EmailFilter): Promise<ChosenFilters> {
  const { emails } = q.t;
  const { since, test, status, scheduledAfter, toKey, inDoubt } = filter;
  // An address is a recipient of a mail once.
  const first = toKey === undefined ? isFirstOfMail(q, filter) : undefined;
  const later = since === undefined ? undefined : gte(emails.id, since);
  const all = and(eq(emails.workspaceId, workspaceId), test === undefined ? undefined : isTest(q, test), later, first);
  const filters: Filter[] = [];
  if (inDoubt) filters.push({ scope: and(all, IN_DOUBT), condition: eq(emails.inDoubt, true) });
  if (toKey !== undefined) filters.push({ scope: all, condition: eq(emails.toKey, toKey) });
  if (status !== undefined) filters.push({ scope: all, condition: eq(emails.status, status) });
  if (scheduledAfter !== undefined)
    filters.push({ scope: and(all, SCHEDULED), condition: sql`(${SCHEDULED} and ${emails.scheduledAt} > ${scheduledAfter})` });
  const certain = inDoubt === false ? eq(emails.inDoubt, false) : undefined;
  // Nearly all emails are certain: without another filter they are counted on the way down.
  if (filters.length === 0) return { where: and(all, certain), unindexed: undefined };
  const { where, unindexed } = await chooseFilter(q, emails, filters);
  return { where, unindexed: and(unindexed, certain) };
}

/** The condition that no earlier recipient of the same mail matches a filter. */
export function isFirstOfMail(q: Reader, { status, scheduledAfter, inDoubt }: EmailFilter): SQL | undefined {
  const { emails } = q.t;
  const earlier = alias(emails, "earlier");
  return or(
    isNull(emails.mailId),
    notExists(
      q
        .select({ one: sql`1` })
        .from(earlier)
        .where(
          and(
            eq(earlier.workspaceId, emails.workspaceId),
            eq(earlier.mailId, emails.mailId),
            lt(earlier.id, emails.id),
            status === undefined ? undefined : eq(earlier.status, status),
            scheduledAfter === undefined ? undefined : and(eq(earlier.status, "queued"), gt(earlier.scheduledAt, scheduledAfter)),
            inDoubt === undefined ? undefined : eq(earlier.inDoubt, inDoubt),
          ),
        ),
    ),
  );
}

export function countEmails(q: Reader, chosen: ChosenFilters): Promise<Total> {
  const { emails } = q.t;
  return countFiltered(q, emails, chosen, emails.id);
}

/** A query for the ids of emails, newest first. */
export function selectIds(q: Reader, { where, unindexed }: ChosenFilters, { before, limit, offset }: Slice) {
  const { emails } = q.t;
  return q
    .select({ id: emails.id })
    .from(emails)
    .where(and(where, unindexed, before === null ? undefined : lt(emails.id, before)))
    .orderBy(desc(emails.id))
    .limit(limit)
    .offset(offset);
}

/** The condition that emails are those of test keys, or all others. Each index holds the two apart. */
export function isTest({ t: { emails } }: Pick<Reader, "t">, test: boolean): SQL {
  return test ? gte(emails.id, TEST_MAIL_FROM) : lt(emails.id, TEST_MAIL_FROM);
}

/** The ids of emails to an address, newest first. */
export async function listIdsTo(q: Reader, workspaceId: string, toKey: string, slice: Omit<Slice, "offset">): Promise<string[]> {
  const rows = await selectIds(q, await chooseEmails(q, workspaceId, { toKey }), { ...slice, offset: 0 });
  return rows.map(({ id }) => id);
}

export async function selectEmails(
  q: Reader,
  workspaceId: string,
  chosen: ChosenFilters,
  slice: Slice,
): Promise<(ListedMail & { id: string })[]> {
  const { emails, contents } = q.t;
  // Ids first: rows that the offset skips are not read.
  const page = selectIds(q, chosen, slice).as("page");
  const rows = await q
    .select({ email: emails, contents: listedColumns(contents) })
    .from(page)
    .innerJoin(emails, and(eq(emails.workspaceId, workspaceId), eq(emails.id, page.id)))
    .innerJoin(contents, eq(contents.id, emails.contentsId))
    .orderBy(desc(page.id));
  return withRecipients(q, rows);
}

/** Mails by the ids of one of their recipients each, newest first. */
export async function selectListed(q: Reader, workspaceId: string, ids: readonly string[]): Promise<(ListedMail & { id: string })[]> {
  if (ids.length === 0) return [];
  const { emails, contents } = q.t;
  const rows = await q
    .select({ email: emails, contents: listedColumns(contents) })
    .from(emails)
    .innerJoin(contents, eq(contents.id, emails.contentsId))
    .where(and(eq(emails.workspaceId, workspaceId), inArray(emails.id, [...ids])))
    .orderBy(desc(emails.id));
  return withRecipients(q, rows);
}

function listedColumns({ from, subject, tags, template, messageId }: EmailTables["contents"]) {
  return { from, subject, tags, template, messageId };
}

/** Whole mails, given one email of each. `id` is that of the email. */
async function withRecipients<Contents extends ListedMail["contents"]>(
  q: Reader,
  rows: readonly { email: EmailRow; contents: Contents }[],
): Promise<{ id: string; emails: EmailRow[]; contents: Contents }[]> {
  const several = Map.groupBy(
    rows.filter(({ email }) => email.mailId !== null),
    ({ email }) => email.workspaceId,
  );
  const found: EmailRow[] = [];
  for (const [workspaceId, own] of several)
    found.push(
      ...(await listRecipients(
        q,
        workspaceId,
        own.flatMap(({ email }) => email.mailId ?? []),
      )),
    );
  const recipients = Map.groupBy(found, ({ mailId }) => mailId);
  return rows.map(({ email, contents }) => ({
    id: email.id,
    emails: (email.mailId === null ? undefined : recipients.get(email.mailId)) ?? [email],
    contents,
  }));
}

/** Emails of a workspace by their ids, newest first, each as a mail to this recipient alone. */
export async function findEmails(q: Reader, workspaceId: string, ids: readonly string[]): Promise<FullMail[]> {
  const { emails, contents } = q.t;
  const rows = await q
    .select({ email: emails, contents })
    .from(emails)
    .innerJoin(contents, eq(contents.id, emails.contentsId))
    .where(and(eq(emails.workspaceId, workspaceId), inArray(emails.id, [...ids])))
    .orderBy(desc(emails.id));
  return rows.map(({ email, contents: own }) => ({ emails: [email], contents: own }));
}

/** The newest mails of all workspaces. */
export async function selectNewestEmails(q: Reader, limit: number): Promise<ListedMail[]> {
  const { emails, contents } = q.t;
  const rows = await q
    .select({ email: emails, contents: listedColumns(contents) })
    .from(emails)
    .innerJoin(contents, eq(contents.id, emails.contentsId))
    .where(isFirstOfMail(q, {}))
    // By time, because the ids of test mail sort after all others.
    .orderBy(desc(emails.createdAt), desc(emails.id))
    .limit(limit);
  return withRecipients(q, rows);
}

/** Emails of all workspaces with a status, without test mail. Names the workspaces, because the index of statuses starts with them. */
export function countStatus(q: Reader, status: Exclude<EmailStatus, "queued">): Promise<Total> {
  const { emails } = q.t;
  return countRows(
    q,
    emails,
    and(inArray(emails.workspaceId, selectWorkspaceIds(q)), isTest(q, false), q.sqlDialect.rarely(eq(emails.status, status))),
  );
}

/** Emails of all workspaces in doubt. */
export function countInDoubt(q: Reader): Promise<Total> {
  return countRows(q, q.t.emails, IN_DOUBT);
}
