import {
  addressKey,
  CALENDAR_LIMITS,
  type CapturedMail,
  type CapturedMailDetail,
  type Page,
  SEND_LIMITS,
  showCalendar,
} from "@mailsvc/sdk/contract";
import { and, asc, desc, eq, exists, gt, gte, inArray, isNull, lt, or, type SQL } from "drizzle-orm";
import type { z } from "zod";
import type { Db, Reader, Tx } from "../db/db.ts";
import { contains } from "../db/dialect.ts";
import { findRows } from "../db/find.ts";
import { listPage, type PageInput } from "../db/pagination.ts";
import type { InboundDeps } from "../inbound/deps.ts";
import { type CapturedContent, type MailParser, type MailToAnswer, readCapturedMail } from "../inbound/inbound.ts";
import { notFound } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import { toLabelOfTag } from "../lib/message-id.ts";
import { joinParts, splitIntoChunks } from "../lib/parts.ts";
import { DAY, HOUR } from "../lib/units.ts";
import type { JobHandler } from "../queue/queue.ts";
import type { DeleteOld } from "../retention/retention.ts";
import { selectWorkspacesNamed } from "../workspaces/workspaces.ts";
import { deleteParts, findPart, WHOLE_BYTES } from "./parts.ts";
import type { MailReleaser } from "./releaser.ts";
import { type InboxTables, OF_TEST_KEYS } from "./tables.ts";

/** The job that deletes old mail of test keys; one of it always waits. */
export const CLEAR_TEST_MAIL_JOB = "inbox.clearTestMail";

const KEPT_MS = SEND_LIMITS.testMailDays * DAY;

// Mails deleted per transaction.
const CHUNK = 500;

/** A captured mail as it is stored. */
export type MailRow = InboxTables["inbox"]["$inferSelect"];
/** The same, without the message. */
export type MailSummary = Omit<MailRow, "raw">;
type ReadingDeps = Pick<InboxDeps, "capturedMailParser">;

/** The filters of the inbox; `from` and `subject` match a part of the text. */
export interface MailFilter {
  to?: string | undefined;
  from?: string | undefined;
  subject?: string | undefined;
  /** The id of a workspace. */
  workspaceId?: string | undefined;
  /** The id or the name of a workspace: for dev mode only, where SMTP knows worlds by their names and nobody else is there. */
  workspace?: string | undefined;
  /** A tag of its email as `name=value`. */
  tag?: string | undefined;
  /** Only mail of test keys. */
  test?: true;
}

export function listMail(read: Reader, input: PageInput & MailFilter): Promise<Page<CapturedMail>> {
  const { inbox } = read.t;
  const where = buildFilter(read, input);
  return listPage(read, input, { table: inbox, columns: summaryColumns(read), where, toItem: toCapturedMail });
}

/** Captured mail that a wait considers. */
export interface WaitedMail extends MailFilter {
  /** The id of a mail: only what was captured later. */
  readonly after?: string | undefined;
  /** Only what was captured then or later. */
  readonly since?: string | undefined;
}

/** The oldest mail that matches. */
export async function findFirstMail(read: Reader, { after, since, ...match }: WaitedMail): Promise<MailRow | null> {
  const { inbox } = read.t;
  const [row] = await read
    .select()
    .from(inbox)
    .where(
      and(
        buildFilter(read, match),
        after === undefined ? undefined : gt(inbox.id, after),
        since === undefined ? undefined : gte(inbox.receivedAt, Date.parse(since)),
      ),
    )
    .orderBy(asc(inbox.id))
    .limit(1);
  return row ? joinRow(read, row) : null;
}

/** The id of the mail that was captured last; undefined when there is none. */
export async function findLastMailId(read: Reader): Promise<string | undefined> {
  const { inbox } = read.t;
  const [last] = await read.select({ id: inbox.id }).from(inbox).orderBy(desc(inbox.id)).limit(1);
  return last?.id;
}

/** Returns the time at which the last mail was captured; null when there is none. */
export async function findLastMailTime(read: Reader): Promise<number | null> {
  const { inbox } = read.t;
  const [last] = await read.select({ at: inbox.receivedAt }).from(inbox).orderBy(desc(inbox.id)).limit(1);
  return last?.at ?? null;
}

/** One captured mail; of a workspace only one of its test keys. Throws ApiError not_found. */
export async function getMail(read: Reader, id: string, workspace?: string): Promise<MailRow> {
  const row = await findMail(read, id, workspace);
  if (!row) throw notFound("captured mail", id);
  return row;
}

