import { and, eq, gte, like, notExists } from "drizzle-orm";
import type { Reader } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { splitIntoChunks } from "../lib/parts.ts";
import { DAY, HOUR } from "../lib/units.ts";
import type { JobHandler } from "../queue/queue.ts";
import type { MailMetricsDeps } from "./deps.ts";
import { receiverOfServers } from "./receivers.ts";

/** Job kind: finds out who takes the mail of domains. */
export const RECEIVERS_JOB = "metrics.receivers";

// Domains seldom change their mail servers.
const KEPT_FOR = 30 * DAY;
const LIMIT = 200;
const AT_ONCE = 10;

/** Looks up the mail servers of domains that mail was sent to in the last day, once a month each, and keeps what receiver these are of. */
export function learnReceivers(deps: MailMetricsDeps): JobHandler {
  return async () => {
    const now = deps.clock.now();
    const domains = await listUnknown(deps.db.read, now);
    const found: { readonly domain: string; readonly receiver: string | null; readonly checkedAt: number }[] = [];
    for (const some of splitIntoChunks(domains, AT_ONCE)) found.push(...(await Promise.all(some.map((domain) => look(deps, domain, now)))));
    return {
      commit: async (tx) => {
        const { mailReceivers: t } = tx.t;
        for (const row of found) await tx.insert(t).values(row).onConflictDoUpdate({ target: t.domain, set: row });
      },
      again: domains.length === LIMIT ? now + 1 : now + HOUR,
    };
  };
}

/** The receivers that domains belong to by their mail servers, as far as they are known. */
export async function loadReceivers(read: Reader, domains: readonly string[]): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const chunk of splitIntoChunks(domains))
    for (const { domain, receiver } of await findRows(read, read.t.mailReceivers, { domain: chunk }))
      if (receiver !== null) found.set(domain, receiver);
  return found;
}

async function look({ dns, clock }: MailMetricsDeps, domain: string, checkedAt: number) {
  try {
    return { domain, receiver: receiverOfServers(await dns.mx(domain)), checkedAt };
  } catch {
    // No name server answers: asked again after a day.
    return { domain, receiver: null, checkedAt: clock.now() - KEPT_FOR + DAY };
  }
}

/** Domains with mail of the last day whose servers are not known. */
async function listUnknown(read: Reader, now: number): Promise<string[]> {
  const { mailMetrics: m, mailReceivers: r } = read.t;
  const known = read
    .select({ domain: r.domain })
    .from(r)
    .where(and(eq(r.domain, m.value), gte(r.checkedAt, now - KEPT_FOR)));
  const rows = await read
    .selectDistinct({ domain: m.value })
    .from(m)
    .where(
      and(eq(m.test, false), eq(m.dimension, "domain"), like(m.value, "%.%"), gte(m.day, Math.floor((now - DAY) / DAY)), notExists(known)),
    )
    .limit(LIMIT);
  return rows.map(({ domain }) => domain);
}
