import { and, desc, eq, exists, getTableColumns, gte, inArray, lt, type SQL, sql } from "drizzle-orm";
import type { Reader } from "../db/db.ts";
import type { SearchHits } from "../db/search-index.ts";
import type { Scope } from "./counted.ts";
import { ALL } from "./counts.ts";
import type { ContactRow } from "./store.ts";

/** Which contacts of a list are wanted, newest first. */
export interface Slice {
  /** Those with a smaller number. */
  before: number;
  skip: number;
  limit: number;
}

const ph = sql.placeholder;

/** A slice of the contacts in scope. What is skipped is skipped in the index; only the contacts that are wanted are read. */
export function sliceOf(read: Reader, scope: Scope, slice: Slice): Promise<ContactRow[]> {
  const shape = shapeOf(scope);
  const name = nameOf("list_contacts", shape);
  return Promise.resolve(
    read
      .prepared(name, (build, t) =>
        build
          .select()
          .from(t.contacts)
          .where(inArray(t.contacts.seq, numbers({ select: build.select.bind(build), t }, shape.tagged, shape.byStatus)))
          .orderBy(desc(t.contacts.seq))
          .prepare(name),
      )
      .execute({ ...scope, ...slice }),
  );
}

/** The number of the contact that stands `skip` places below `before`; null when there are fewer. */
export async function numberAt(read: Reader, scope: Scope, before: number, skip: number): Promise<number | null> {
  const shape = shapeOf(scope);
  const name = nameOf("contact_at", shape);
  const [row] = await read
    .prepared(name, (build, t) => numbers({ select: build.select.bind(build), t }, shape.tagged, shape.byStatus).prepare(name))
    .execute({ ...scope, before, skip, limit: 1 });
  return row?.seq ?? null;
}

/** Contacts that hold a part of a text, found in one of two ways. */
export interface Found {
  rows(slice: Slice): Promise<ContactRow[]>;
  /** How many there are; counting stops at `limit`. */
  count(limit: number): Promise<number>;
}
const counted = sql<number>`count(*)`.mapWith(Number);

/** Finds by reading contacts from the newest down to the number `floor`. */
export function byReading(read: Reader, scope: Scope, part: string, floor: number): Found {
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
      total(
        read.select({ n: counted }).from(
          from({ one: sql`1`.as("one") }, Number.MAX_SAFE_INTEGER)
            .limit(limit)
            .as("found"),
        ),
      ),
  };
}

/** Finds by the index of parts, newest first. */
export function byIndex(read: Reader, scope: Scope, part: string, hits: SearchHits): Found {
  const { contacts: c } = read.t;
  const where = and(hits.where, sql`${c.seq} = hits.rowid`, inScope(read, scope), read.sqlDialect.holds(c.searchText, part));
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
      total(
        read.select({ n: counted }).from(
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

/** Numbers of contacts, newest first, from an index that has them in that order. */
function numbers(read: Pick<Reader, "select" | "t">, tagged: boolean, byStatus: boolean) {
  const { contacts: c, contactTags: t } = read.t;
  return tagged
    ? read
        .select({ seq: t.contactSeq })
        .from(t)
        .where(
          and(
            eq(t.workspaceId, ph("workspaceId")),
            eq(t.tagKey, ph("tagKey")),
            byStatus ? eq(t.status, ph("status")) : undefined,
            lt(t.contactSeq, ph("before")),
          ),
        )
        .orderBy(desc(t.contactSeq))
        .limit(ph("limit"))
        .offset(ph("skip"))
    : read
        .select({ seq: c.seq })
        .from(c)
        .where(and(eq(c.workspaceId, ph("workspaceId")), byStatus ? eq(c.status, ph("status")) : undefined, lt(c.seq, ph("before"))))
        .orderBy(desc(c.seq))
        .limit(ph("limit"))
        .offset(ph("skip"));
}

function shapeOf({ tagKey, status }: Scope) {
  return { tagged: tagKey !== ALL, byStatus: status !== undefined };
}

function nameOf(name: string, { tagged, byStatus }: ReturnType<typeof shapeOf>): string {
  return `${name}${tagged ? "_by_tag" : ""}${byStatus ? "_by_status" : ""}`;
}

function inScope(read: Reader, { workspaceId, tagKey, status }: Scope): SQL | undefined {
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

async function total(rows: PromiseLike<{ n: number }[]>): Promise<number> {
  return (await rows)[0]?.n ?? 0;
}
