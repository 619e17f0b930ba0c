import { and, desc, eq, exists, getTableColumns, gte, inArray, lt, type SQL, sql } from "drizzle-orm";
import type { Arg, Queries, Reader, Schema } from "../db/db.ts";
import type { SearchHits } from "../db/search-index.ts";
import { ALL, type CountScope } from "./counters.ts";
import type { ContactRow } from "./store.ts";

/** A range of a list of contacts, newest first. */
export interface ContactSlice {
  /** Only contacts with a smaller `seq`. */
  before: number;
  skip: number;
  limit: number;
}

/** A slice of the contacts in scope. Skipped contacts are skipped in the index and never read. */
export function readSlice(read: Reader, scope: CountScope, slice: ContactSlice): Promise<ContactRow[]> {
  const shape = toShape(scope);
  const name = toStatementName("list_contacts", shape);
  return Promise.resolve(
    read
      .prepared(name, (q, t, arg) =>
        q
          .select()
          .from(t.contacts)
          .where(inArray(t.contacts.seq, selectSeqs(q, t, arg, shape)))
          .orderBy(desc(t.contacts.seq)),
      )
      .execute({ ...scope, ...slice }),
  );
}

/** The `seq` of the contact `skip` places below `before`; null if there are fewer. */
export async function findSeqAt(read: Reader, scope: CountScope, before: number, skip: number): Promise<number | null> {
  const shape = toShape(scope);
  const name = toStatementName("contact_at", shape);
  const [row] = await read.prepared(name, (q, t, arg) => selectSeqs(q, t, arg, shape)).execute({ ...scope, before, skip, limit: 1 });
  return row?.seq ?? null;
}

/** The contacts that match a search. */
export interface Matches {
  rows(slice: ContactSlice): Promise<ContactRow[]>;
  /** The number of matches; counting stops at `limit`. */
  count(limit: number): Promise<number>;
}

const rowCount = sql<number>`count(*)`.mapWith(Number);

/** Finds matches by reading contacts, from the newest down to the `seq` `floor`. */
export function matchByScan(read: Reader, scope: CountScope, part: string, floor: number): Matches {
  const { contacts: c, contactTags: t } = read.t;
  const { workspaceId, tagKey, status } = scope;
  const holds = read.sqlDialect.holds(c.searchText, part);
  const tagged = and(eq(t.workspaceId, workspaceId), eq(t.tagKey, tagKey), status && eq(t.status, status));
  const from = <Columns extends Parameters<Reader["select"]>[0]>(columns: Columns, before: number) =>
    tagKey === ALL
      ? read
          .select(columns as NonNullable<Columns>)
          .from(c)
          .where(and(eq(c.workspaceId, workspaceId), status && eq(c.status, status), lt(c.seq, before), gte(c.seq, floor), holds))
      : read
          .select(columns as NonNullable<Columns>)
          .from(t)
          .innerJoin(c, eq(c.seq, t.contactSeq))
          .where(and(tagged, lt(t.contactSeq, before), gte(t.contactSeq, floor), holds));
  const newest = tagKey === ALL ? desc(c.seq) : desc(t.contactSeq);
  return {
    rows: async ({ before, skip, limit }) =>
      (await from(getTableColumns(c), before).orderBy(newest).limit(limit).offset(skip)) as ContactRow[],
    count: (limit) =>
      readTotal(
        read.select({ n: rowCount }).from(
          from({ one: sql`1`.as("one") }, Number.MAX_SAFE_INTEGER)
            .limit(limit)
            .as("found"),
        ),
      ),
  };
}

/** Finds matches by the trigram index, newest first. */
export function matchByIndex(read: Reader, scope: CountScope, part: string, hits: SearchHits): Matches {
  const { contacts: c } = read.t;
  const where = and(hits.where, sql`${c.seq} = hits.rowid`, isInScope(read, scope), read.sqlDialect.holds(c.searchText, part));
  return {
    rows: async ({ before, skip, limit }) =>
      (await read
        .select(getTableColumns(c))
        .from(hits.from)
        .crossJoin(c)
        .where(and(where, sql`hits.rowid < ${before}`))
        .orderBy(sql`hits.rowid desc`)
        .limit(limit)
        .offset(skip)) as ContactRow[],
    count: (limit) =>
      readTotal(
        read.select({ n: rowCount }).from(
          read
            .select({ one: sql`1`.as("one") })
            .from(hits.from)
            .crossJoin(c)
            .where(where)
            .limit(limit)
            .as("found"),
        ),
      ),
  };
}

/** The `seq`s of contacts, newest first, from an index in that order. */
function selectSeqs(q: Queries, { contacts: c, contactTags: t }: Schema, arg: Arg, { tagged, byStatus }: StatementShape) {
  return tagged
    ? q
        .select({ seq: t.contactSeq })
        .from(t)
        .where(
          and(
            eq(t.workspaceId, arg("workspaceId")),
            eq(t.tagKey, arg("tagKey")),
            byStatus ? eq(t.status, arg("status")) : undefined,
            lt(t.contactSeq, arg("before")),
          ),
        )
        .orderBy(desc(t.contactSeq))
        .limit(arg("limit"))
        .offset(arg("skip"))
    : q
        .select({ seq: c.seq })
        .from(c)
        .where(and(eq(c.workspaceId, arg("workspaceId")), byStatus ? eq(c.status, arg("status")) : undefined, lt(c.seq, arg("before"))))
        .orderBy(desc(c.seq))
        .limit(arg("limit"))
        .offset(arg("skip"));
}

/** Conditions of a statement. */
interface StatementShape {
  readonly tagged: boolean;
  readonly byStatus: boolean;
}

function toShape({ tagKey, status }: CountScope): StatementShape {
  return { tagged: tagKey !== ALL, byStatus: status !== undefined };
}

function toStatementName(name: string, { tagged, byStatus }: StatementShape): string {
  return `${name}${tagged ? "_by_tag" : ""}${byStatus ? "_by_status" : ""}`;
}

function isInScope(read: Reader, { workspaceId, tagKey, status }: CountScope): SQL | undefined {
  const { contacts: c, contactTags: t } = read.t;
  return and(
    eq(c.workspaceId, workspaceId),
    status && eq(c.status, status),
    tagKey === ALL
      ? undefined
      : exists(
          read
            .select({ seq: t.contactSeq })
            .from(t)
            .where(and(eq(t.workspaceId, workspaceId), eq(t.tagKey, tagKey), eq(t.contactSeq, c.seq))),
        ),
  );
}

async function readTotal(rows: PromiseLike<{ n: number }[]>): Promise<number> {
  return (await rows)[0]?.n ?? 0;
}