/** The same; null when there is none. */
export async function findMail(read: Reader, id: string, workspace?: string): Promise<MailRow | null> {
  const [row] = await findRows(read, read.t.inbox, { id });
  const isOwn = workspace === undefined || (row?.test && row.workspaceId === workspace);
  return row && isOwn ? joinRow(read, row) : null;
}

/**
 * A captured mail of a workspace, or one of the server itself, without its message. Throws ApiError not_found, also for one of another
 * workspace.
 */
export async function getOwnMail(read: Reader, id: string, workspaceId: string): Promise<MailSummary> {
  const { inbox } = read.t;
  const own = or(eq(inbox.workspaceId, workspaceId), isNull(inbox.workspaceId));
  const [row] = await read
    .select(summaryColumns(read))
    .from(inbox)
    .where(and(eq(inbox.id, id), own));
  if (!row) throw notFound("captured mail", id);
  return row;
}

/** A captured mail, parsed as a mail program would. Throws ApiError rate_limited. */
export async function parseMail(deps: ReadingDeps, row: MailRow): Promise<z.infer<typeof CapturedMailDetail>> {
  const { headers, html, text, links, codes, files, calendar, truncated } = await readContent(deps, row);
  const attachments = files.map(({ content, ...file }) => ({ ...file, size: content.length }));
  const icalEvent = calendar !== null && calendar.length <= CALENDAR_LIMITS.content ? showCalendar(calendar) : null;
  const content = { headers: [...headers], html, text, links: [...links], codes: [...codes], attachments, icalEvent };
  return { ...toCapturedMail(row), ...content, truncated };
}

/** Reads the content of a captured mail, with its files. Throws ApiError rate_limited. */
export function readContent({ capturedMailParser }: ReadingDeps, { raw }: MailRow): Promise<CapturedContent> {
  return readCapturedMail(capturedMailParser, raw);
}

/** A captured mail as its recipient sees it, to be answered. */
export async function toMailToAnswer(deps: ReadingDeps, row: MailRow): Promise<MailToAnswer> {
  const { headers, text, replyTo } = await readContent(deps, row);
  const find = (name: string): string | null => headers.find((header) => header.name.toLowerCase() === name)?.value ?? null;
  return {
    ...{ from: row.from, to: row.to, subject: row.subject },
    text,
    replyTo: replyTo && [...replyTo],
    messageId: find("message-id") ?? "",
    references: find("references"),
    date: row.receivedAt,
  };
}

export function clearMail(db: Db): Promise<number> {
  return db.tx((tx) => deleteMails(tx, undefined));
}

/** Deletes one captured mail; of a workspace only one of its test keys. Throws ApiError not_found. */
export async function deleteMail(tx: Tx, id: string, workspace?: string): Promise<CapturedMail> {
  const { inbox } = tx.t;
  const own = workspace === undefined ? undefined : and(eq(inbox.workspaceId, workspace), OF_TEST_KEYS);
  const [deleted] = await tx
    .delete(inbox)
    .where(and(eq(inbox.id, id), own))
    .returning(summaryColumns(tx));
  if (!deleted) throw notFound("captured mail", id);
  await deleteParts(tx, [id]);
  return toCapturedMail(deleted);
}

/** Deletes captured mail of the test keys of a workspace, and returns how much it was. */
export function clearTestMail(tx: Tx, workspaceId: string): Promise<number> {
  return deleteMails(tx, and(eq(tx.t.inbox.workspaceId, workspaceId), OF_TEST_KEYS));
}

/** The job that deletes mail of test keys after its time, in chunks. It sleeps while there is nothing to delete. */
export function deleteOldTestMail({ db, clock }: InboxDeps): JobHandler {
  return async () => {
    const { inbox } = db.read.t;
    const oldest = await db.read
      .select({ id: inbox.id, at: inbox.receivedAt })
      .from(inbox)
      .where(OF_TEST_KEYS)
      .orderBy(asc(inbox.receivedAt))
      .limit(CHUNK);
    const old = oldest.filter(({ at }) => at < clock.now() - KEPT_MS).map(({ id }) => id);
    const next = oldest[old.length];
    return {
      again: old.length === CHUNK ? clock.now() : Math.max((next?.at ?? clock.now()) + KEPT_MS, clock.now() + HOUR),
      commit: async (tx) => void (await deleteMails(tx, inArray(tx.t.inbox.id, old))),
    };
  };
}

