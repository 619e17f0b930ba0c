import { and, eq, sql } from "drizzle-orm";
import type { Tx } from "../../db/db.ts";
import type { Deps } from "../../deps.ts";

/** One look at a page. */
export interface View {
  readonly pageId: string;
  readonly date: string;
  readonly visitor: string;
  /** Where the visitor came from; null for nowhere that was told. */
  readonly host: string | null;
}

// Hosts that are kept of one page and day; anybody can name a host of their own.
const MAX_HOSTS = 200;
const OTHER = "other";

interface Sums {
  readonly pageId: string;
  readonly date: string;
  views: number;
  visitors: number;
  readonly hosts: Map<string, number>;
}

// Views of one transaction, by what a statement takes.
const BATCH = 200;

/**
 * Counts views: those that come while others are being written wait together, and are written at once. So a page that many
 * look at costs a few transactions, and none of them is in another's way.
 */
export class ViewCounter {
  readonly #deps: Pick<Deps, "db" | "log">;
  #waiting: { view: View; done: () => void }[] = [];
  #writing = false;

  constructor(deps: Pick<Deps, "db" | "log">) {
    this.#deps = deps;
  }

  /** Settles once the view is counted. A view that cannot be counted is no reason not to show the page. */
  count(view: View): Promise<void> {
    return new Promise((done) => {
      this.#waiting.push({ view, done });
      if (!this.#writing) void this.#write();
    });
  }

  async #write(): Promise<void> {
    this.#writing = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, BATCH);
      try {
        const views = batch.map(({ view }) => view);
        await this.#deps.db.tx((tx) => write(tx, views));
      } catch (error) {
        this.#deps.log.warn("views of landing pages could not be counted", { views: batch.length, error: String(error) });
      }
      for (const { done } of batch) done();
    }
    this.#writing = false;
  }
}

function sumsOf(batch: readonly View[], fresh: ReadonlySet<string>): Sums[] {
  const sums = new Map<string, Sums>();
  const counted = new Set<string>();
  for (const { pageId, date, visitor, host } of batch) {
    const key = `${date} ${pageId}`;
    const sum = sums.get(key) ?? { pageId, date, views: 0, visitors: 0, hosts: new Map() };
    sums.set(key, sum);
    sum.views += 1;
    const seen = `${key} ${visitor}`;
    if (fresh.has(seen) && !counted.has(seen)) {
      sum.visitors += 1;
      counted.add(seen);
    }
    if (host !== null) sum.hosts.set(host, (sum.hosts.get(host) ?? 0) + 1);
  }
  // In one order for all, so that two who count the same pages cannot wait for each other.
  return [...sums.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum);
}

async function countHosts(tx: Tx, { pageId, date, hosts }: Sums): Promise<void> {
  if (hosts.size === 0) return;
  const { landingPageReferrers: t } = tx.t;
  const known = await tx
    .select({ host: t.host })
    .from(t)
    .where(and(eq(t.pageId, pageId), eq(t.date, date)));
  const names = new Set(known.map(({ host }) => host));
  const rows = new Map<string, number>();
  for (const [host, views] of hosts) {
    const name = names.has(host) || names.size < MAX_HOSTS ? host : OTHER;
    names.add(name);
    rows.set(name, (rows.get(name) ?? 0) + views);
  }
  await tx
    .insert(t)
    .values([...rows].map(([host, views]) => ({ pageId, date, host, views })))
    .onConflictDoUpdate({ target: [t.pageId, t.date, t.host], set: { views: sql`${t.views} + excluded.views` } });
}

async function write(tx: Tx, batch: readonly View[]): Promise<void> {
  const { landingPageVisitors: v, landingPageDays: d } = tx.t;
  const rows = batch.map(({ pageId, date, visitor }) => ({ pageId, date, visitor }));
  const added = await tx.insert(v).values(rows).onConflictDoNothing().returning();
  const sums = sumsOf(batch, new Set(added.map(({ pageId, date, visitor }) => `${date} ${pageId} ${visitor}`)));
  await tx
    .insert(d)
    .values(sums.map(({ pageId, date, views, visitors }) => ({ pageId, date, views, visitors, submissions: 0 })))
    .onConflictDoUpdate({
      target: [d.pageId, d.date],
      set: { views: sql`${d.views} + excluded.views`, visitors: sql`${d.visitors} + excluded.visitors` },
    });
  for (const sum of sums) await countHosts(tx, sum);
}
