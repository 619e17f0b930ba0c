import {
  AddressError,
  CAMPAIGN_LIMITS,
  findTimeOfDate,
  isTimeZone,
  type LocalTime,
  minutesOfDay,
  parseAddress,
  type SkipReason,
} from "@mailsvc/sdk/contract";
import { and, asc, eq, gt } from "drizzle-orm";
import { type ContactRow, explainNoMail } from "../contacts/contacts.ts";
import type { Reader, Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { invalid } from "../lib/api-error.ts";
import type { NumberSet } from "../lib/number-set.ts";
import { DAY } from "../lib/units.ts";
import { findSuppressions } from "../suppressions/suppressions.ts";
import type { CampaignDeps, CampaignRow } from "./campaigns.ts";

/** A contact as it becomes a recipient. */
export interface Candidate extends Pick<ContactRow, "seq" | "id" | "email" | "emailKey"> {
  /** Reason it gets nothing; null if it gets the campaign. */
  readonly skipReason: SkipReason | null;
  /** Time at which its local clock shows the time of the campaign, ms; null for a campaign without a local time. */
  readonly dueAt: number | null;
}

/** The next part of an audience. */
export interface AudienceChunk {
  /** The `seq`s of its contacts, in ascending order. */
  readonly seqs: readonly number[];
  /** The contacts among them that still exist. */
  readonly candidates: readonly Candidate[];
  /** Position at which to continue; null at the end. */
  readonly next: number | null;
}

// Contacts in one row of an audience: some kB of text.
const ROW = 1000;
// Rows that one statement writes.
const ROWS_AT_ONCE = 50;

/**
 * Fixes who gets a campaign: writes down the contacts that are its audience, some bytes for each. A million of them are a thousand rows,
 * so that other writers wait for some 50 ms.
 */
export async function writeAudience(tx: Tx, campaignId: string, contacts: NumberSet): Promise<void> {
  let seqs: number[] = [];
  let rows: { campaignId: string; last: number; seqs: string }[] = [];
  const flush = async (): Promise<void> => {
    await tx.insertAll(tx.t.campaignAudience, rows);
    rows = [];
    await tx.breathe();
  };
  const endRow = (): void => {
    if (seqs.length > 0) rows.push({ campaignId, last: seqs.at(-1) as number, seqs: seqs.join(",") });
    seqs = [];
  };
  for (const range of contacts.inRanges()) {
    if (seqs.length + range.length > ROW + ROW / 4) endRow();
    seqs.push(...range);
    if (rows.length >= ROWS_AT_ONCE) await flush();
  }
  endRow();
  await flush();
}

/** Reads the next contacts of a campaign's audience after its cursor, each with the reason why it gets nothing. */
export async function readAudience(deps: Pick<CampaignDeps, "db" | "recipientsAtOnce">, campaign: CampaignRow): Promise<AudienceChunk> {
  const { read } = deps.db;
  const { workspaceId } = campaign;
  const { seqs, next } = await readSeqs(read, campaign, deps.recipientsAtOnce);
  const rows =
    seqs.length === 0
      ? []
      : await read
          .prepared("contacts_of_audience", (q, { contacts: c }, arg) =>
            q
              .select({ seq: c.seq, id: c.id, email: c.email, emailKey: c.emailKey, status: c.status })
              .from(c)
              .where(and(eq(c.workspaceId, arg("workspaceId")), read.sqlDialect.amongNumbers(c.seq, arg("seqs"))))
              .orderBy(asc(c.seq)),
          )
          .execute({ workspaceId, seqs: JSON.stringify(seqs) });
  const due =
    campaign.localTime === null
      ? new Map<string, number>()
      : await loadLocalTimes(
          read,
          campaign.localTime,
          rows.map(({ id }) => id),
        );
  return { seqs, candidates: await judge(read, workspaceId, rows, due), next };
}

/** Forgets the contacts of an audience, once all of them are recipients. */
export async function clearAudience(tx: Tx, campaignId: string): Promise<void> {
  const { campaignAudience: t } = tx.t;
  await tx.delete(t).where(eq(t.campaignId, campaignId));
}

/** Up to `limit` contacts of an audience after the campaign's cursor. */
async function readSeqs(
  read: Reader,
  { id: campaignId, cursor }: CampaignRow,
  limit: number,
): Promise<{ seqs: readonly number[]; next: number | null }> {
  const { campaignAudience: t } = read.t;
  for (let groups = 2; ; groups *= 4) {
    const rows = await read
      .select({ seqs: t.seqs })
      .from(t)
      .where(and(eq(t.campaignId, campaignId), gt(t.last, cursor)))
      .orderBy(asc(t.last))
      .limit(groups);
    const after = rows.flatMap((row) => row.seqs.split(",").map(Number)).filter((seq) => seq > cursor);
    const seqs = after.sort((a, b) => a - b).slice(0, limit);
    if (seqs.length === limit) return { seqs, next: seqs.at(-1) ?? null };
    if (rows.length < groups) return { seqs, next: null };
  }
}

const BY_SUPPRESSION: Readonly<Record<string, SkipReason>> = { unsubscribe: "unsubscribed", bounce: "bounced", complaint: "complained" };

async function judge(
  read: Reader,
  workspaceId: string,
  rows: readonly Pick<ContactRow, "seq" | "id" | "email" | "emailKey" | "status">[],
  due: ReadonlyMap<string, number>,
): Promise<Candidate[]> {
  const keys = rows.map((row) => row.emailKey);
  const suppressed = await findSuppressions(read, workspaceId, keys);
  return rows.map(({ status, ...contact }): Candidate => {
    const suppression = suppressed.get(contact.emailKey);
    const suppressedAs = suppression ? (BY_SUPPRESSION[suppression.reason] ?? "suppressed") : null;
    const skipReason = explainNoMail({ status }) ?? suppressedAs ?? (isAddress(contact.email) ? null : "invalid");
    return { ...contact, skipReason, dueAt: due.get(contact.id) ?? null };
  });
}

/** True if a stored address can still get mail: the rules for addresses may have become stricter since. */
function isAddress(email: string): boolean {
  try {
    parseAddress(email);
    return true;
  } catch (error) {
    if (error instanceof AddressError) return false;
    throw error;
  }
}

/** Returns the instant at which the clocks of a time zone show the time of a campaign, ms: the first one, or their jump over it. */
export function findLocalTime({ at }: Pick<LocalTime, "at">, timeZone: string): number {
  const [date = "", time = ""] = at.split("T");
  const [year = 0, month = 1, day = 1] = date.split("-").map(Number);
  return findTimeOfDate({ year, month, day }, minutesOfDay(time), timeZone);
}

/** Throws ApiError validation_error for a local time over a year after sending starts, such as a mistyped year: sending would not end. */
export function assertWithinYear(localTime: LocalTime | null, startAt: number): void {
  const days = CAMPAIGN_LIMITS.scheduleDays;
  if (localTime !== null && findLocalTime(localTime, "UTC") > startAt + days * DAY)
    throw invalid("localTime.at", "too_far", `localTime.at must be at most ${days} days after sending starts.`);
}

/**
 * Returns the time at which each contact gets a campaign by their own clock, ms, by contact id. A contact without a valid time zone has
 * that of `fallback`.
 */
async function loadLocalTimes(read: Reader, localTime: LocalTime, contactIds: readonly string[]): Promise<Map<string, number>> {
  const zones = new Map<string, number>();
  const find = (value: unknown): number => {
    const zone = typeof value === "string" && isTimeZone(value.trim()) ? value.trim() : localTime.fallback;
    const known = zones.get(zone);
    if (known !== undefined) return known;
    const found = findLocalTime(localTime, zone);
    zones.set(zone, found);
    return found;
  };
  const contacts = await findRows(read, read.t.contacts, { id: contactIds });
  return new Map(contacts.map(({ id, customFields }) => [id, find(customFields[localTime.field])]));
}
