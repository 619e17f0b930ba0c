import type { CapturedMail, Page } from "@mailsvc/sdk/contract";
import { desc } from "drizzle-orm";
import type { Reader } from "../db/db.ts";
import { waitForTurn } from "../lib/turn.ts";
import { buildFilter, joinRow, type MailFilter, parseMail, toCapturedMail } from "./inbox.ts";

// Each mail is parsed, which takes a millisecond: no index has the texts of captured mail.
const SEARCHED = 1000;
const READ_AT_ONCE = 50;

/**
 * The newest captured mail that has a text in its subject, its addresses or its body, in upper or lower case. It looks through the newest
 * 1,000 mails that fit the other filters.
 */
export async function searchMail(
  read: Reader,
  { text, limit, ...filter }: MailFilter & { text: string; limit: number },
): Promise<Page<CapturedMail>> {
  const { inbox } = read.t;
  const wanted = text.toLowerCase();
  const found: CapturedMail[] = [];
  let searched = 0;
  let cut = false;
  while (searched < SEARCHED && !cut) {
    const rows = await read
      .select()
      .from(inbox)
      .where(buildFilter(read, filter))
      .orderBy(desc(inbox.id))
      .limit(READ_AT_ONCE)
      .offset(searched);
    for (const row of rows) {
      await waitForTurn();
      const mail = await parseMail(await joinRow(read, row));
      const texts = [mail.subject, mail.from, mail.to, mail.text ?? "", mail.html ?? ""];
      if (texts.some((one) => one.toLowerCase().includes(wanted))) found.push(toCapturedMail(row));
      cut = found.length > limit;
      if (cut) break;
    }
    searched += rows.length;
    if (rows.length < READ_AT_ONCE) break;
  }
  const data = found.slice(0, limit);
  const isMinimum = cut || searched >= SEARCHED;
  const pagination = { page: 1, limit, total: found.length, totalPages: 1, hasMore: false, nextCursor: null };
  return { data, pagination: isMinimum ? { ...pagination, totalIsMinimum: true } : pagination };
}
