import { readdirSync, readFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type PostgresServer, startPostgres } from "../../../test/postgres-server.ts";
import { postgresSchema } from "../../schema.pg.ts";
import { StorageUnavailable } from "../errors.ts";
import { GroupedWrites } from "../grouped-writes.ts";
import { openPostgres, type PostgresDb } from "./database.ts";

let server: PostgresServer;
const opened: PostgresDb[] = [];

beforeAll(async () => {
  server = await startPostgres({ durable: true });
  const db = await openPostgres(server.url, postgresSchema);
  await db.close();
});
afterEach(async () => {
  await opened[0]?.read.raw("truncate meta, events");
  await Promise.all(opened.splice(0).map((db) => db.close()));
});
afterAll(() => server.dispose());

const open = async (): Promise<PostgresDb> => {
  const db = await openPostgres(server.url, postgresSchema, { migrate: false });
  opened.push(db);
  return db;
};

interface Named {
  readonly name: string;
  readonly value?: string;
}

/** Groups writes of rows that have a unique key. `runs` counts how often each of them was stored, or tried to be. */
const groupNamed = (db: PostgresDb) => {
  const runs = new Map<string, number>();
  const writes = new GroupedWrites<Named, Named, void>(db, {
    check: async (tx, row) => {
      await tx.lookUp(tx.t.meta, [{ name: row.name }]);
      return row;
    },
    store: async (tx, rows) => {
      for (const { name } of rows) runs.set(name, (runs.get(name) ?? 0) + 1);
      await tx.insertAll(
        tx.t.meta,
        rows.map(({ name, value = "1" }) => ({ name, value })),
      );
      return rows.map(() => undefined);
    },
  });
  return { writes, runs };
};

/** Groups writes of requests, each by two statements; neither of its rows has a key that would keep it from being written twice. */
const groupRequests = (db: PostgresDb): ((request: string) => Promise<void>) => {
  const event = (workspaceId: string) => ({ workspaceId, type: "plain", emailId: null, contactId: null, at: 1, data: null });
  const writes = new GroupedWrites<string, string, void>(db, {
    check: async (_tx, request) => request,
    store: async (tx, requests) => {
      await tx.insertAll(tx.t.events, requests.map(event));
      await tx.insertAll(
        tx.t.events,
        requests.map((request) => event(`${request} again`)),
      );
      return requests.map(() => undefined);
    },
  });
  return (request) => writes.run(request);
};

/** Returns how often each request was stored. Throws if only half of one was. */
const countStored = async (db: PostgresDb): Promise<Map<string, number>> => {
  const rows = await db.read.raw<{ request: string; n: number }>(
    "select workspace_id as request, count(*)::int as n from events group by 1",
  );
  const counts = new Map(rows.map(({ request, n }) => [request, n]));
  for (const [request, n] of counts) if (!request.endsWith(" again")) expect(counts.get(`${request} again`)).toBe(n);
  return counts;
};

/** Many clients that write without a pause, each request once, until `trouble` is over. */
const writeDuring = async (dbs: readonly PostgresDb[], trouble: (acknowledged: () => number) => Promise<void>) => {
  const acknowledged: string[] = [];
  const errors: unknown[] = [];
  let over = false;
  let sent = 0;
  const writers = dbs.map(groupRequests);
  const client = async (n: number): Promise<void> => {
    const write = writers[n % writers.length] as (request: string) => Promise<void>;
    while (!over) {
      const request = `request-${sent++}`;
      try {
        await write(request);
        acknowledged.push(request);
      } catch (error) {
        errors.push(error);
        await new Promise((next) => setTimeout(next, 20));
      }
    }
  };
  const clients = Array.from({ length: 40 }, (_, n) => client(n));
  await trouble(() => acknowledged.length).finally(() => {
    over = true;
  });
  await Promise.all(clients);
  return { acknowledged, errors };
};

const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await new Promise((next) => setTimeout(next, 5));
};

/** Checks that acknowledged requests are stored, nothing is stored twice, and all others were told that the database did not work. */
const expectExact = async (db: PostgresDb, { acknowledged, errors }: { acknowledged: string[]; errors: unknown[] }): Promise<void> => {
  const stored = await countStored(db);
  expect(acknowledged.filter((request) => stored.get(request) !== 1)).toEqual([]);
  expect([...stored].filter(([, n]) => n > 1)).toEqual([]);
  expect(errors.filter((error) => !(error instanceof StorageUnavailable))).toEqual([]);
};

/** The database's processes. */
const processes = (): number[] => {
  const isChild = (pid: string): boolean => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) === server.pid;
    } catch {
      return false;
    }
  };
  return [
    server.pid,
    ...readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name) && isChild(name))
      .map(Number),
  ];
};

