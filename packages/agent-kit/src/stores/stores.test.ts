import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import Database from "better-sqlite3";
import { Redis } from "ioredis";
import pg from "pg";
import postgres from "postgres";
import { createClient } from "redis";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../server/test/postgres.ts";
import { type RedisServer, startRedis } from "../../test/redis.ts";
import { fileStore } from "./file.ts";
import { memoryStore } from "./memory.ts";
import { postgresStore } from "./postgres.ts";
import { redisStore } from "./redis.ts";
import { sqliteStore } from "./sqlite.ts";
import { storeLaws } from "./store.laws.ts";

const newFolder = (): string => mkdtempSync(join(tmpdir(), "agent-kit-"));
const removeFolder = (folder: string): void => rmSync(folder, { recursive: true, force: true });

describe("the store in memory", () =>
  storeLaws(async () => ({ store: memoryStore(), other: null, reopen: async () => null, close: async () => {} })));

describe("the store in a file", () => {
  storeLaws(async () => {
    const folder = newFolder();
    let store = fileStore(join(folder, "agent.ndjson"));
    return {
      store,
      other: null,
      reopen: async () => {
        await store.close();
        store = fileStore(join(folder, "agent.ndjson"));
        return store;
      },
      close: async () => {
        await store.close();
        removeFolder(folder);
      },
    };
  });

  const useFolder = (): string => {
    const folder = newFolder();
    onTestFinished(() => removeFolder(folder));
    return folder;
  };

  test("is for one process at a time", async () => {
    const path = join(useFolder(), "agent.ndjson");
    const store = fileStore(path);
    await store.swap("a", null, "1");
    await expect(fileStore(path).get("a")).rejects.toThrow(`belongs to the process ${process.pid}`);
    const script = `import { fileStore } from ${JSON.stringify(join(import.meta.dirname, "file.ts"))}; await fileStore(${JSON.stringify(path)}).get("a");`;
    await expect(promisify(execFile)(process.execPath, ["--input-type=module", "-e", script])).rejects.toThrow(
      "a file store has one process",
    );
    await store.close();
    const next = fileStore(path);
    expect(await next.get("a")).toBe("1");
    await next.close();
  });

  test("opens its file once the process that had it has ended, without a restart", async () => {
    const path = join(useFolder(), "agent.ndjson");
    const first = fileStore(path);
    await first.swap("a", null, "1");
    const second = fileStore(path);
    await expect(second.get("a")).rejects.toThrow("belongs to the process");
    await first.close();
    expect(await second.get("a")).toBe("1");
    await second.close();
  });

  test.runIf(process.platform === "linux")("is not kept by a process that was killed and that nobody has reaped", async () => {
    const path = join(useFolder(), "agent.ndjson");
    // A shell that starts a process and becomes another program, which never asks for its end.
    const parent = spawn("/bin/sh", ["-c", "sleep 0 & echo $!; exec sleep 60"], { stdio: ["ignore", "pipe", "ignore"] });
    onTestFinished(() => void parent.kill("SIGKILL"));
    const [line] = (await once(parent.stdout, "data")) as [Buffer];
    const zombie = Number(line.toString());
    const stat = (): string => readFileSync(`/proc/${zombie}/stat`, "utf8");
    while (!stat().includes(") Z ")) await new Promise((look) => setTimeout(look, 10));
    const ticks = stat()
      .slice(stat().lastIndexOf(")") + 2)
      .split(" ")[19];
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    writeFileSync(`${path}.lock`, `${zombie} ${boot}:${ticks} token`);
    const store = fileStore(path);
    expect(await store.get("a")).toBeNull();
    await store.close();
  });

  test.runIf(process.platform === "linux")("is not kept by a process that got the id of one that has ended", async () => {
    const folder = useFolder();
    const path = join(folder, "agent.ndjson");
    for (const start of ["an-earlier-boot:1", `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()}:1`]) {
      writeFileSync(`${path}.lock`, `${process.ppid} ${start} token`);
      const store = fileStore(path);
      expect(await store.get("a")).toBeNull();
      await store.close();
    }
    writeFileSync(`${path}.lock`, String(process.ppid));
    await expect(fileStore(path).get("a")).rejects.toThrow(`belongs to the process ${process.ppid}`);
    expect(readdirSync(folder).sort()).toEqual(["agent.ndjson", "agent.ndjson.lock"]);
  });

  test("needs no flush of folders on Windows, which refuses it", async () => {
    const path = join(useFolder(), "agent.ndjson");
    const probe = await open(import.meta.filename);
    const prototype = Object.getPrototypeOf(probe) as typeof probe;
    await probe.close();
    const { sync } = prototype;
    const platform = Object.getOwnPropertyDescriptor(process, "platform") ?? {};
    onTestFinished(() => {
      prototype.sync = sync;
      Object.defineProperty(process, "platform", platform);
    });
    prototype.sync = async function (this: typeof probe) {
      if ((await this.stat()).isDirectory()) throw Object.assign(new Error("operation not permitted, fsync"), { code: "EPERM" });
      return sync.call(this);
    };
    Object.defineProperty(process, "platform", { ...platform, value: "win32" });
    const store = fileStore(path);
    expect(await store.swap("a", null, "1")).toBe(true);
    await store.close();
  });

  test("continues after a process that was killed while it wrote", async () => {
    const path = join(useFolder(), "agent.ndjson");
    const script = `import { fileStore } from ${JSON.stringify(join(import.meta.dirname, "file.ts"))};
      const store = fileStore(${JSON.stringify(path)}); await store.swap("a", null, "1"); process.kill(process.pid, "SIGKILL");`;
    await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script]).catch(() => {});
    appendFileSync(path, '["a","half');
    const store = fileStore(path);
    expect(await store.get("a")).toBe("1");
    expect(await store.swap("a", "1", "2")).toBe(true);
    await store.close();
    const again = fileStore(path);
    expect(await again.get("a")).toBe("2");
    await again.close();
  });

  test("does not grow without end, and is readable by its owner only", async () => {
    const path = join(useFolder(), "agent.ndjson");
    const store = fileStore(path);
    for (let i = 0; i < 30; i += 1)
      await Promise.all(Array.from({ length: 100 }, (_, key) => store.swap(`${key}`, i === 0 ? null : String(i - 1), String(i))));
    await store.close();
    expect(readFileSync(path, "utf8").split("\n").length).toBeLessThan(2000);
    expect(statSync(path).mode & 0o077).toBe(0);
  });

  test("a damaged file is an error, not an empty store", async () => {
    const path = join(useFolder(), "agent.ndjson");
    writeFileSync(path, 'not json\n["a","1",null]\n');
    await expect(fileStore(path).get("a")).rejects.toThrow(SyntaxError);
    // The lock is given back, so the error is the same the next time.
    await expect(fileStore(path).get("a")).rejects.toThrow(SyntaxError);
  });
});

