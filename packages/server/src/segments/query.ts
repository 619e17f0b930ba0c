import type { Contact, Page, SegmentPreview, SegmentRule } from "@mailsvc/sdk/contract";
import { and, asc, desc, eq, exists, gt, inArray, lt, type SQL, sql } from "drizzle-orm";
import { type ContactRow, showContact, tagKey } from "../contacts/contacts.ts";
import type { Reader } from "../db/db.ts";
import { type PageInput, paginateBySeq, type SeqSlice } from "../db/pagination.ts";
import type { Deps } from "../deps.ts";
import { loadListSeqs } from "../lists/lists.ts";
import { compileRule, type RuleContext } from "./compile.ts";
import { checkLists, countMembers, findSegment } from "./segments.ts";

/** What rules of a workspace are compiled for. */
export async function buildRuleContext(read: Reader, { clock }: Pick<Deps, "clock">, workspaceId: string): Promise<RuleContext> {
  return {
    q: read,
    workspaceId,
    now: clock.now(),
    listSeqs: await loadListSeqs(read, workspaceId),
  };
}

/** The number of the contact `n` after a number; null when there are fewer. */
export async function numberAfter(read: Reader, workspaceId: string, after: number, n: number): Promise<number | null> {
  const { contacts: t } = read.t;
  const [row] = await read
    .select({ seq: t.seq })
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), gt(t.seq, after)))
    .orderBy(asc(t.seq))
    .limit(1)
    .offset(n - 1);
  return row?.seq ?? null;
}

/** Rows to look through: an index that has the contacts in question in order, and what is left to check of each. */
interface Source {
  from: SQL;
  seq: SQL<number>;
  /** Which rows of it. */
  scope: SQL | undefined;
  /** What a contact must fulfil besides. */
  rest: SQL | undefined;
  /** True when an index leads to a few contacts at once, so that there is nothing to look through. */
  few: boolean;
}

// Rows looked through by one query. Between two of them others get their turn: on SQLite a query holds up the process.
const WINDOW = 20_000;

/** Counts the contacts that fulfil rules, and shows the newest of them. Throws ApiError validation_error for unknown lists. */
export async function preview(
  read: Reader,
  deps: Deps,
  workspaceId: string,
  { rules, limit }: { rules: SegmentRule; limit: number },
): Promise<SegmentPreview> {
  await checkLists(read, workspaceId, rules);
  const context = await buildRuleContext(read, deps, workspaceId);
  const source = sourceOf(rules, context);
  const seqs = limit === 0 ? [] : await numbersOf(context, source, { below: Number.MAX_SAFE_INTEGER, limit, offset: 0 }, deps);
  return {
    count: seqs.length < limit ? seqs.length : await count(context, source, deps),
    contacts: (await contactsOf(read, seqs)).map(showContact),
  };
}

/**
 * A page of the contacts of a segment, newest first. Where the members are known and no rule depends on time, they are
 * read from their index; otherwise the rules are asked, so that a page is right at any moment. Throws ApiError not_found.
 */
export async function segmentContacts(read: Reader, deps: Deps, workspaceId: string, id: string, input: PageInput): Promise<Page<Contact>> {
  const segment = await findSegment(read, workspaceId, id);
  const { contacts: c, segmentMembers: m } = read.t;
  if (segment.state === "READY" && !segment.timed)
    return paginateBySeq(
      input,
      async ({ below, limit, offset }) => {
        const rows = await read
          .select({ contact: c })
          .from(m)
          .innerJoin(c, eq(c.seq, m.contactSeq))
          .where(and(eq(m.segmentSeq, segment.seq), lt(m.contactSeq, below)))
          .orderBy(desc(m.contactSeq))
          .limit(limit)
          .offset(offset);
        return rows.map((row) => row.contact);
      },
      () => countMembers(read, id),
      showContact,
    );
  const context = await buildRuleContext(read, deps, workspaceId);
  const source = sourceOf(segment.rules, context);
  return paginateBySeq(
    input,
    async (slice) => contactsOf(read, await numbersOf(context, source, slice, deps)),
    () => count(context, source, deps),
    showContact,
  );
}

function namesAddresses(rule: SegmentRule): boolean {
  return "field" in rule && rule.field === "email" && (rule.operator === "equals" || rule.operator === "in");
}

