import type { SkipReason } from "@mailsvc/sdk/contract";
import { AddressError, parseAddress } from "@mailsvc/sdk/contract";
import { and, asc, desc, eq, gt, lte } from "drizzle-orm";
import { type ContactRow, explainNoMail } from "../contacts/contacts.ts";
import type { Reader, Tx } from "../db/db.ts";
import { getListRow, loadListSeqs } from "../lists/lists.ts";
import { getSegmentRow, listNamedLists, selectMatching } from "../segments/segments.ts";
import { findSuppressions } from "../suppressions/suppressions.ts";
import type { CampaignRow } from "./campaigns.ts";
import type { CampaignDeps } from "./deps.ts";
import type { PinnedAudience } from "./tables.ts";

/** A contact as it becomes a recipient. */
export interface Candidate extends Pick<ContactRow, "seq" | "id" | "email" | "emailKey"> {
  /** Why it gets nothing; null if it gets the campaign. */
  readonly skipReason: SkipReason | null;
}

/** The next contacts of an audience; `next` is where to continue, null at the end. */
export interface AudienceChunk {
  readonly candidates: readonly Candidate[];
  readonly next: number | null;
}

/** Fixes who gets a campaign: contacts of this instant. Throws ApiError not_found for a segment or list that does not exist. */
export async function pinAudience(
  tx: Tx,
  { workspaceId, segmentId, listId }: Pick<CampaignRow, "workspaceId" | "segmentId" | "listId">,
): Promise<PinnedAudience> {
  const { contacts: t } = tx.t;
  const [newest] = await tx.select({ seq: t.seq }).from(t).where(eq(t.workspaceId, workspaceId)).orderBy(desc(t.seq)).limit(1);
  const lastSeq = newest?.seq ?? 0;
  if (listId !== null) return { lastSeq, listSeq: (await getListRow(tx, workspaceId, listId)).seq };
  if (segmentId === null) return { lastSeq };
  const { rules } = await getSegmentRow(tx, workspaceId, segmentId);
  const known = await loadListSeqs(tx, workspaceId);
  const named = listNamedLists(rules).flatMap((id) => (known.has(id) ? [[id, known.get(id) as number] as const] : []));
  return { lastSeq, rules, listSeqs: Object.fromEntries(named) };
}

/** Reads the next contacts of a campaign's audience after its cursor, each with the reason why it gets nothing. */
export async function readAudience(deps: Pick<CampaignDeps, "db" | "recipientsAtOnce">, campaign: CampaignRow): Promise<AudienceChunk> {
  const { read } = deps.db;
  const limit = deps.recipientsAtOnce;
  const audience = campaign.audience as PinnedAudience;
  const { contacts: c, listMembers: m } = read.t;
  const columns = { seq: c.seq, id: c.id, email: c.email, emailKey: c.emailKey, status: c.status };
  const ofWorkspace = eq(c.workspaceId, campaign.workspaceId);
  if (audience.rules !== undefined) {
    const { seqs, next } = await selectMatching(
      read,
      { workspaceId: campaign.workspaceId, rules: audience.rules, listSeqs: audience.listSeqs ?? {}, now: campaign.startedAt as number },
      { after: campaign.cursor, last: audience.lastSeq, limit },
    );
    const rows =
      seqs.length === 0
        ? []
        : await read
            .prepared("contacts_of_audience", (q, _, arg) =>
              q
                .select(columns)
                .from(c)
                .where(and(eq(c.workspaceId, arg("workspaceId")), read.sqlDialect.amongNumbers(c.seq, arg("seqs"))))
                .orderBy(asc(c.seq)),
            )
            .execute({ workspaceId: campaign.workspaceId, seqs: JSON.stringify(seqs) });
    return { candidates: await judge(read, campaign.workspaceId, rows), next };
  }
  const rows =
    audience.listSeq === undefined
      ? await read
          .select(columns)
          .from(c)
          .where(and(ofWorkspace, gt(c.seq, campaign.cursor), lte(c.seq, audience.lastSeq)))
          .orderBy(asc(c.seq))
          .limit(limit)
      : await read
          .select(columns)
          .from(m)
          .innerJoin(c, eq(c.seq, m.contactSeq))
          .where(
            and(
              eq(m.listSeq, audience.listSeq),
              eq(m.status, "MEMBER"),
              gt(m.contactSeq, campaign.cursor),
              lte(m.contactSeq, audience.lastSeq),
              // Contacts who joined after the start are excluded.
              lte(m.joinedAt, campaign.startedAt as number),
            ),
          )
          .orderBy(asc(m.contactSeq))
          .limit(limit);
  return { candidates: await judge(read, campaign.workspaceId, rows), next: rows.length === limit ? (rows.at(-1)?.seq ?? null) : null };
}

const BY_SUPPRESSION: Readonly<Record<string, SkipReason>> = { unsubscribe: "unsubscribed", bounce: "bounced", complaint: "complained" };

async function judge(
  read: Reader,
  workspaceId: string,
  rows: readonly Pick<ContactRow, "seq" | "id" | "email" | "emailKey" | "status">[],
): Promise<Candidate[]> {
  const keys = rows.map((row) => row.emailKey);
  const suppressed = await findSuppressions(read, workspaceId, keys);
  return rows.map(({ status, ...contact }): Candidate => {
    const suppression = suppressed.get(contact.emailKey);
    const suppressedAs = suppression ? (BY_SUPPRESSION[suppression.reason] ?? "suppressed") : null;
    return { ...contact, skipReason: explainNoMail({ status }) ?? suppressedAs ?? (isAddress(contact.email) ? null : "invalid") };
  });
}

/** Whether a stored address can still get mail: rules of addresses may have become stricter since. */
function isAddress(email: string): boolean {
  try {
    parseAddress(email);
    return true;
  } catch (error) {
    if (error instanceof AddressError) return false;
    throw error;
  }
}
