import {
  addressKey,
  type Page,
  SUPPRESSION_REASONS,
  SUPPRESSION_SCOPES,
  SUPPRESSION_SOURCES,
  type Suppression,
} from "@mailsvc/sdk/contract";
import { and, desc, eq, gte, inArray, ne, or, type SQL, sql } from "drizzle-orm";
import type { Reader } from "../db/db.ts";
import { countRows, listPage, type PageInput, paginateById, type Slice } from "../db/pagination.ts";
import { listAddressForms } from "../lib/address-forms.ts";
import { ERASED_MARKER } from "./erasure.ts";
import { listStoredForms, type SuppressionRow, showSuppression } from "./suppressions.ts";

const AFTER_ALL_IDS = `sup_${"z".repeat(27)}`;

export interface SuppressionQuery extends PageInput {
  email?: string | undefined;
  search?: string | undefined;
  reason?: Suppression["reason"] | undefined;
  scope?: Suppression["scope"] | undefined;
  source?: Suppression["source"] | undefined;
  since?: string | undefined;
}

/**
 * A page of suppressions, newest first. Each filter reads few rows among a million, except `search`, which looks at every
 * suppression that the other filters leave.
 */
export async function listSuppressions(read: Reader, workspaceId: string, input: SuppressionQuery): Promise<Page<Suppression>> {
  const { suppressions: t } = read.t;
  const { rarely, usually, holds } = read.sqlDialect;
  const { email, search, reason, scope, source, since } = input;
  const inWorkspace = eq(t.workspaceId, workspaceId);
  const rest = and(
    ne(t.email, ERASED_MARKER),
    // Stored addresses and these forms are folded alike.
    search === undefined ? undefined : or(...listAddressForms(search).map((form) => holds(t.email, form))),
  );
  const kind = and(reason && eq(t.reason, reason), scope && eq(t.scope, scope), source && eq(t.source, source));
  const isRecent = since === undefined ? undefined : gte(t.createdAt, Date.parse(since));
  const list = (where: SQL | undefined): Promise<Page<Suppression>> =>
    listPage(read, input, { table: t, where: and(inWorkspace, where, rest), toItem: showSuppression });

  if (email !== undefined) {
    const stored = rarely(inArray(t.email, await listStoredForms(read, workspaceId, addressKey(email))));
    return list(and(stored, kind, isRecent));
  }
  // Few recent ones are read by their time and sorted. Many are met at once by going down from the newest.
  if (isRecent && !(await countRows(read, t, and(inWorkspace, isRecent))).isMinimum) return list(and(rarely(isRecent), kind));
  if (kind === undefined) return list(isRecent && usually(isRecent));
  const ranges = and(
    inArray(t.reason, reason ? [reason] : SUPPRESSION_REASONS),
    inArray(t.scope, scope ? [scope] : SUPPRESSION_SCOPES),
    inArray(t.source, source ? [source] : SUPPRESSION_SOURCES),
  );
  const where = and(inWorkspace, ranges, isRecent && usually(isRecent), rest);
  return paginateById(
    input,
    (slice) => selectByKind(read, input, and(inWorkspace, isRecent && usually(isRecent), rest), slice),
    () => countRows(read, t, where),
    showSuppression,
  );
}

/**
 * Merges one range of the index `suppressions_filter` for each combination of reason, scope and source that the filters allow.
 * A single condition would make the database either sort all matches or look for them among all rows. The bounds and the order
 * name all columns of the index, because Postgres would otherwise walk down the ids of a range that has no rows.
 */
async function selectByKind(
  read: Reader,
  { reason, scope, source }: SuppressionQuery,
  where: SQL | undefined,
  { before, limit, offset }: Slice,
): Promise<SuppressionRow[]> {
  const { suppressions: t } = read.t;
  const ranges: SQL[] = [];
  for (const r of reason ? [reason] : SUPPRESSION_REASONS)
    for (const s of scope ? [scope] : SUPPRESSION_SCOPES)
      for (const o of source ? [source] : SUPPRESSION_SOURCES) {
        const inRange = and(
          sql`(${t.reason}, ${t.scope}, ${t.source}) >= (${r}, ${s}, ${o})`,
          sql`(${t.reason}, ${t.scope}, ${t.source}, ${t.id}) < (${r}, ${s}, ${o}, ${before ?? AFTER_ALL_IDS})`,
          where,
        );
        ranges.push(
          sql`select id from (select ${t.id} as id from ${t} where ${inRange} order by ${t.reason} desc, ${t.scope} desc, ${t.source} desc, ${t.id} desc limit ${limit + offset}) as found`,
        );
      }
  const page = sql`(select id from (${sql.join(ranges, sql` union all `)}) as ranges order by id desc limit ${limit} offset ${offset})`;
  return read.select().from(t).where(sql`${t.id} in ${page}`).orderBy(desc(t.id));
}
