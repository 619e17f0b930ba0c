import { and, count, eq, inArray } from "drizzle-orm";
import type { Reader } from "../db/db.ts";
import { isTo } from "../emails/emails.ts";
import { splitIntoChunks } from "../lib/chunks.ts";

/** An email to an address. */
export interface EmailCopy {
  id: string;
  contentsId: number;
  /** True if other emails have the same contents. */
  shared: boolean;
  /** The mail whose headers name the address together with other recipients; null if there is none. */
  namedIn: string | null;
}

/**
 * All emails to an address. **Invariant:** no email joins an existing contents row after its send was accepted, so `shared` stays
 * right until the transaction that erases. The contents of a campaign always count as shared: they name nobody.
 */
export async function findEmailCopies(read: Reader, workspaceId: string, toKey: string): Promise<EmailCopy[]> {
  const { emails: t } = read.t;
  const emails = await read
    .select({ id: t.id, contentsId: t.contentsId, campaignId: t.campaignId, mailId: t.mailId, kind: t.kind })
    .from(t)
    .where(isTo(read.t, workspaceId, toKey));
  const uses = new Map<number, number>();
  const own = emails.filter((e) => e.campaignId === null);
  for (const chunk of splitIntoChunks([...new Set(own.map((e) => e.contentsId))]))
    for (const { contentsId, n } of await read
      .select({ contentsId: t.contentsId, n: count() })
      .from(t)
      .where(and(eq(t.workspaceId, workspaceId), inArray(t.contentsId, chunk)))
      .groupBy(t.contentsId))
      uses.set(contentsId, n);
  return emails.map(({ id, contentsId, campaignId, mailId, kind }) => ({
    id,
    contentsId,
    shared: campaignId !== null || (uses.get(contentsId) ?? 1) > 1,
    namedIn: kind === "bcc" ? null : mailId,
  }));
}
