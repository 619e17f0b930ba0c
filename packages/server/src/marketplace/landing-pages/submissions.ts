import type { LandingPageSubmission, Page } from "@mailsvc/sdk/contract";
import { and, desc, eq, lt } from "drizzle-orm";
import type { Reader, Tx } from "../../db/db.ts";
import { type PageInput, pageOf } from "../../db/pagination.ts";
import { iso } from "../../lib/clock.ts";
import { findPage } from "./store.ts";

/** Who signed up on a page, for its brand. Throws ApiError not_found. */
export async function listSubmissions(
  read: Reader,
  workspaceId: string,
  id: string,
  input: PageInput,
): Promise<Page<LandingPageSubmission>> {
  const page = await findPage(read, { workspaceId, activationId: null }, id);
  const { landingPageSubmissions: t } = read.t;
  const where = eq(t.pageId, page.id);
  return pageOf(
    input,
    ({ before, limit, offset }) =>
      read
        .select()
        .from(t)
        .where(and(where, before === null ? undefined : lt(t.id, before)))
        .orderBy(desc(t.id))
        .limit(limit)
        .offset(offset),
    () => read.$count(t, where),
    (row) => ({ id: row.id, contactId: row.contactId, consentText: row.consentText, listId: row.listId, createdAt: iso(row.createdAt) }),
  );
}

/** Lets go of a contact that is deleted; the sign-ups stay as numbers. */
export async function forgetSignups(tx: Tx, contactId: string): Promise<void> {
  const { landingPageSubmissions: t } = tx.t;
  await tx.update(t).set({ contactId: null }).where(eq(t.contactId, contactId));
}