describe.each([
  ["node:sqlite", (path: string) => new DatabaseSync(path)],
  ["better-sqlite3", (path: string) => new Database(path)],
])("the store in SQLite, with %s", (_name, open) =>
  storeLaws(async () => {
    const folder = newFolder();
    const databases = [0, 1].map(() => open(join(folder, "agent.db")));
    const [store, other] = databases.map((database) => sqliteStore(database));
    if (!store || !other) throw new Error("unreachable");
    return {
      store,
      other,
      reopen: async () => {
        const next = open(join(folder, "agent.db"));
        databases.push(next);
        return sqliteStore(next);
      },
      close: async () => {
        for (const database of databases) database.close();
        removeFolder(folder);
      },
    };
  }),
);

test("a new SQLite file that another process switches to WAL at the same moment is waited for", async () => {
  const folder = newFolder();
  onTestFinished(() => removeFolder(folder));
  const database = new DatabaseSync(join(folder, "agent.db"));
  onTestFinished(() => database.close());
  let refusals = 0;
  // SQLite answers so at once, whatever the busy timeout is, where both would wait for each other: in one of a hundred openings.
  const exec = (sql: string): void => {
    if (sql.includes("journal_mode") && refusals++ < 3) throw new Error("database is locked");
    database.exec(sql);
  };
  const store = sqliteStore({ exec, prepare: (sql) => database.prepare(sql) });
  expect([await store.swap("a", null, "1"), await store.get("a"), refusals]).toEqual([true, "1", 4]);
});

