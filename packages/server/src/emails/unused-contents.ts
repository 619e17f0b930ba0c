import { and, eq, gte, inArray, lt, or } from "drizzle-orm";
import type { Tx } from "../db/db.ts";
import { firstIdAt, isTestMail, readIdTime, toPlainId, toTestId } from "../lib/ids.ts";
import { splitIntoChunks } from "../lib/parts.ts";
import { SECOND } from "../lib/units.ts";
import type { EmailRow } from "./store.ts";

/** A deleted email. */
type Deleted = Pick<EmailRow, "id" | "contentsId">;

/** Deleted emails whose sends were at nearly the same time (ms). */
interface Sends {
  readonly isTest: boolean;
  readonly from: number;
  to: number;
  readonly deleted: Deleted[];
}

// The ids of all recipients of a send are made in one go.
const SEND_MS = SECOND;

/**
 * Deletes the contents of deleted emails that no other email uses, and the attachments that no contents of the same send use. Emails share
 * contents only within one send. So it looks at the emails that were made at the same time, and needs no index of emails by contents.
 * Not for emails of campaigns, whose contents stay with them. Returns how many contents that were.
 */
export async function deleteUnusedContents(tx: Tx, workspaceId: string, deleted: readonly Deleted[]): Promise<number> {
  const { contents: c, attachments: a, attachmentParts: p } = tx.t;
  let count = 0;
  for (const chunk of splitIntoChunks(deleted)) {
    const ids = [...new Set(chunk.map(({ contentsId }) => contentsId))];
    const rows = await tx
      .select({ id: c.id, filesOf: c.filesOf, attachments: c.attachments })
      .from(c)
      .where(and(eq(c.workspaceId, workspaceId), inArray(c.id, ids)));
    const ownerOf = new Map(rows.map(({ id, filesOf }) => [id, filesOf ?? id]));
    const used = await findUsed(tx, workspaceId, chunk, ownerOf);
    const free = rows.filter(({ id }) => !used.contents.has(id));
    const files = new Set(free.flatMap(({ id, filesOf, attachments }) => (attachments > 0 ? [filesOf ?? id] : [])));
    const unused = [...files].filter((owner) => !used.owners.has(owner));
    if (unused.length > 0) {
      await tx.delete(p).where(inArray(p.contentsId, unused));
      await tx.delete(a).where(inArray(a.contentsId, unused));
    }
    const freeIds = free.map(({ id }) => id);
    if (freeIds.length > 0) await tx.delete(c).where(inArray(c.id, freeIds));
    count += freeIds.length;
  }
  return count;
}

/** Finds the contents that other emails of the same sends still use, and the contents that own their files. */
async function findUsed(tx: Tx, workspaceId: string, deleted: readonly Deleted[], ownerOf: ReadonlyMap<number, number>) {
  const { emails: e, contents: c } = tx.t;
  const contents = new Set<number>();
  const owners = new Set<number>();
  for (const sends of listSends(deleted)) {
    const wanted = [...new Set(sends.deleted.flatMap(({ contentsId }) => ownerOf.get(contentsId) ?? []))];
    if (wanted.length === 0) continue;
    const [from, to] = [sends.from, sends.to].map((ms) => (sends.isTest ? toTestId(firstIdAt("em", ms)) : firstIdAt("em", ms)));
    const rows = await tx
      .selectDistinct({ id: c.id, filesOf: c.filesOf })
      .from(e)
      .innerJoin(c, eq(c.id, e.contentsId))
      .where(
        and(
          eq(e.workspaceId, workspaceId),
          gte(e.id, from as string),
          lt(e.id, to as string),
          or(inArray(c.id, wanted), inArray(c.filesOf, wanted)),
        ),
      );
    for (const { id, filesOf } of rows) {
      contents.add(id);
      owners.add(filesOf ?? id);
    }
  }
  return { contents, owners };
}

function listSends(deleted: readonly Deleted[]): Sends[] {
  const all: Sends[] = [];
  for (const email of deleted.toSorted((one, other) => (one.id < other.id ? -1 : 1))) {
    const isTest = isTestMail(email.id);
    const at = readIdTime(toPlainId(email.id));
    const last = all.at(-1);
    if (last?.isTest === isTest && at - SEND_MS <= last.to) {
      last.to = at + SEND_MS;
      last.deleted.push(email);
    } else all.push({ isTest, from: at - SEND_MS, to: at + SEND_MS, deleted: [email] });
  }
  return all;
}
