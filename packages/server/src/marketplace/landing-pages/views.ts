import { sql } from "drizzle-orm";
import type { Tx } from "../../db/db.ts";
import { findRows } from "../../db/find.ts";
import type { PageDeps } from "./pages.ts";

/** One view of a page. */
interface View {
  readonly pageId: string;
  readonly date: string;
  readonly visitor: string;
  /** Host of the referring page; null when unknown. */
  readonly host: string | null;
}

// Hosts kept per page and day, since a request can name any host.
const MAX_HOSTS = 200;
const OTHER = "other";

interface Sums {
  readonly pageId: string;
  readonly date: string;
  views: number;
  visitors: number;
  readonly hosts: Map<string, number>;
}

// Views per transaction, limited by the parameters of a statement.
const BATCH = 200;

/**
 * Counts views in batches: views that arrive during a transaction are written together in the next one. So a busy page
 * costs few transactions, and they do not wait for each other.
 */
export class ViewCounter {
  readonly #deps: Pick<PageDeps, "db" | "log">;
  #waiting: { view: View; done: () => void }[] = [];
  #writing = false;

  constructor(deps: Pick<PageDeps, "db" | "log">) {
    this.#deps = deps;
  }

  /** Resolves once the view is written. A failure is logged and does not keep the page from being shown. */
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
        await this.#deps.db.tx((tx) => writeViews(tx, views));
      } catch (error) {
        this.#deps.log.warn("views of landing pages could not be counted", { views: batch.length, error: String(error) });
      }
      for (const { done } of batch) done();
    }
    this.#writing = false;
  }
}

function sumViews(batch: readonly View[], fresh: ReadonlySet<string>): Sums[] {
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
  // One order for all, so that two transactions on the same pages cannot deadlock.
  return [...sums.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum);
}

async function writeHosts(tx: Tx, { pageId, date, hosts }: Sums): Promise<void> {
  if (hosts.size === 0) return;
  const { landingPageReferrers: t } = tx.t;
  const known = await findRows(tx, t, { pageId, date });
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

async function writeViews(tx: Tx, batch: readonly View[]): Promise<void> {
  const { landingPageVisitors: v, landingPageDays: d } = tx.t;
  const rows = batch.map(({ pageId, date, visitor }) => ({ pageId, date, visitor }));
  const added = await tx.insert(v).values(rows).onConflictDoNothing().returning();
  const sums = sumViews(batch, new Set(added.map(({ pageId, date, visitor }) => `${date} ${pageId} ${visitor}`)));
  await tx
    .insert(d)
    .values(sums.map(({ pageId, date, views, visitors }) => ({ pageId, date, views, visitors, submissions: 0 })))
    .onConflictDoUpdate({
      target: [d.pageId, d.date],
      set: { views: sql`${d.views} + excluded.views`, visitors: sql`${d.visitors} + excluded.visitors` },
    });
  for (const sum of sums) await writeHosts(tx, sum);
}
