import {
  addressKey,
  type Page,
  SUPPRESSION_REASONS,
  SUPPRESSION_SCOPES,
  SUPPRESSION_SOURCES,
  type Suppression,
} from "@mailsvc/sdk/contract";
import { and, desc, eq, gte, inArray, lt, ne, or, type SQL, sql } from "drizzle-orm";
import type { Reader } from "../db/db.ts";
import { countRows, isRare, type PageInput, paginateBySeq, type SeqSlice } from "../db/pagination.ts";
import { listAddressForms } from "../lib/address-text.ts";
import { ERASED_MARKER } from "./erasure.ts";
import { searchSuppressions } from "./search.ts";
import { listStoredForms, showSuppression } from "./suppressions.ts";
import type { SuppressionTables } from "./tables.ts";

type Row = SuppressionTables["suppressions"]["$inferSelect"];

interface SuppressionQuery extends PageInput {
  email?: string | undefined;
  search?: string | undefined;
  reason?: Suppression["reason"] | undefined;
  scope?: Suppression["scope"] | undefined;
  source?: Suppression["source"] | undefined;
  since?: string | undefined;
}

/** A page of suppressions, newest first. Each filter reads few rows among a million. */
export async function listSuppressions(read: Reader, workspaceId: string, input: SuppressionQuery): Promise<Page<Suppression>> {
  const { suppressions: t } = read.t;
  const { rarely, usually, holds } = read.sqlDialect;
  const { email, search, reason, scope, source, since } = input;
  const inWorkspace = eq(t.workspaceId, workspaceId);
  const visible = ne(t.email, ERASED_MARKER);
  // Stored addresses and these forms are folded alike.
  const forms = search === undefined ? [] : listAddressForms(search);
  const containsText = or(...forms.map((form) => holds(t.email, form)));
  const isKind = and(reason && eq(t.reason, reason), scope && eq(t.scope, scope), source && eq(t.source, source));
  const isRecent = since === undefined ? undefined : gte(t.createdAt, Date.parse(since));

  const list = (where: SQL | undefined) => listMatches(read, input, and(inWorkspace, where, isKind, containsText, visible));
  if (email !== undefined)
    return list(and(rarely(inArray(t.email, await listStoredForms(read, workspaceId, addressKey(email)))), isRecent));
  // A few recent ones are read by their time and sorted. Many are met at once on the way down from the newest.
  if (isRecent && (await isRare(read, t, and(inWorkspace, isRecent)))) return list(rarely(isRecent));
  const rest = and(isRecent && usually(isRecent), visible);
  // Names all columns of its index, so that each combination is a range of it.
  const inRanges = and(
    inWorkspace,
    inArray(t.reason, reason ? [reason] : SUPPRESSION_REASONS),
    inArray(t.scope, scope ? [scope] : SUPPRESSION_SCOPES),
    inArray(t.source, source ? [source] : SUPPRESSION_SOURCES),
  );
  if (isKind && (search === undefined || (await isRare(read, t, inRanges)))) {
    const where = and(rest, containsText);
    return paginateBySeq<Row, Suppression>(
      input,
      (slice) => selectByKind(read, input, and(inWorkspace, where), slice),
      () => countRows(read, t, and(inRanges, where)),
      showSuppression,
    );
  }
  if (search !== undefined) return searchSuppressions(read, input, { workspaceId, forms, where: and(isKind, rest) });
  return listMatches(read, input, and(inWorkspace, rest));
}

function listMatches(read: Reader, input: PageInput, where: SQL | undefined): Promise<Page<Suppression>> {
  const { suppressions: t } = read.t;
  return paginateBySeq<Row, Suppression>(
    input,
    async ({ below, limit, offset }) =>
      read
        .select()
        .from(t)
        .where(and(where, read.sqlDialect.usually(lt(t.seq, below))))
        .orderBy(desc(t.seq))
        .limit(limit)
        .offset(offset),
    () => countRows(read, t, where),
    showSuppression,
  );
}

/**
 * Merges one range of the index `suppressions_filter` for each combination of reason, scope and source that the filters allow.
 * A single condition would make the database either sort all matches or look for them among all rows. The bounds and the order
 * name all columns of the index, because Postgres would otherwise walk down the numbers of a range that has no rows.
 */
async function selectByKind(
  read: Reader,
  { reason, scope, source }: SuppressionQuery,
  where: SQL | undefined,
  { below, limit, offset }: SeqSlice,
): Promise<Row[]> {
  const { suppressions: t } = read.t;
  const ranges: SQL[] = [];
  for (const r of reason ? [reason] : SUPPRESSION_REASONS)
    for (const s of scope ? [scope] : SUPPRESSION_SCOPES)
      for (const o of source ? [source] : SUPPRESSION_SOURCES) {
        const inRange = and(
          sql`(${t.reason}, ${t.scope}, ${t.source}) >= (${r}, ${s}, ${o})`,
          sql`(${t.reason}, ${t.scope}, ${t.source}, ${t.seq}) < (${r}, ${s}, ${o}, ${below})`,
          where,
        );
        ranges.push(
          sql`select seq from (select ${t.seq} as seq from ${t} where ${inRange} order by ${t.reason} desc, ${t.scope} desc, ${t.source} desc, ${t.seq} desc limit ${limit + offset}) as found`,
        );
      }
  const page = sql`(select seq from (${sql.join(ranges, sql` union all `)}) as ranges order by seq desc limit ${limit} offset ${offset})`;
  return read.select().from(t).where(sql`${t.seq} in ${page}`).orderBy(desc(t.seq));
}
