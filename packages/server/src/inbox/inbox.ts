import type { CapturedMail, CapturedMailDetail, Page } from "@mailsvc/sdk/contract";
import { addressKey } from "@mailsvc/sdk/contract";
import { and, asc, desc, eq, gt } from "drizzle-orm";
import type { z } from "zod";
import type { Db, Reader } from "../db/db.ts";
import { contains } from "../db/dialect.ts";
import { findRows } from "../db/find.ts";
import { listPage, type PageInput } from "../db/pagination.ts";
import { notFound } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import { joinParts } from "../lib/parts.ts";
import type { InboxTables } from "./tables.ts";

type Row = InboxTables["inbox"]["$inferSelect"];
type Summary = Omit<Row, "raw">;

/** The filters of the inbox; `from` and `subject` match a part of the text. */
export interface MailFilter {
  to?: string | undefined;
  from?: string | undefined;
  subject?: string | undefined;
  workspace?: string | undefined;
}

export function listMail(read: Reader, input: PageInput & MailFilter): Promise<Page<CapturedMail>> {
  const { inbox } = read.t;
  const where = buildFilter(read, input);
  return listPage(read, input, { table: inbox, columns: summaryColumns(read), where, toItem: toCapturedMail });
}

/** The oldest mail that matches and was captured after `after`. */
export async function findFirstMail(read: Reader, match: MailFilter, after: string | undefined): Promise<Row | null> {
  const { inbox } = read.t;
  const [row] = await read
    .select()
    .from(inbox)
    .where(and(buildFilter(read, match), after === undefined ? undefined : gt(inbox.id, after)))
    .orderBy(asc(inbox.id))
    .limit(1);
  return row ? joinRow(read, row) : null;
}

/** When the last mail was captured; null when there is none. */
export async function findLastMailTime(read: Reader): Promise<number | null> {
  const { inbox } = read.t;
  const [last] = await read.select({ at: inbox.receivedAt }).from(inbox).orderBy(desc(inbox.id)).limit(1);
  return last?.at ?? null;
}

/** One captured mail. Throws ApiError not_found. */
export async function getMail(read: Reader, id: string): Promise<Row> {
  const [row] = await findRows(read, read.t.inbox, { id });
  if (!row) throw notFound("captured mail", id);
  return joinRow(read, row);
}

/** A captured mail, parsed as a mail program would. */
export async function parseMail(row: Row): Promise<z.infer<typeof CapturedMailDetail>> {
  const { default: PostalMime } = await import("postal-mime");
  const parsed = await PostalMime.parse(row.raw);
  return {
    ...toCapturedMail(row),
    headers: parsed.headers.map(({ originalKey, value }) => ({ name: originalKey, value })),
    html: parsed.html ?? null,
    text: parsed.text ?? null,
    attachments: parsed.attachments.map(({ filename, mimeType, contentId, content }) => ({
      filename: filename ?? "",
      contentType: mimeType,
      contentId: contentId?.replace(/^<|>$/g, "") ?? null,
      size: typeof content === "string" ? Buffer.byteLength(content) : content.byteLength,
    })),
  };
}

export function clearMail(db: Db): Promise<number> {
  return db.tx(async (tx) => {
    await tx.delete(tx.t.inboxParts);
    return (await tx.delete(tx.t.inbox).returning({ id: tx.t.inbox.id })).length;
  });
}

/** A mail with all of its parts. Throws ApiError not_found when it is deleted meanwhile. */
async function joinRow(read: Reader, row: Row): Promise<Row> {
  const { inboxParts: t } = read.t;
  const raw = await joinParts(row.raw, row.size, async (part) => {
    const [found] = await findRows(read, t, { mailId: row.id, part });
    if (!found) throw notFound("captured mail", row.id);
    return found.raw;
  });
  return { ...row, raw };
}

function toCapturedMail(row: Summary): CapturedMail {
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

function buildFilter({ t: { inbox }, sqlDialect: words }: Reader, { to, from, subject, workspace }: MailFilter) {
  return and(
    to === undefined ? undefined : eq(inbox.to, addressKey(to)),
    from === undefined ? undefined : contains(words, inbox.from, from),
    subject === undefined ? undefined : contains(words, inbox.subject, subject),
    workspace === undefined ? undefined : eq(inbox.workspaceId, workspace),
  );
}

/** All columns but the message itself, which may be 20 MB. */
function summaryColumns({ t: { inbox } }: Reader) {
  return {
    id: inbox.id,
    emailId: inbox.emailId,
    workspaceId: inbox.workspaceId,
    to: inbox.to,
    from: inbox.from,
    subject: inbox.subject,
    size: inbox.size,
    receivedAt: inbox.receivedAt,
  };
}
