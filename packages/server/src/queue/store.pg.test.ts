import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, dropDatabases, type TestDatabase } from "../../test/postgres.ts";
import type { Tx } from "../db/db.ts";
import { openPostgres, type PostgresDb } from "../db/postgres/database.ts";
import type { PgTx } from "../db/postgres/transactions.ts";
import { realTime, systemClock } from "../lib/clock.ts";
import { ControllableClock } from "../lib/controllable-clock.ts";
import { silentLog } from "../lib/log.ts";
import { secureRandom, seededRandom } from "../lib/random.ts";
import { postgresSchema } from "../schema.pg.ts";
import { createQueue } from "./create-queue.ts";
import { SWEEP } from "./heartbeat.pg.ts";
import { type QueueHarness, queueLaws } from "./queue.laws.ts";
import type { ClaimedJob, NewJob, Queue } from "./queue.ts";
import { PostgresJobStore, type PostgresStoreOptions } from "./store.pg.ts";

const HOUR = 3_600_000;

const createPostgresQueue = (options: PostgresStoreOptions): Queue => createQueue(new PostgresJobStore(options), options);

const open = async (): Promise<QueueHarness> => {
  const { url, drop } = await createDatabase();
  const db = await openPostgres(url, postgresSchema, { migrate: false });
  const clock = new ControllableClock(Date.parse("2026-01-01T00:00:00Z"), "frozen");
  let seed = 1;
  const make = (): Queue => createPostgresQueue({ db, clock, random: seededRandom(seed++), log: silentLog, beatMs: HOUR, deadMs: 1 });
  return {
    db,
    clock,
    queue: make(),
    // The first process has not been seen for very long.
    restarted: () => {
      const next = make();
      return {
        ...next,
        start: async (handlers, concurrency) => {
          await db.read.raw("update workers set seen_at = seen_at - interval '1 day'");
          await next.start(handlers, concurrency);
        },
      };
    },
    close: async () => {
      await db.close();
      await drop();
    },
  };
};

queueLaws("the queue on Postgres", open);

afterAll(dropDatabases);