/** Deletes captured mails. Returns how many there were. */
export async function deleteMails(tx: Tx, where: SQL | undefined): Promise<number> {
  const { inbox } = tx.t;
  const deleted = await tx.delete(inbox).where(where).returning({ id: inbox.id, size: inbox.size });
  const large = deleted.filter(({ size }) => size > WHOLE_BYTES).map(({ id }) => id);
  await deleteParts(tx, large);
  return deleted.length;
}

/** Deletes captured copies of mail to an address, and of mails by their ids. Returns how many there were. */
export async function deleteMailsNaming(tx: Tx, workspaceId: string, address: string, mailIds: readonly string[]): Promise<number> {
  const { inbox: t } = tx.t;
  const naming = [eq(t.to, address), ...splitIntoChunks(mailIds).map((chunk) => inArray(t.emailId, chunk))];
  let deleted = 0;
  for (const which of naming) deleted += await deleteMails(tx, and(eq(t.workspaceId, workspaceId), which));
  return deleted;
}

/** A mail with all of its parts. Throws ApiError not_found when it is deleted meanwhile. */
async function joinRow(read: Reader, row: MailRow): Promise<MailRow> {
  const raw = await joinParts(row.raw, row.size, async (part) => {
    const found = await findPart(read, row.id, part);
    if (!found) throw notFound("captured mail", row.id);
    return found;
  });
  return { ...row, raw };
}

/** A captured mail without its content. */
export function toCapturedMail(row: MailSummary): CapturedMail {
  return {
    id: row.id,
    emailId: row.emailId,
    workspaceId: row.workspaceId,
    to: row.to,
    from: row.from,
    subject: row.subject,
    size: row.size,
    receivedAt: iso(row.receivedAt),
  };
}

/** The condition of a filter. */
export function buildFilter(read: Reader, { to, from, subject, workspaceId, workspace, tag, test }: MailFilter) {
  const { inbox } = read.t;
  const { sqlDialect: words } = read;
  return and(
    test ? OF_TEST_KEYS : undefined,
    to === undefined ? undefined : eq(inbox.to, addressKey(to)),
    from === undefined ? undefined : contains(words, inbox.from, from),
    subject === undefined ? undefined : contains(words, inbox.subject, subject),
    workspaceId === undefined ? undefined : eq(inbox.workspaceId, workspaceId),
    workspace === undefined ? undefined : inWorkspace(read, workspace),
    tag === undefined ? undefined : hasTag(read, tag),
  );
}

/** The condition that the email of a mail has a tag. */
function hasTag(read: Reader, tag: string): SQL {
  const { inbox, emailLabels: t } = read.t;
  return exists(
    read
      .select({ id: t.emailId })
      .from(t)
      .where(and(eq(t.workspaceId, inbox.workspaceId), eq(t.label, toLabelOfTag(tag)), eq(t.emailId, inbox.emailId))),
  );
}

/** The condition that mail is of a workspace, by its id or its name. */
function inWorkspace(read: Reader, workspace: string): SQL | undefined {
  const { inbox } = read.t;
  return or(eq(inbox.workspaceId, workspace), inArray(inbox.workspaceId, selectWorkspacesNamed(read, workspace)));
}

/** All columns but the message itself, which may be 20 MB. */
export function summaryColumns({ t: { inbox } }: Reader) {
  return {
    id: inbox.id,
    emailId: inbox.emailId,
    workspaceId: inbox.workspaceId,
    to: inbox.to,
    from: inbox.from,
    subject: inbox.subject,
    size: inbox.size,
    receivedAt: inbox.receivedAt,
    test: inbox.test,
  };
}

/** Dependencies of captured mail; in dev mode its recipients answer. */
export interface InboxDeps extends InboundDeps {
  readonly releaser: MailReleaser;
  /** Reads captured mail, so that who asks for much of it does not hold up received mail. */
  readonly capturedMailParser: MailParser;
}

// Mails deleted at once: each may have 50 MB.
const OLD_MAILS = 10;

/** Deletes old copies of mail that was captured instead of sent. */
export const deleteOldCaptures: DeleteOld = async (tx, keys, before) => {
  const { inbox: m } = tx.t;
  const old = await tx
    .select({ id: m.id })
    .from(m)
    .where(and(inArray(m.id, keys.map(String)), lt(m.receivedAt, before)))
    .limit(OLD_MAILS);
  const ids = old.map(({ id }) => id);
  if (ids.length > 0) await deleteMails(tx, inArray(m.id, ids));
  return old.length === OLD_MAILS ? "more" : undefined;
};
