import { expect, vi } from "vitest";
import { tableUnder } from "../../../../test/markdown.ts";
import type { StatusListener } from "../../src/emails/emails.ts";
import { realTime } from "../../src/lib/clock.ts";
import { SECOND } from "../../src/lib/units.ts";
import type { TestWorld } from "../../src/testing/world.ts";

/** Counts of work in a database. */
interface StorageCost {
  readonly statements: number;
  /** Transactions that changed rows. */
  readonly commits: number;
  /** Rows that were inserted, changed or deleted. */
  readonly rows: number;
  /** Entries of tables and indexes that were written; null where they are not counted. */
  readonly entries: number | null;
  /** Bytes of the log. */
  readonly bytes: number;
}

/** Counts what reaches a database from the moment it was made. */
export interface Meter {
  /** Runs `work` and returns what it cost. */
  measure(work: () => Promise<void>): Promise<StorageCost>;
}

/**
 * True for a statement about the queue or its pause. The number of looks at a queue with nothing to do depends on time, so
 * such a statement counts only when it finds something.
 */
export function namesQueue(sql: string): boolean {
  return /\bjobs\b|"meta"|lane is not null/.test(sql);
}

const MANY = 100;
const IN_TURN = 20;

type Database = "SQLite" | "Postgres";

/** The ways of a mail that `docs/scaling.md` counts. */
type Way = "captured" | "by SMTP";

/** The least that a number may be, as a share of the one on the page; a page that says more than that is out of date. */
interface Slack {
  readonly counts: number;
  readonly rows: number;
}

// The groups of mails, outcomes and events depend on time, so their number has no least among many; the full pages of a tree
// depend on chance. On SQLite each step of a captured mail that is alone is a transaction of its own; how many of them are counted
// together depends on time.
const EXACT: Slack = { counts: 0.7, rows: 0.95 };
const ALONE: Slack = { counts: 0.4, rows: 0.85 };
const AMONG: Slack = { counts: 0, rows: 0.9 };

/** Sends mails one after the other, and a hundred at once, and compares what each cost with the table of `docs/scaling.md`. */
export async function checkCosts(world: TestWorld, meter: Meter, database: Database, way: Way): Promise<void> {
  // First uses compile statements and fill caches.
  for (let i = 0; i < 5; i += 1) await deliver(world, [`first${i}`]);
  const alone = await meter.measure(async () => {
    using _held = holdTimers();
    for (let i = 0; i < IN_TURN; i += 1) await handOver(world, `alone${i}`);
    await world.settle();
  });
  expectCost(`${database}, ${way}, alone`, divide(alone, IN_TURN), database === "SQLite" && way === "captured" ? EXACT : ALONE);
  const names = (round: number): string[] => Array.from({ length: MANY }, (_, i) => `many${round}-${i}`);
  await deliver(world, names(0));
  const many = await meter.measure(() => deliver(world, names(1)));
  expectCost(`${database}, ${way}, one of ${MANY} at once`, divide(many, MANY), AMONG);
}

/** Keeps timers of a second or more from firing: what a reader that rests lets wait is then done once, however slow the machine is. */
function holdTimers(): Disposable {
  const after = realTime.after.bind(realTime);
  return vi.spyOn(realTime, "after").mockImplementation((ms, fire) => (ms < SECOND ? after(ms, fire) : { cancel: () => {} }));
}

function divide(cost: StorageCost, by: number): StorageCost {
  return Object.fromEntries(Object.entries(cost).map(([name, n]) => [name, n === null ? null : n / by])) as unknown as StorageCost;
}

/** Sends a mail and waits until its outcome is stored. What readers of events let wait goes on waiting. */
async function handOver(world: TestWorld, name: string): Promise<void> {
  const listeners = world.app.deps.statusListeners as StatusListener[];
  const { promise, resolve } = Promise.withResolvers<void>();
  const listener: StatusListener = async (tx, changes) => {
    if (changes.some(({ to }) => to === "sent" || to === "delivered")) tx.afterCommit(resolve);
  };
  listeners.push(listener);
  await send(world, name);
  await promise;
  listeners.splice(listeners.indexOf(listener), 1);
}

/** Sends a mail to each name in the same moment, without an SDK and its idempotency key, and waits until all is done. */
export async function deliver(world: TestWorld, names: readonly string[]): Promise<void> {
  await Promise.all(names.map((name) => send(world, name)));
  await world.settle();
}

async function send(world: TestWorld, name: string): Promise<void> {
  const headers = { authorization: `Bearer ${world.apiKey}`, "content-type": "application/json" };
  const mail = { from: "hello@acme.example", subject: "Your order", text: "Dear reader. ".repeat(80) };
  const body = JSON.stringify({ ...mail, to: `${name}@example.com` });
  expect((await world.fetch(`${world.url}/api/v1/send`, { method: "POST", headers, body })).status).toBe(200);
}

/** The numbers of a row of the table under "Counted". */
export function rowOf(name: string): number[] {
  const row = tableUnder("docs/scaling.md", "Counted").find(([first]) => first === name);
  expect(row, `docs/scaling.md has a row "${name}"`).toBeDefined();
  return (row ?? []).slice(1).map((cell) => (cell === "" ? Number.NaN : Number(cell.replaceAll(",", ""))));
}

function expectCost(name: string, cost: StorageCost, slack: Slack): void {
  const said = rowOf(name);
  const columns = ["statements", "commits", "rows", "entries", "bytes"] as const;
  const wrong = columns.flatMap((column, i) => {
    const [value, most = 0] = [cost[column], said[i]];
    if (value === null) return [];
    const isRows = column === "rows" || column === "entries";
    const least = most * (isRows ? slack.rows : slack.counts);
    // Rows of some ways may also be a few more.
    return value <= most / (isRows ? slack.rows : 1) && value >= least ? [] : [`${column} ${value}, not ${least} to ${most}`];
  });
  expect.soft(wrong, `${name}, in docs/scaling.md`).toEqual([]);
}