describe("several server processes", () => {
  let database: TestDatabase;
  const dbs: PostgresDb[] = [];
  const queues: Queue[] = [];

  beforeEach(async () => {
    database = await createDatabase();
  });
  afterEach(async () => {
    await Promise.all(queues.splice(0).map((q) => q.stop()));
    await Promise.all(dbs.splice(0).map((db) => db.close()));
    await database.drop();
  });

  /** A process, as far as the queue can tell: its own connections and worker, on the machine's clock. */
  const member = async (beat: { beatMs?: number; deadMs?: number } = {}) => {
    const db = await openPostgres(database.url, postgresSchema, { migrate: false, connections: 4 });
    const queue = createPostgresQueue({ db, clock: systemClock, random: secureRandom(), log: silentLog, ...beat });
    dbs.push(db);
    queues.push(queue);
    return { db, queue };
  };
  const add = (m: { db: PostgresDb; queue: Queue }, n: number, rest: Partial<NewJob> = {}): Promise<void> =>
    m.db.tx(async (tx) => {
      for (let i = 0; i < n; i += 1) await m.queue.enqueue(tx, { kind: "work", payload: { i }, ...rest });
    });
  const until = async (check: () => boolean | Promise<boolean>, ms = 20_000): Promise<void> => {
    const end = realTime.now() + ms;
    while (!(await check())) {
      if (realTime.now() > end) throw new Error("It did not come true in time.");
      await realTime.sleep(5);
    }
  };
  const total = async ({ db, queue }: { db: PostgresDb; queue: Queue }): Promise<number> =>
    (await queue.list(db.read, { limit: 1, offset: 0 })).total;

  test("the search for jobs of dead processes reads no job that waits", async () => {
    const { db } = await member();
    const { raw } = db.read;
    await raw(
      `insert into jobs (kind, payload, state, run_at, attempts, max_attempts, claims, created_at, lane, interruptions)
       select 'later', '{}', 'ready', 4000000000000, 0, 10, 0, 0, 0, 0 from generate_series(1, 20000)`,
    );
    await raw("analyze jobs");
    const plan = JSON.stringify(
      await raw(`explain (format json) ${SWEEP.replaceAll("$1", "'me'").replaceAll("$2", "5000").replaceAll("$3", "'{}'")}`),
    );
    expect(plan).toContain("jobs_state");
    expect(plan).not.toMatch(/"Node Type":"Seq Scan"[^{}]*"Relation Name":"jobs"/);
  });

  test("a job whose namesake is added is not claimed before that is committed, and several may add it at once", async () => {
    const [one, other, claimer] = await Promise.all([member(), member(), member()]);
    const keyed: NewJob = { kind: "work", payload: {}, dedupeKey: "one" };
    await add(one, 1, keyed);
    const isAdded = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const adding = one.db.tx(async (tx) => {
      await one.queue.enqueue(tx, keyed);
      await (tx as PgTx).beforeCommit(async () => {
        isAdded.resolve();
        await goOn.promise;
      });
    });
    await isAdded.promise;
    await add(other, 1, keyed);
    const claimed = await claimer.db.read.raw("select id from jobs where dedupe_key = 'one' for update skip locked");
    goOn.resolve();
    await adding;
    expect([claimed, await total(one)]).toEqual([[], 1]);
  });

  test("share the work: each job is run once, by one of them, and none sits idle", async () => {
    const members = await Promise.all([member(), member(), member()]);
    const ran: number[][] = [[], [], []];
    for (const [m, { queue }] of members.entries())
      await queue.start(
        {
          work: async ({ payload }) => {
            ran[m]?.push(Number(payload.i));
            await realTime.sleep(1);
            return {};
          },
        },
        8,
      );
    const first = members[0] as (typeof members)[0];
    // The others must have been seen before they are told of work.
    await until(() => first.queue.workers?.live === 3);
    await add(first, 3000);
    await until(async () => (await total(first)) === 0);
    expect(ran.flat().sort((a, b) => a - b)).toEqual(Array.from({ length: 3000 }, (_, i) => i));
    for (const mine of ran) expect(mine.length).toBeGreaterThan(100);
  });

  test("know how many they are", async () => {
    const members = await Promise.all([1, 2, 3].map(() => member({ beatMs: 20 })));
    for (const { queue } of members) await queue.start({}, 1);
    const counts = (): unknown[] => members.map(({ queue }) => queue.workers?.live);
    await until(() => counts().every((live) => live === 3));
    await members.pop()?.queue.stop();
    await until(() => counts().every((live) => live === 2));
    expect(counts()).toEqual([2, 2]);
  });

  test("a job added by one is begun by another one, because it is told", async () => {
    const idle = await member();
    const busy = await member();
    let began = 0;
    const handler = async () => {
      began = realTime.now();
      return {};
    };
    await idle.queue.start({ work: handler }, 1);
    let release = (): void => {};
    const held = new Promise<void>((done) => {
      release = done;
    });
    await busy.queue.start({ block: () => held.then(() => ({})), work: handler }, 1);
    await add(busy, 1, { kind: "block" });
    await until(() => busy.queue.workers?.live === 2);
    const since = realTime.now();
    await add(busy, 1);
    await until(() => began > 0);
    release();
    // A quiet machine needs 30 ms; nothing but the announcement wakes the other one.
    expect(began - since).toBeLessThan(5000);
  });

  test("the jobs of one that is killed are taken over within seconds, and the attempts are not counted", async () => {
    const killed = await member({ beatMs: HOUR });
    const living = await member({ beatMs: 50, deadMs: 600 });
    const attempts: number[][] = [];
    await killed.queue.start({ work: () => new Promise<never>(() => {}) }, 4);
    await add(killed, 4);
    await until(async () => (await killed.queue.list(killed.db.read, { state: "running", limit: 9, offset: 0 })).total === 4);
    await living.queue.start(
      {
        work: async ({ attempt, interruptions }) => {
          attempts.push([attempt, interruptions]);
          return {};
        },
      },
      4,
    );
    // It does not beat, but its connection stands: it may only be slow, so its work is left to it.
    await realTime.sleep(1100);
    expect(attempts).toEqual([]);
    // Terminates the connection, as the kernel does for a killed process.
    const since = realTime.now();
    await living.db.read.raw(
      `select pg_terminate_backend(l.pid) from pg_locks l join workers w on w.seen_at < now() - interval '0.5 s'
       where l.locktype = 'advisory' and l.classid = 731624 and l.objid::int8 = (hashtext(w.name)::int8 & 4294967295)`,
    );
    await until(() => attempts.length === 4);
    // With its connection, it would have been given seven seconds.
    expect(realTime.now() - since).toBeLessThan(5000);
    expect(attempts).toEqual(Array(4).fill([1, 1]));
    queues.splice(queues.indexOf(killed.queue), 1);
  });

  test("next to a process of a newer version, an older one leaves it the jobs that only the newer one knows", async () => {
    const older = await member({ beatMs: 50 });
    const newer = await member({ beatMs: 50 });
    const ran: unknown[] = [];
    await newer.queue.start(
      {
        renamed: async ({ payload }) => {
          ran.push(payload.i);
          return {};
        },
      },
      2,
    );
    await older.queue.start({ work: async () => ({}) }, 8);
    await add(older, 20, { kind: "renamed" });
    await until(() => ran.length === 20);
    await until(async () => (await total(newer)) === 0);
    expect(await newer.queue.countUnhandled(newer.db.read)).toEqual({});
  });

  test("jobs that a process holds without knowing, since the answer to its claim was lost, are let go", async () => {
    const m = await member({ beatMs: 50, deadMs: 200 });
    let ran = 0;
    await m.queue.start(
      {
        work: async () => {
          ran += 1;
          return {};
        },
      },
      1,
    );
    await m.queue.idle();
    await m.db.tx(async (tx) => {
      await m.queue.enqueue(tx, { kind: "work", payload: {}, runAt: systemClock.now() + 200 });
    });
    await m.db.read.raw(
      "update jobs set state = 'running', claimed_by = (select name from workers), claimed_at = date_part('epoch', now()) * 1000, claims = 1, attempts = 1",
    );
    await until(() => ran === 1);
  });

  test("an attempt whose job runs again by its plan holds it no more, although the next attempt has its number and its worker", async () => {
    const { db } = await member();
    const store = new PostgresJobStore({ db, clock: systemClock, random: secureRandom(), log: silentLog, beatMs: HOUR });
    const queue = createQueue(store, { clock: systemClock, random: secureRandom(), log: silentLog });
    await store.open(["work"], { wake: () => {}, held: () => [] });
    await add({ db, queue }, 1);
    const claim = async (): Promise<ClaimedJob> => {
      const { jobs } = await store.claim(systemClock.now(), { default: 1, mail: 0, bulk: 0 });
      return jobs[0] as ClaimedJob;
    };
    const first = await claim();
    const again = systemClock.now();
    expect(await db.tx((tx) => store.end(tx, first, again))).toBe(true);
    const next = await claim();
    expect(next.attempt).toBe(first.attempt);
    expect(await db.tx((tx) => store.end(tx, first, again))).toBe(false);
    expect(await db.tx((tx) => store.endMany(tx, [first]))).toEqual(new Set());
    await store.fail(first, again, "late");
    expect(await db.tx((tx) => store.endMany(tx, [next]))).toEqual(new Set([next]));
    await store.close();
  });

  test("a worker that was given up for dead, wrongly, commits nothing and goes on with other work", async () => {
    const slow = await member({ beatMs: HOUR });
    const other = await member({ beatMs: 50, deadMs: 20 });
    let release = (): void => {};
    const held = new Promise<void>((done) => {
      release = done;
    });
    const put = (name: string) => async (tx: Tx) => void (await tx.insert(tx.t.meta).values({ name, value: "1" }));
    await slow.queue.start({ work: () => held.then(() => ({ commit: put("slow") })) }, 1);
    await add(slow, 1);
    await until(async () => (await slow.queue.list(slow.db.read, { state: "running", limit: 9, offset: 0 })).total === 1);
    await slow.db.read.raw("update workers set seen_at = seen_at - interval '1 day'");
    await other.queue.start({ work: async () => ({ commit: put("other") }) }, 1);
    await until(async () => (await total(other)) === 0);
    release();
    await slow.queue.idle();
    const rows = await other.db.read.select().from(other.db.read.t.meta);
    expect(rows.map((r) => r.name)).toEqual(["other"]);
  });

  test("of two attempts of one job in a worker that was given up for dead, only the later one commits", async () => {
    const slow = await member({ beatMs: HOUR });
    const other = await member({ beatMs: HOUR, deadMs: 20 });
    const attempts: { n: number; go: () => void }[] = [];
    await slow.queue.start(
      {
        work: async ({ interruptions }) => {
          await new Promise<void>((go) => attempts.push({ n: interruptions, go }));
          return { commit: async (tx) => void (await tx.insert(tx.t.meta).values({ name: `attempt ${interruptions}`, value: "1" })) };
        },
      },
      2,
    );
    await add(slow, 1);
    await until(() => attempts.length === 1);
    await slow.db.read.raw("update workers set seen_at = seen_at - interval '1 day'");
    // It takes no job itself.
    await other.queue.start({}, 0);
    await other.queue.stop();
    slow.queue.refresh();
    await until(() => attempts.length === 2);
    for (const { go } of attempts) go();
    await slow.queue.idle();
    expect(attempts.map(({ n }) => n)).toEqual([0, 1]);
    const rows = await other.db.read.select().from(other.db.read.t.meta);
    expect(rows.map((r) => r.name)).toEqual(["attempt 1"]);
    expect(await total(other)).toBe(0);
  });

  test("jobs begin while the outcomes of earlier ones are being stored, a few hundred of them at most", async () => {
    const m = await member();
    let began = 0;
    let stored = 0;
    let most = 0;
    await add(m, 1000);
    await m.queue.start(
      {
        work: async () => {
          began += 1;
          most = Math.max(most, began - stored);
          return { commit: async (tx) => tx.afterCommit(() => (stored += 1)) };
        },
      },
      4,
    );
    await m.queue.idle();
    expect(stored).toBe(1000);
    expect(most).toBeGreaterThan(4);
    expect(most).toBeLessThanOrEqual(4 + 256);
  });

  test("after the database has cut every connection, work goes on by itself", async () => {
    const m = await member({ beatMs: 50, deadMs: 200 });
    let ran = 0;
    await m.queue.start(
      {
        work: async () => {
          ran += 1;
          return {};
        },
      },
      4,
    );
    await add(m, 5);
    await m.queue.idle();
    await m.db.read.raw(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
    );
    await until(() =>
      add(m, 5).then(
        () => true,
        () => false,
      ),
    );
    await until(() => ran === 10);
  });

  test("a job that no row can hold is refused with its transaction, and harms nobody", async () => {
    const m = await member();
    await expect(add(m, 1, { maxAttempts: 3_000_000_000 })).rejects.toThrow("A query failed");
    expect(await total(m)).toBe(0);
    await add(m, 1, { maxAttempts: 1_000_000 });
    expect((await m.queue.list(m.db.read, { limit: 1, offset: 0 })).rows).toMatchObject([{ maxAttempts: 1_000_000 }]);
  });

  /** Runs 32 jobs that end in the same turn of the event loop, each with this effect. */
  const endTogether = async (m: { db: PostgresDb; queue: Queue }, commit: (tx: Tx) => Promise<void>): Promise<void> => {
    let begun = 0;
    let begin = (): void => {};
    const all = new Promise<void>((resolve) => {
      begin = resolve;
    });
    await add(m, 32);
    await m.queue.start(
      {
        work: async () => {
          begun += 1;
          if (begun === 32) begin();
          await all;
          return { commit };
        },
      },
      32,
    );
    await m.queue.idle();
  };

  test("effects of many single jobs are written by several transactions at a time", async () => {
    const m = await member();
    let first: Tx | undefined;
    let meet = (): void => {};
    const second = new Promise<void>((resolve) => {
      meet = resolve;
    });
    await endTogether(m, async (tx) => {
      first ??= tx;
      if (tx !== first) meet();
      await second;
    });
    expect(await total(m)).toBe(0);
  });

  test("of effects that read and write the same row at the same time none is lost", async () => {
    const m = await member();
    await m.db.read.raw("create table tally (n int)");
    await m.db.read.raw("insert into tally values (0)");
    await endTogether(m, async (tx) => {
      const { raw } = tx as unknown as PostgresDb["read"];
      const [row] = await raw<{ n: number }>("select n from tally");
      await raw("update tally set n = $1", [(row?.n ?? 0) + 1]);
    });
    expect(await total(m)).toBe(0);
    expect(await m.db.read.raw("select n from tally")).toEqual([{ n: 32 }]);
  });

  test("of effects that lock the same rows in opposite orders each is stored once", async () => {
    const m = await member();
    await m.db.read.raw("create table marks (name text, n int)");
    await m.db.read.raw("insert into marks values ('a', 0), ('b', 0)");
    let first: Tx | undefined;
    const locked = new Set<Tx>();
    let meet = (): void => {};
    const bothLocked = new Promise<void>((resolve) => {
      meet = resolve;
    });
    await endTogether(m, async (tx) => {
      const { raw } = tx as unknown as PostgresDb["read"];
      first ??= tx;
      const [one, other] = tx === first ? ["a", "b"] : ["b", "a"];
      const count = (name: string | undefined) => raw("update marks set n = n + 1 where name = $1", [name]);
      await count(one);
      if (locked.add(tx).size === 2) meet();
      await bothLocked;
      await count(other);
    });
    expect(await total(m)).toBe(0);
    expect(await m.db.read.raw("select name, n from marks order by name")).toEqual([
      { name: "a", n: 32 },
      { name: "b", n: 32 },
    ]);
  });
});
