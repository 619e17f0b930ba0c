import { and, desc, eq, inArray } from "drizzle-orm";
import type { Tx } from "../db/db.ts";
import { assumeEmailHeld } from "../db/held.ts";
import { type EmailRow, isTest, type StatusChange } from "../emails/emails.ts";
import { iso } from "../lib/clock.ts";
import { isTestMail } from "../lib/test-mail.ts";
import { DAY } from "../lib/units.ts";
import { isMailboxInTrouble } from "../mail/reply-judge.ts";
import { suppress } from "../suppressions/suppressions.ts";
import type { InboundDeps } from "./deps.ts";

/** So many emails to an address in a row, over at least this time (ms), that bounced softly make a hard bounce. */
const SOFT_BOUNCES = { emails: 5, overMs: 7 * DAY } as const;

/**
 * Suppresses addresses whose mail has bounced softly for too long: each of the last five emails that came to an end did, the
 * first of them a week or more ago. An email that was accepted and did not bounce breaks the row.
 */
export async function suppressSoftBounces(tx: Tx, deps: InboundDeps, changes: readonly StatusChange[]): Promise<void> {
  for (const { email, to } of changes) {
    if (to !== "bounced" && to !== "failed") continue;
    const { workspaceId, toKey, id, campaignId } = email;
    if (isTestMail(id)) continue;
    const last = await findLastEnded(tx, email);
    const first = last.at(-1);
    if (first === undefined || last.length < SOFT_BOUNCES.emails || !last.every(isSoft)) continue;
    const since = first.sentAt ?? first.createdAt;
    if (deps.clock.now() - since < SOFT_BOUNCES.overMs) continue;
    await suppress(tx, deps, workspaceId, {
      email: toKey,
      reason: "bounce",
      scope: "all",
      source: "bounce",
      emailId: assumeEmailHeld(id),
      campaignId,
      note: `The last ${SOFT_BOUNCES.emails} emails bounced softly, the first on ${iso(since).slice(0, 10)}.`,
    });
  }
}

type Ended = Pick<EmailRow, "status" | "lastError" | "sentAt" | "createdAt">;

/** The last emails to an address that were accepted or given up, newest first, without test mail. */
function findLastEnded(tx: Tx, { workspaceId, toKey }: EmailRow): Promise<Ended[]> {
  const { emails: t } = tx.t;
  return Promise.resolve(
    tx
      .select({ status: t.status, lastError: t.lastError, sentAt: t.sentAt, createdAt: t.createdAt })
      .from(t)
      .where(
        and(
          eq(t.workspaceId, workspaceId),
          // Without the hint, the query would walk all emails of the workspace.
          tx.sqlDialect.rarely(eq(t.toKey, toKey)),
          isTest(tx, false),
          inArray(t.status, ["sent", "delivered", "bounced", "complained", "failed"]),
        ),
      )
      .orderBy(desc(t.id))
      .limit(SOFT_BOUNCES.emails),
  );
}

function isSoft({ status, lastError }: Ended): boolean {
  // Replies without a code say too little.
  if ((status !== "bounced" && status !== "failed") || !lastError?.enhancedCode) return false;
  return isMailboxInTrouble(lastError);
}
