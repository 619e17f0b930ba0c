import { and, asc, eq, gte, inArray, or, type SQL, sql } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { contains } from "../db/dialect.ts";
import { selectKeyIds } from "../keys/keys.ts";
import { waitForTurn } from "../lib/turn.ts";
import { MINUTE } from "../lib/units.ts";

// Rows looked through by one statement: a few ms, after which others have their turn.
const CHUNK = 500;
// Longest time of a transaction. An answer gets its time within its transaction, so one stored during the search may have an earlier time.
const STORING_MS = MINUTE;

/** The key of a stored answer to a request with an Idempotency-Key. */
interface AnswerKey {
  readonly keyId: string;
  readonly route: string;
  readonly idempotencyKey: string;
}

/** The stored answers that name a person. */
export interface AnswerCopies {
  readonly keys: readonly AnswerKey[];
  /** Start of the search, ms: answers stored at that time or later are still to be searched. */
  readonly since: number;
}

/** Searches all stored answers of a workspace for texts, in whatever case: some at a time, before the transaction. */
export async function findAnswerCopies(read: Reader, workspaceId: string, texts: readonly string[], now: number): Promise<AnswerCopies> {
  const { idempotency: t } = read.t;
  const found: AnswerKey[] = [];
  for (const { id } of await selectKeyIds(read, workspaceId)) {
    let after: AnswerKey | undefined;
    do {
      const rows: (AnswerKey & { names: number })[] = await read
        .select({
          ...{ keyId: t.keyId, route: t.route, idempotencyKey: t.idempotencyKey },
          names: sql<number>`case when ${naming(read, texts)} then 1 else 0 end`.mapWith(Number),
        })
        .from(t)
        .where(and(eq(t.keyId, id), after && sql`(${t.route}, ${t.idempotencyKey}) > (${after.route}, ${after.idempotencyKey})`))
        .orderBy(asc(t.route), asc(t.idempotencyKey))
        .limit(CHUNK);
      found.push(...rows.filter(({ names }) => names === 1));
      after = rows.length === CHUNK ? rows.at(-1) : undefined;
      await waitForTurn();
    } while (after);
  }
  return { keys: found, since: now };
}

/** Deletes the answers that were found, and those that name the person and were committed since. Returns how many. */
export async function deleteAnswers(tx: Tx, workspaceId: string, { keys, since }: AnswerCopies, texts: readonly string[]): Promise<number> {
  const { idempotency: t } = tx.t;
  const later = await tx
    .select({ keyId: t.keyId, route: t.route, idempotencyKey: t.idempotencyKey })
    .from(t)
    .where(and(gte(t.createdAt, since - STORING_MS), inArray(t.keyId, selectKeyIds(tx, workspaceId)), naming(tx, texts)));
  let deleted = 0;
  for (const { keyId, route, idempotencyKey } of [...keys, ...later])
    deleted += (
      await tx
        .delete(t)
        .where(and(eq(t.keyId, keyId), eq(t.route, route), eq(t.idempotencyKey, idempotencyKey)))
        .returning({ keyId: t.keyId })
    ).length;
  return deleted;
}

/** The condition that an answer, which is JSON, contains one of the texts. */
function naming({ t: { idempotency: t }, sqlDialect }: Reader | Tx, texts: readonly string[]): SQL | undefined {
  return or(...texts.map((text) => contains(sqlDialect, t.answer, JSON.stringify(text).slice(1, -1))));
}
