import type { QueueHold } from "@mailsvc/sdk/contract";
import { and, asc, count, eq, inArray, isNotNull, isNull, sql } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { assumeEmailHeld } from "../db/held.ts";
import { BULK, type EmailRow, moveEmails, OPEN } from "../emails/emails.ts";
import { iso } from "../lib/clock.ts";
import type { DeliveryError } from "../mail/mailer.ts";
import type { JobHandler } from "../queue/queue.ts";
import type { DeliveryDeps } from "./deps.ts";
import { leaveQueue, putBack } from "./in-queue.ts";

/** The job that sends what waited for a domain. */
export const RELEASE_JOB = "email.release";

/*
 * An operator can hold the emails to a domain. A held email keeps its status and its instant, and is not in the queue.
 *
 * | email is | trigger                                      | becomes                                           |
 * | -------- | -------------------------------------------- | ------------------------------------------------- |
 * | due      | claimed while its domain is held             | held: a row of `held_emails`                      |
 * | held     | its domain is released                       | due, as bulk mail                                 |
 * | held     | cancelled                                    | cancelled; the release passes it over             |
 */

// Emails that one transaction releases, and that are counted for a list.
const CHUNK = 500;
const MAX_COUNTED = 10_000;

const INTERRUPTED: DeliveryError = {
  message: "A server stopped while it handed this email over, so it may have arrived.",
  smtpCode: null,
  enhancedCode: null,
};

/** An email that was claimed while its domain was held. */
export interface Held {
  readonly kind: "held";
  readonly email: EmailRow;
  readonly domain: string;
}

/** The domain of an address key. */
export function domainOf(toKey: string): string {
  return toKey.slice(toKey.lastIndexOf("@") + 1);
}

/** The domains that are held. */
export async function listHeldDomains(read: Reader): Promise<ReadonlySet<string>> {
  const rows = await read.prepared("held_domains", (q, { heldDomains: h }) => q.select({ domain: h.domain }).from(h)).execute();
  return new Set(rows.map(({ domain }) => domain));
}

/** Holds the emails to a domain. */
export async function holdDomain(tx: Tx, { clock }: Pick<DeliveryDeps, "clock">, domain: string, reason: string | null): Promise<void> {
  const { heldDomains: h } = tx.t;
  await tx.insert(h).values({ domain, reason, heldAt: clock.now() }).onConflictDoUpdate({ target: h.domain, set: { reason } });
}

/** Ends the hold of a domain, and schedules what waited for it. */
export async function releaseDomain(tx: Tx, { queue }: Pick<DeliveryDeps, "queue">, domain: string): Promise<void> {
  const { heldDomains: h } = tx.t;
  const released = await tx.delete(h).where(eq(h.domain, domain)).returning({ domain: h.domain });
  if (released.length > 0) await queue.enqueue(tx, { kind: RELEASE_JOB, payload: { domain } });
}

/** The domains that are held, in the order of their names, and how many emails wait for each. */
export async function listHolds(q: Reader | Tx): Promise<QueueHold[]> {
  const { heldDomains: h, heldEmails: e } = q.t;
  const holds: QueueHold[] = [];
  for (const { domain, heldAt, reason } of await q.select().from(h).orderBy(asc(h.domain))) {
    const some = q
      .select({ one: sql`1`.as("one") })
      .from(e)
      .where(eq(e.domain, domain))
      .limit(MAX_COUNTED)
      .as("some");
    const [counted] = await q.select({ n: count() }).from(some);
    holds.push({ domain, heldAt: iso(heldAt), reason, emails: counted?.n ?? 0 });
  }
  return holds;
}

/** Puts emails on hold whose domain is still held, and the others back into the queue. */
export async function storeHeld(tx: Tx, deps: DeliveryDeps, all: readonly Held[]): Promise<void> {
  if (all.length === 0) return;
  const { heldDomains: h, heldEmails: e } = tx.t;
  const domains = [...new Set(all.map(({ domain }) => domain))];
  // An update, so that this transaction and one that releases the domain cannot both pass each other by.
  const still = await tx
    .update(h)
    .set({ heldAt: sql`${h.heldAt}` })
    .where(inArray(h.domain, domains))
    .returning({ domain: h.domain });
  const held = new Set(still.map(({ domain }) => domain));
  const waiting = all.filter(({ domain }) => held.has(domain));
  const rows = waiting.map(({ email: { workspaceId, id }, domain }) => ({ domain, workspaceId, emailId: assumeEmailHeld(id) }));
  if (rows.length > 0) await tx.insert(e).values(rows).onConflictDoNothing();
  const updatedAt = deps.clock.now();
  // A crash left it between hand-over and record: it may have arrived.
  const unsure = waiting.filter(({ email }) => email.status === "sending");
  await moveEmails(
    tx,
    deps,
    unsure.map(({ email }) => ({
      email,
      patch: { status: "deferred" as const, inDoubt: true, lastError: INTERRUPTED, lane: null, updatedAt },
    })),
  );
  await leaveQueue(
    tx,
    waiting.flatMap(({ email }) => (unsure.some((one) => one.email === email) ? [] : { kind: "left" as const, email })),
  );
  const released = all.filter(({ domain }) => !held.has(domain));
  if (released.length === 0) return;
  await putBack(
    tx,
    released.map(({ email }) => ({ email, runAt: email.nextAttemptAt ?? updatedAt, faults: 0 })),
  );
  await deps.queue.announce(tx, { lane: "bulk", dueAt: updatedAt });
}

/** Puts emails that waited for a domain back into the queue, some at a time: each run adds the next one. */
export function releaseEmails(deps: DeliveryDeps): JobHandler {
  return async ({ payload }) => ({
    commit: async (tx) => {
      const { heldEmails: e } = tx.t;
      const domain = String(payload.domain);
      const rows = await tx.select().from(e).where(eq(e.domain, domain)).orderBy(asc(e.workspaceId), asc(e.emailId)).limit(CHUNK);
      for (const [workspaceId, own] of Map.groupBy(rows, (row) => row.workspaceId)) {
        const emailIds = own.map(({ emailId }) => emailId);
        await tx.delete(e).where(and(eq(e.domain, domain), eq(e.workspaceId, workspaceId), inArray(e.emailId, emailIds)));
        await queueAgain(tx, deps, workspaceId, emailIds);
      }
      if (rows.length === CHUNK) await deps.queue.enqueue(tx, { kind: RELEASE_JOB, payload: { domain } });
    },
  });
}

/** Emails that were cancelled, or wait for their campaign, stay out of the queue. */
async function queueAgain(tx: Tx, { queue }: Pick<DeliveryDeps, "queue">, workspaceId: string, ids: readonly string[]): Promise<void> {
  const { emails: t } = tx.t;
  const queued = await tx
    .update(t)
    .set({ lane: BULK })
    .where(
      and(
        eq(t.workspaceId, workspaceId),
        inArray(t.id, [...ids]),
        inArray(t.status, [...OPEN]),
        isNull(t.lane),
        isNotNull(t.nextAttemptAt),
      ),
    )
    .returning({ dueAt: t.nextAttemptAt });
  if (queued.length > 0) await queue.announce(tx, { lane: "bulk", dueAt: Math.max(...queued.map(({ dueAt }) => dueAt ?? 0)) });
}