/** A tag or a list that everybody wanted has is the place to begin: an index holds just its contacts. */
function sourceOf(rule: SegmentRule, context: RuleContext): Source {
  const { q, workspaceId, listSeqs } = context;
  const { contacts: c, contactTags: t, listMembers: m } = q.t;
  const rules = "all" in rule ? rule.all : [rule];
  const at = rules.some(namesAddresses)
    ? -1
    : rules.findIndex(
        (r) => "field" in r && r.operator === "contains" && (r.field === "tags" || (r.field === "lists" && listSeqs.has(String(r.value)))),
      );
  const found = rules[at];
  const compiled = and(...rules.filter((_, i) => i !== at).map((r) => compileRule(context, r)));
  if (found === undefined || !("field" in found))
    return {
      from: sql`${c}`,
      seq: sql`${c.seq}`.mapWith(Number),
      scope: eq(c.workspaceId, workspaceId),
      rest: compiled,
      few: rules.some(namesAddresses),
    };
  const of = (seq: typeof t.contactSeq | typeof m.contactSeq): SQL | undefined =>
    compiled &&
    exists(
      q
        .select({ one: sql`1` })
        .from(c)
        .where(and(eq(c.seq, seq), compiled)),
    );
  if (found.field === "tags")
    return {
      from: sql`${t}`,
      seq: sql`${t.contactSeq}`.mapWith(Number),
      scope: and(eq(t.workspaceId, workspaceId), eq(t.tagKey, tagKey(String(found.value)))),
      rest: of(t.contactSeq),
      few: false,
    };
  return {
    from: sql`${m}`,
    seq: sql`${m.contactSeq}`.mapWith(Number),
    scope: and(eq(m.listSeq, listSeqs.get(String(found.value)) as number), eq(m.status, "MEMBER")),
    rest: of(m.contactSeq),
    few: false,
  };
}

/** Looks through a source from the top, a window at a time, until `visit` says it has enough. */
async function windows(
  { q }: RuleContext,
  { from, seq, scope, few }: Source,
  below: number,
  deps: Pick<Deps, "clock">,
  visit: (range: SQL | undefined) => Promise<boolean>,
): Promise<void> {
  if (few) {
    await visit(sql`${seq} < ${below}`);
    return;
  }
  for (let top = below; ; ) {
    const [end] = await q
      .select({ seq })
      .from(from)
      .where(and(scope, sql`${seq} < ${top}`))
      .orderBy(desc(seq))
      .limit(1)
      .offset(WINDOW - 1);
    const range = and(sql`${seq} < ${top}`, end && sql`${seq} >= ${end.seq}`);
    if (!(await visit(range)) || !end) return;
    top = end.seq;
    await deps.clock.real.sleep(0);
  }
}

/** The numbers of contacts that fulfil a rule, newest first: some of those below a number. */
async function numbersOf(
  context: RuleContext,
  source: Source,
  { below, limit, offset }: SeqSlice,
  deps: Pick<Deps, "clock">,
): Promise<number[]> {
  const found: number[] = [];
  const wanted = offset + limit;
  await windows(context, source, below, deps, async (range) => {
    const rows = await context.q
      .select({ seq: source.seq })
      .from(source.from)
      .where(and(source.scope, range, source.rest))
      .orderBy(desc(source.seq))
      .limit(wanted - found.length);
    for (const row of rows) found.push(row.seq);
    return found.length < wanted;
  });
  return found.slice(offset);
}

/** How many contacts fulfil a rule. */
async function count(context: RuleContext, source: Source, deps: Pick<Deps, "clock">): Promise<number> {
  let total = 0;
  await windows(context, source, Number.MAX_SAFE_INTEGER, deps, async (range) => {
    const [row] = await context.q
      .select({ n: sql<number>`count(*)`.mapWith(Number) })
      .from(source.from)
      .where(and(source.scope, range, source.rest));
    total += row?.n ?? 0;
    return true;
  });
  return total;
}

/** Contacts by their numbers, in that order. */
async function contactsOf(read: Reader, seqs: readonly number[]): Promise<ContactRow[]> {
  if (seqs.length === 0) return [];
  const { contacts: c } = read.t;
  return read
    .select()
    .from(c)
    .where(inArray(c.seq, [...seqs]))
    .orderBy(desc(c.seq));
}
