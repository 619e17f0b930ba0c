import type { Person } from "@mailsvc/sdk/contract";
import { and, desc, eq, inArray, type SQL } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { splitIntoChunks } from "../lib/chunks.ts";
import { toDetail } from "./show.ts";
import { deleteReceivedRows } from "./store.ts";

// Mails of one export.
const PAGE = 50;

/** The person whose mail is meant: what came from the address. */
interface Writer {
  readonly workspaceId: string;
  /** As `addressKey` returns it. */
  readonly address: string;
}

/** The newest mails that a person wrote. */
export async function exportReceived(read: Reader, { workspaceId, address }: Writer): Promise<Partial<Person>> {
  const { received: t } = read.t;
  const rows = await read
    .select()
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), eq(t.fromKey, address)))
    .orderBy(desc(t.id))
    .limit(PAGE);
  return { received: await Promise.all(rows.map((row) => toDetail(read, row))) };
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
