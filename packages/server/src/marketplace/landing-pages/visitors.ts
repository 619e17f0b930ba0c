import { hash } from "node:crypto";
import { inArray, lt } from "drizzle-orm";
import type { Db } from "../../db/db.ts";
import { findRows } from "../../db/find.ts";
import { toNetwork } from "../../lib/ip-network.ts";
import { DAY } from "../../lib/units.ts";
import type { JobHandler } from "../../queue/queue.ts";
import type { PageDeps } from "./deps.ts";

/** Deletes the visitors of past days. */
const FORGET_JOB = "pages.forget_visitors";

// Rows deleted in one transaction.
const CHUNK = 500;

/** The date of an instant as YYYY-MM-DD, UTC. */
export function toDate(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/**
 * Today's salt, made on first use and shared by all processes. It is deleted when the day is over; from then on the hashes
 * cannot be traced to visitors, by us or anyone else.
 */
export async function getDailySalt(deps: Pick<PageDeps, "db" | "clock" | "random" | "queue">): Promise<{ date: string; salt: Uint8Array }> {
  const { db, clock, random, queue } = deps;
  const now = clock.now();
  const date = toDate(now);
  const known = await readSalt(db, date);
  if (known) return { date, salt: known };
  const made = random.bytes(32);
  const salt = await db.tx(async (tx) => {
    const { landingPageSalts: t } = tx.t;
    await tx.insert(t).values({ date, salt: made }).onConflictDoNothing();
    await queue.enqueue(tx, { kind: FORGET_JOB, payload: {}, runAt: startOfNextDay(now), dedupeKey: `${FORGET_JOB}:${date}` });
    const [row] = await findRows(tx, t, { date });
    return row?.salt ?? made;
  });
  return { date, salt };
}

/** A hash that is the same all day for the same network and `context`, and reveals neither. 22 characters. */
export function hashVisitor(salt: Uint8Array, address: string, ...context: readonly string[]): string {
  return hash("sha256", Buffer.concat([salt, Buffer.from(JSON.stringify([toNetwork(address), ...context]))]), "base64url").slice(0, 22);
}

/** The jobs of landing pages. */
export function pageJobs(deps: PageDeps): Readonly<Record<string, JobHandler>> {
  return { [FORGET_JOB]: forgetVisitors(deps) };
}

async function readSalt(db: Db, date: string): Promise<Uint8Array | undefined> {
  const { landingPageSalts: t } = db.read.t;
  const [row] = await findRows(db.read, t, { date });
  return row?.salt;
}

/** Midnight after an instant, UTC, ms. */
function startOfNextDay(ms: number): number {
  return (Math.floor(ms / DAY) + 1) * DAY;
}

/** Deletes the visitors of past days, and the salts without which their hashes mean nothing. */
function forgetVisitors({ db, clock }: PageDeps): JobHandler {
  return async () => {
    const today = toDate(clock.now());
    const { landingPageVisitors: v, landingPageSalts: s } = db.read.t;
    const old = await db.read.select({ visitor: v.visitor }).from(v).where(lt(v.date, today)).limit(CHUNK);
    return {
      ...(old.length === CHUNK && { again: clock.now() }),
      commit: async (tx) => {
        await tx.delete(s).where(lt(s.date, today));
        if (old.length > 0)
          await tx.delete(v).where(
            inArray(
              v.visitor,
              old.map(({ visitor }) => visitor),
            ),
          );
      },
    };
  };
}