test("a hundred writers share few transactions", async () => {
  const db = await open();
  const { tx } = db;
  let transactions = 0;
  Object.assign(db, {
    tx: (work: Parameters<typeof tx>[0]) => {
      transactions += 1;
      return tx(work);
    },
  });
  const write = groupRequests(db);
  await Promise.all(Array.from({ length: 100 }, (_, i) => write(`${i}`)));
  expect(transactions).toBe(1);
  expect((await countStored(db)).size).toBe(200);
});

test("a serialization failure makes the group run again, and all of it is stored once", async () => {
  const db = await open();
  await db.read.raw("create sequence failures");
  await db.read.raw(`create function fail_sometimes() returns trigger language plpgsql as $$ begin
    if new.value = 'unlucky' and nextval('failures') < 9 then raise exception 'no' using errcode = '40001'; end if;
    return new; end $$`);
  await db.read.raw("create trigger fail_sometimes before insert on meta for each row execute function fail_sometimes()");
  try {
    const { writes, runs } = groupNamed(db);
    await Promise.all(Array.from({ length: 60 }, (_, i) => writes.run({ name: `row-${i}`, value: i === 21 ? "unlucky" : "lucky" })));
    expect(await db.read.$count(db.read.t.meta)).toBe(60);
    expect([...runs.values()]).toEqual(Array.from({ length: 60 }, () => 9));
  } finally {
    await db.read.raw("drop function fail_sometimes cascade");
    await db.read.raw("drop sequence failures");
  }
});

test("a text that cannot be stored, or looked up, hurts nobody else", async () => {
  const db = await open();
  for (const [round, unlucky] of [{ name: "\0" }, { name: "row", value: "\0" }].entries()) {
    const { writes } = groupNamed(db);
    const before = await db.read.$count(db.read.t.meta);
    const rows = Array.from({ length: 40 }, (_, i) => (i === 9 ? unlucky : { name: `${round}-${i}` }));
    const ends = await Promise.allSettled(rows.map((row) => writes.run(row)));
    expect(ends.flatMap((end, i) => (end.status === "rejected" ? [[i, (end.reason as Error).name]] : []))).toEqual([[9, "Unstorable"]]);
    expect(await db.read.$count(db.read.t.meta)).toBe(before + 39);
  }
});

test("a text that cannot be looked up hurts nobody who reads at the same time", async () => {
  const db = await open();
  await db.tx((tx) => tx.insertAll(tx.t.meta, [{ name: "here", value: "1" }]));
  const names = ["here", "\0", "here", "gone"];
  const ends = await Promise.allSettled(names.map((name) => db.read.lookUp(db.read.t.meta, [{ name }])));
  expect(ends.map((end) => (end.status === "fulfilled" ? end.value : (end.reason as Error).name))).toEqual([
    [[{ name: "here", value: "1" }]],
    "Unstorable",
    [[{ name: "here", value: "1" }]],
    [[]],
  ]);
});

test("its connections terminated under load: nothing acknowledged is lost, and nothing is stored twice", async () => {
  const db = await open();
  const watcher = await open();
  const result = await writeDuring([db], async (acknowledged) => {
    for (let round = 0; round < 15; round += 1) {
      const before = acknowledged();
      await until(() => acknowledged() > before + 40);
      await watcher.read.raw(
        "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and application_name = 'mailsvc'",
      );
    }
  });
  expect(result.acknowledged.length).toBeGreaterThan(500);
  expect(result.errors.length).toBeGreaterThan(0);
  await expectExact(watcher, result);
});

test("the database restarted under the load of two servers: nothing acknowledged is lost, and nothing is stored twice", async () => {
  const dbs = [await open(), await open()];
  const result = await writeDuring(dbs, async (acknowledged) => {
    for (let round = 0; round < 3; round += 1) {
      const before = acknowledged();
      await until(() => acknowledged() > before + 100);
      await server.stop();
      await server.start();
    }
    const before = acknowledged();
    await until(() => acknowledged() > before + 100);
  });
  expect(result.errors.length).toBeGreaterThan(0);
  await expectExact(dbs[0] as PostgresDb, result);
});

test.skipIf(process.platform !== "linux")(
  "the database paused under load: every write is stored once, late",
  async () => {
    const db = await open();
    const result = await writeDuring([db], async (acknowledged) => {
      for (let round = 0; round < 3; round += 1) {
        const before = acknowledged();
        await until(() => acknowledged() > before + 100);
        const pids = processes();
        for (const pid of pids) process.kill(pid, "SIGSTOP");
        await new Promise((next) => setTimeout(next, 300));
        for (const pid of pids) process.kill(pid, "SIGCONT");
      }
    });
    expect(result.errors).toEqual([]);
    await expectExact(db, result);
  },
  60_000,
);
