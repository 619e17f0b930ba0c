import type { CapturedMail, Page } from "@mailsvc/sdk/contract";
import { desc, inArray } from "drizzle-orm";
import type { Reader } from "../db/db.ts";
import type { CapturedContent } from "../inbound/inbound.ts";
import { ApiError } from "../lib/api-error.ts";
import { waitForTurn } from "../lib/turn.ts";
import { SECOND } from "../lib/units.ts";
import {
  buildFilter,
  findMail,
  type InboxDeps,
  type MailFilter,
  type MailRow,
  type MailSummary,
  readContent,
  summaryColumns,
  toCapturedMail,
} from "./inbox.ts";
import { WHOLE_BYTES } from "./parts.ts";

// Each mail is parsed, which mostly takes a millisecond: no index has the texts of captured mail.
const SEARCHED = 1000;
const READ_AT_ONCE = 50;
// Large mails take the parser up to a second each (real time).
const MAX_MS = 10 * SECOND;

type SearchDeps = Pick<InboxDeps, "capturedMailParser" | "clock">;

/**
 * The newest captured mail that has a text in its subject, its addresses or its body, in upper or lower case. It looks through the newest
 * 1,000 mails that fit the other filters, for some seconds. The total is a minimum when it has not looked at all of all mails.
 */
export async function searchMail(
  read: Reader,
  deps: SearchDeps,
  { text, limit, ...filter }: MailFilter & { text: string; limit: number },
): Promise<Page<CapturedMail>> {
  const { inbox } = read.t;
  const { real } = deps.clock;
  const until = real.now() + MAX_MS;
  const wanted = text.toLowerCase();
  const found: CapturedMail[] = [];
  let isMinimum = false;
  let isOver = false;
  for (let searched = 0; !isOver; searched += READ_AT_ONCE) {
    const mails = await read
      .select(summaryColumns(read))
      .from(inbox)
      .where(buildFilter(read, filter))
      .orderBy(desc(inbox.id))
      .limit(READ_AT_ONCE)
      .offset(searched);
    const small = await loadSmall(read, mails);
    for (const mail of mails) {
      await waitForTurn();
      const content = await readIfPossible(read, deps, mail, small);
      const texts = [mail.subject, mail.from, mail.to, content?.text ?? "", content?.html ?? ""];
      if (texts.some((one) => one.toLowerCase().includes(wanted))) found.push(toCapturedMail(mail));
      else if (content?.truncated !== false) isMinimum = true;
      isOver = found.length > limit || real.now() > until;
      if (isOver) break;
    }
    isMinimum ||= isOver || searched + READ_AT_ONCE >= SEARCHED;
    isOver ||= mails.length < READ_AT_ONCE || searched + READ_AT_ONCE >= SEARCHED;
  }
  const pagination = { page: 1, limit, total: found.length, totalPages: 1, hasMore: false, nextCursor: null };
  return { data: found.slice(0, limit), pagination: isMinimum ? { ...pagination, totalIsMinimum: true } : pagination };
}

/** The mails that are stored whole. They are read together, larger ones one by one. */
async function loadSmall(read: Reader, mails: readonly MailSummary[]): Promise<ReadonlyMap<string, MailRow>> {
  const { inbox } = read.t;
  const ids = mails.filter(({ size }) => size <= WHOLE_BYTES).map(({ id }) => id);
  const rows = ids.length === 0 ? [] : await read.select().from(inbox).where(inArray(inbox.id, ids));
  return new Map(rows.map((row) => [row.id, row]));
}

/** Reads the content of a mail; null when it was deleted meanwhile, or too many others are being read. */
async function readIfPossible(
  read: Reader,
  deps: SearchDeps,
  { id }: MailSummary,
  small: ReadonlyMap<string, MailRow>,
): Promise<CapturedContent | null> {
  try {
    const row = small.get(id) ?? (await findMail(read, id));
    return row && (await readContent(deps, row));
  } catch (error) {
    if (error instanceof ApiError && error.code === "rate_limited") return null;
    throw error;
  }
}
