import type { Reader, Tx } from "../db/db.ts";
import { type EmailRow, findEmailRows, findLastEnded, holdEmail } from "../emails/emails.ts";
import type { EventReader } from "../events/events.ts";
import { iso } from "../lib/clock.ts";
import { isTestMail } from "../lib/ids.ts";
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
export function softBouncesReader(deps: () => InboundDeps): EventReader {
  return {
    name: "soft_bounces",
    types: ["email.bounced", "email.failed"],
    plan: async (q, workspaceId, events) => {
      const ids = events.flatMap(({ emailId }) => (emailId === null || isTestMail(emailId) ? [] : emailId));
      const emails = ids.length === 0 ? [] : await findEmailRows(q, workspaceId, [...new Set(ids)]);
      const troubled = await findTroubled(q, deps(), emails);
      if (troubled.length === 0) return null;
      return async (tx) => {
        for (const { email, since } of troubled) await suppressTroubled(tx, deps(), email, since);
      };
    },
  };
}

interface Troubled {
  readonly email: EmailRow;
  /** The time at which the first of the last emails to its address was sent, ms. */
  readonly since: number;
}

async function findTroubled(q: Reader | Tx, { clock }: InboundDeps, emails: readonly EmailRow[]): Promise<Troubled[]> {
  const troubled: Troubled[] = [];
  for (const email of emails) {
    const last = await findLastEnded(q, email, SOFT_BOUNCES.emails);
    const first = last.at(-1);
    if (first === undefined || last.length < SOFT_BOUNCES.emails || !last.every(isSoft)) continue;
    const since = first.sentAt ?? first.createdAt;
    if (clock.now() - since >= SOFT_BOUNCES.overMs) troubled.push({ email, since });
  }
  return troubled;
}

async function suppressTroubled(tx: Tx, deps: InboundDeps, email: EmailRow, since: number): Promise<void> {
  const { workspaceId, toKey, campaignId } = email;
  await suppress(tx, deps, workspaceId, {
    email: toKey,
    reason: "bounce",
    scope: "all",
    source: "bounce",
    emailId: await holdEmail(tx, email),
    campaignId,
    note: `The last ${SOFT_BOUNCES.emails} emails bounced softly, the first on ${iso(since).slice(0, 10)}.`,
  });
}

function isSoft({ status, lastError }: Pick<EmailRow, "status" | "lastError">): boolean {
  // Replies without a code say too little.
  if ((status !== "bounced" && status !== "failed") || !lastError?.enhancedCode) return false;
  return isMailboxInTrouble(lastError);
}
