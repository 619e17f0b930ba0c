import type { ReceivedMailDetail } from "@mailsvc/sdk/contract";
import { and, desc, eq, inArray, lt, type SQL } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { splitIntoChunks } from "../lib/chunks.ts";
import { MB } from "../lib/units.ts";
import { toDetail } from "./show.ts";
import { deleteReceivedRows } from "./store.ts";

// A page holds at most this many mails, and ends after one with which its texts are longer than this: a mail may have megabytes.
const PAGE = 50;
const MAX_CHARACTERS = 2 * MB;

/** The person whose mail is meant: what came from the address, or answers an email to it, from whatever address. */
interface Writer {
  readonly workspaceId: string;
  /** Address as `addressKey` returns it. */
  readonly address: string;
}

/** A page of the mails that a person wrote, newest first, and the id behind which the next one begins; null after the last. */
export async function exportReceived(
  read: Reader,
  { workspaceId, address, before }: Writer & { readonly before: string | null },
): Promise<{ readonly received: ReceivedMailDetail[]; readonly last: string | null }> {
  const { received: t, emails: e } = read.t;
  const find = (which: SQL) =>
    read
      .select({ id: t.id })
      .from(t)
      .where(and(eq(t.workspaceId, workspaceId), which, before === null ? undefined : lt(t.id, before)))
      .orderBy(desc(t.id))
      .limit(PAGE + 1);
  const toPerson = read
    .select({ id: e.id })
    .from(e)
    .where(and(eq(e.workspaceId, workspaceId), eq(e.toKey, address)));
  const found = [...(await find(eq(t.fromKey, address))), ...(await find(inArray(t.emailId, toPerson)))];
  const ids = [...new Set(found.map(({ id }) => id))]
    .sort()
    .reverse()
    .slice(0, PAGE + 1);
  const received: ReceivedMailDetail[] = [];
  let characters = 0;
  let last: string | null = null;
  for (const id of ids.slice(0, PAGE)) {
    last = id;
    const [row] = await findRows(read, t, { id });
    if (!row) continue;
    const mail = await toDetail(read, row);
    received.push(mail);
    characters += mail.text.length + mail.reply.length + (mail.html?.length ?? 0);
    if (characters > MAX_CHARACTERS) break;
  }
  return { received, last: last !== null && last !== ids.at(-1) ? last : null };
}

/** Deletes what a person wrote: from the address, or as an answer to one of these emails. */
export async function eraseReceived(
  tx: Tx,
  { workspaceId, address, emails }: Writer & { readonly emails: readonly { id: string }[] },
): Promise<number> {
  const { received: t } = tx.t;
  const ofWorkspace = eq(t.workspaceId, workspaceId);
  const find = (which: SQL) => tx.select({ id: t.id }).from(t).where(and(ofWorkspace, which));
  const ids = (await find(eq(t.fromKey, address))).map(({ id }) => id);
  for (const chunk of splitIntoChunks(emails.map(({ id }) => id))) ids.push(...(await find(inArray(t.emailId, chunk))).map(({ id }) => id));
  return deleteReceivedRows(tx, [...new Set(ids)]);
}
