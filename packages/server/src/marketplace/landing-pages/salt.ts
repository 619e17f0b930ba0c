import { hash } from "node:crypto";
import { isIPv6 } from "node:net";
import { eq } from "drizzle-orm";
import type { Db } from "../../db/db.ts";
import type { Deps } from "../../deps.ts";

/** Forgets who was seen; `jobs.ts` does it. */
export const FORGET_JOB = "pages.forget_visitors";

const DAY = 86_400_000;

/** YYYY-MM-DD of an instant, UTC. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** The first instant of the day after, ms. */
export function nextDay(ms: number): number {
  return (Math.floor(ms / DAY) + 1) * DAY;
}

/**
 * Today's salt, made when it is first asked for and shared by all processes. It is deleted when the day is over: from then
 * on nobody, we included, can tell whose a hash was.
 */
export async function saltOf(deps: Pick<Deps, "db" | "clock" | "random" | "queue">): Promise<{ date: string; salt: Uint8Array }> {
  const { db, clock, random, queue } = deps;
  const now = clock.now();
  const date = dayOf(now);
  const known = await read(db, date);
  if (known) return { date, salt: known };
  const made = random.bytes(32);
  const salt = await db.tx(async (tx) => {
    const { landingPageSalts: t } = tx.t;
    await tx.insert(t).values({ date, salt: made }).onConflictDoNothing();
    await queue.enqueue(tx, { kind: FORGET_JOB, payload: {}, runAt: nextDay(now), dedupeKey: `${FORGET_JOB}:${date}` });
    const [row] = await tx.select({ salt: t.salt }).from(t).where(eq(t.date, date));
    return row?.salt ?? made;
  });
  return { date, salt };
}

/** Something that is the same for the same visitor and matter all day, and says nothing about either. */
export function anonymous(salt: Uint8Array, address: string, ...matter: readonly string[]): string {
  return hash("sha256", Buffer.concat([salt, Buffer.from(JSON.stringify([household(address), ...matter]))]), "base64url").slice(0, 22);
}

async function read(db: Db, date: string): Promise<Uint8Array | undefined> {
  const { landingPageSalts: t } = db.read.t;
  const [row] = await db.read.select({ salt: t.salt }).from(t).where(eq(t.date, date));
  return row?.salt;
}

/** The part of an address that names a household: of IPv6 the first 64 bits, since the rest changes by the hour. */
function household(address: string): string {
  if (!isIPv6(address)) return address;
  const host = new URL(`http://[${address.split("%")[0]}]`).hostname.slice(1, -1);
  const [head = "", tail] = host.split("::");
  const front = head === "" ? [] : head.split(":");
  const back = tail === undefined || tail === "" ? [] : tail.split(":");
  const filled = tail === undefined ? front : [...front, ...Array<string>(8 - front.length - back.length).fill("0"), ...back];
  return filled.slice(0, 4).join(":");
}