test("writes to SQLite that are made at once are one transaction, and one that fails takes the others back", async () => {
  const folder = newFolder();
  onTestFinished(() => removeFolder(folder));
  const database = new DatabaseSync(join(folder, "agent.db"));
  onTestFinished(() => database.close());
  const commits: string[] = [];
  const exec = (sql: string): void => {
    if (sql === "RELEASE agent_kit") commits.push(sql);
    database.exec(sql);
  };
  const store = sqliteStore({ exec, prepare: (sql) => database.prepare(sql) });
  const keys = Array.from({ length: 50 }, (_, i) => `key-${i % 40}`);
  expect((await Promise.all(keys.map((key) => store.swap(key, null, key)))).filter(Boolean)).toHaveLength(40);
  expect(commits).toHaveLength(1);
  database.exec("CREATE TRIGGER full BEFORE INSERT ON agent_kit WHEN NEW.key = 'refused' BEGIN SELECT RAISE(ABORT, 'no room'); END");
  const failed = await Promise.allSettled([store.swap("one", null, "1"), store.swap("refused", null, "2")]);
  expect(failed.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await store.swap("one", null, "1")).toBe(true);
});

describe("the store in Redis", () => {
  let server: RedisServer | undefined;
  let port = 0;
  beforeAll(async () => {
    server = await startRedis();
    port = server.port;
  });
  afterAll(() => server?.stop());

  describe("with ioredis", () =>
    storeLaws(async () => {
      const clients = [0, 1].map(() => new Redis(port, "127.0.0.1"));
      const [client, second] = clients as [Redis, Redis];
      await client.flushall();
      const store = redisStore(client);
      return {
        store,
        other: redisStore(second),
        reopen: async () => redisStore(second),
        close: async () => {
          for (const one of clients) one.disconnect();
        },
      };
    }));

  describe("with node-redis", () =>
    storeLaws(async () => {
      const client = createClient({ url: `redis://127.0.0.1:${port}` });
      await client.connect();
      await client.sendCommand(["FLUSHALL"]);
      const second = client.duplicate();
      await second.connect();
      const store = redisStore(client, { prefix: "my:" });
      return {
        store,
        other: redisStore(second, { prefix: "my:" }),
        reopen: async () => redisStore(second, { prefix: "my:" }),
        close: async () => {
          client.destroy();
          second.destroy();
        },
      };
    }));
});

describe("the store in Postgres", () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase("empty");
  });
  afterAll(() => database.drop());
  let count = 0;

  describe("with pg", () =>
    storeLaws(async () => {
      const table = `agent "${++count}"`;
      const pools = [0, 1].map(() => new pg.Pool({ connectionString: database.url, max: 4 }));
      const [pool, second] = pools as [pg.Pool, pg.Pool];
      return {
        store: postgresStore(pool, { table }),
        other: postgresStore(second, { table }),
        reopen: async () => postgresStore(second, { table }),
        close: async () => {
          for (const one of pools) await one.end();
        },
      };
    }));

  describe("with Postgres.js", () =>
    storeLaws(async () => {
      const sql = postgres(database.url, { max: 4, onnotice: () => {} });
      await sql`DROP TABLE IF EXISTS agent_kit`;
      const store = postgresStore(sql);
      return { store, other: postgresStore(sql), reopen: async () => postgresStore(sql), close: () => sql.end() };
    }));
});
