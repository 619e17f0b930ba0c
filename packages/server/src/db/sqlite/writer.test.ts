import { describe, expect, test } from "vitest";
import { StorageUnavailable } from "../errors.ts";
import type { Scope } from "../scope.ts";
import { type Disk, Writer, type WriterOptions } from "./writer.ts";

/** A disk whose flushes end when the test says so. */
const slowDisk = () => {
  const waiting: { resolve(): void; reject(error: Error): void }[] = [];
  let pending: Promise<void> | null = null;
  const disk: Disk = {
    get pending() {
      return pending;
    },
    flush: () => {
      const flushed = new Promise<void>((resolve, reject) => void waiting.push({ resolve, reject })).finally(() => {
        if (pending === flushed) pending = null;
      });
      pending = flushed;
      return flushed;
    },
  };
  return { disk, waiting };
};

const writerOn = (
  disk: Disk,
  {
    onCommit = () => {},
    pending = null,
    ...options
  }: WriterOptions & { onCommit?: () => void; pending?: { backlog: Promise<void> | null } | null } = {},
) => {
  const log: string[] = [];
  let active = false;
  const note = (what: string, then?: boolean) => () => {
    log.push(what);
    if (then !== undefined) active = then;
  };
  const connection = {
    get active() {
      return active;
    },
    begin: note("begin", true),
    commit: () => {
      onCommit();
      note("commit", false)();
    },
    rollback: note("rollback", false),
    savepoint: note("savepoint"),
    release: note("release"),
    rollbackToSavepoint: note("back"),
    disk,
    get backlog() {
      return pending?.backlog ?? null;
    },
  };
  return { writer: new Writer(connection, options), log };
};

const write = async (scope: Scope): Promise<string> => {
  scope.wrote = true;
  return "written";
};
const look = async (): Promise<string> => "seen";
const turn = (): Promise<void> => new Promise((next) => setImmediate(() => setImmediate(next)));

/** Returns the state of promises so far. */
const states = (...promises: Promise<unknown>[]): Promise<string[]> =>
  Promise.all(
    promises.map((one) =>
      Promise.race([one, Promise.resolve("waits")]).then(
        (value) => String(value),
        () => "failed",
      ),
    ),
  );

describe("the disk is waited for outside the loop", () => {
  test("nobody is answered before the flush has ended, and the next group is committed meanwhile", async () => {
    const { disk, waiting } = slowDisk();
    const { writer, log } = writerOn(disk);
    const hooks: string[] = [];
    const first = writer.run(async (scope) => {
      scope.afterCommit.push(() => hooks.push("first"));
      return write(scope);
    });
    await turn();
    const second = writer.run(write);
    await turn();
    expect(log).toEqual(["begin", "commit", "begin", "commit"]);
    expect([...(await states(first, second)), ...hooks]).toEqual(["waits", "waits"]);
    waiting[0]?.resolve();
    expect(await first).toBe("written");
    expect([...(await states(second)), ...hooks]).toEqual(["waits", "first"]);
    waiting[1]?.resolve();
    expect(await second).toBe("written");
  });

  test("who only looked is answered at once, unless what was seen is not on the disk yet", async () => {
    const { disk, waiting } = slowDisk();
    const { writer } = writerOn(disk);
    expect(await writer.run(look)).toBe("seen");
    expect(waiting).toHaveLength(0);
    const written = writer.run(write);
    await turn();
    const seen = writer.run(look);
    await turn();
    expect(await states(written, seen)).toEqual(["waits", "waits"]);
    expect(waiting).toHaveLength(1);
    waiting[0]?.resolve();
    expect(await Promise.all([written, seen])).toEqual(["written", "seen"]);
  });

  test("rows that may be lost wait for what was committed before them, and for no flush of their own", async () => {
    const { disk, waiting } = slowDisk();
    const { writer } = writerOn(disk);
    const mayBeLost = { mayBeLost: true };
    expect(await writer.run(write, mayBeLost)).toBe("written");
    expect(waiting).toHaveLength(0);
    const kept = writer.run(write);
    await turn();
    const lossy = writer.run(write, mayBeLost);
    await turn();
    expect([...(await states(kept, lossy)), waiting.length]).toEqual(["waits", "waits", 1]);
    waiting[0]?.resolve();
    expect(await Promise.all([kept, lossy])).toEqual(["written", "written"]);
    const together = [writer.run(write, mayBeLost), writer.run(write)];
    await turn();
    expect([...(await states(...together)), waiting.length]).toEqual(["waits", "waits", 2]);
    waiting[1]?.resolve();
    expect(await Promise.all(together)).toEqual(["written", "written"]);
  });

  test("idle and close wait for the disk", async () => {
    const { disk, waiting } = slowDisk();
    const { writer } = writerOn(disk);
    const written = writer.run(write);
    await turn();
    const idle = writer.idle().then(() => "idle");
    const closed = writer.close().then(() => "closed");
    await turn();
    expect(await states(idle, closed)).toEqual(["waits", "waits"]);
    waiting[0]?.resolve();
    expect(await Promise.all([written, idle, closed])).toEqual(["written", "idle", "closed"]);
  });

  test("those who wait for the disk count among those who wait", async () => {
    const { disk, waiting } = slowDisk();
    const { writer } = writerOn(disk, { maxWaiting: 2 });
    const two = [writer.run(write), writer.run(write)];
    await turn();
    await expect(writer.run(write)).rejects.toThrow("Too many writes are waiting.");
    waiting[0]?.resolve();
    await Promise.all(two);
    const third = writer.run(write);
    await turn();
    waiting[1]?.resolve();
    expect(await third).toBe("written");
  });
});

describe("a group that grows", () => {
  const immediate = (): Promise<void> => new Promise((next) => setImmediate(next));
  const callers = (writer: Writer, n: number) => Array.from({ length: n }, () => writer.run(look));
  const { disk } = slowDisk();

  test("is waited for while each turn brings more, and no longer", async () => {
    const { writer, log } = writerOn(disk, { holdMs: Number.POSITIVE_INFINITY });
    const all = callers(writer, 20);
    await immediate();
    for (let turns = 0; turns < 3; turns += 1) {
      expect(log).toEqual([]);
      all.push(...callers(writer, 1));
      await immediate();
    }
    await immediate();
    expect(log).toEqual(["begin", "commit"]);
    await Promise.all(all);
    expect(writer.stats).toEqual({ commits: 1, transactions: 23 });
  });

  test("is not waited for when it is small, or full", async () => {
    for (const n of [1, 7, 128]) {
      const { writer, log } = writerOn(disk);
      const all = callers(writer, n);
      await immediate();
      expect([n, log[0]]).toEqual([n, "begin"]);
      await Promise.all(all);
      expect(writer.stats).toEqual({ commits: 1, transactions: n });
    }
  });
});

describe("a disk that fails", () => {
  test("nobody is told their rows are stored, and nothing more is written", async () => {
    const { disk, waiting } = slowDisk();
    const hooks: string[] = [];
    const { writer, log } = writerOn(disk, { onFatal: ({ message }: Error) => hooks.push(`fatal: ${message}`) });
    expect(writer.refusal).toBe(null);
    const lost = writer.run(async (scope) => {
      scope.afterCommit.push(() => hooks.push("never"));
      return write(scope);
    });
    await turn();
    waiting[0]?.reject(Object.assign(new Error("i/o error, fdatasync"), { code: "EIO" }));
    await expect(lost).rejects.toThrow(StorageUnavailable);
    await expect(lost).rejects.toThrow("The disk did not store what was written (EIO). Check the disk, then start the server again.");
    const commits = log.filter((what) => what === "commit").length;
    await expect(writer.run(write)).rejects.toThrow("(EIO)");
    expect(() => writer.assertHealthy()).toThrow(StorageUnavailable);
    await writer.close();
    // Once, and the process is expected to end then.
    expect([log.filter((what) => what === "commit").length, ...hooks]).toEqual([
      commits,
      "fatal: The disk did not store what was written (EIO). Check the disk, then start the server again.",
    ]);
    expect(writer.refusal).toBeInstanceOf(StorageUnavailable);
  });

  test("a commit that fails with an I/O error is as fatal, and its callers are answered first", async () => {
    const { disk } = slowDisk();
    const order: string[] = [];
    const { writer } = writerOn(disk, {
      onFatal: () => order.push("fatal"),
      onCommit: () => {
        throw Object.assign(new Error("disk I/O error"), { code: "SQLITE_IOERR_WRITE" });
      },
    });
    await expect(writer.run(write).finally(() => order.push("answered"))).rejects.toThrow("SQLITE_IOERR_WRITE");
    await expect(writer.run(write)).rejects.toThrow("Check the disk");
    expect(order.toSorted()).toEqual(["answered", "fatal"]);
  });

  test("a full disk is not fatal: writing is refused until a commit succeeds again", async () => {
    const { disk, waiting } = slowDisk();
    let full = true;
    const { writer } = writerOn(disk, {
      onFatal: () => expect.unreachable(),
      onCommit: () => {
        if (full) throw Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" });
      },
    });
    await expect(writer.run(write)).rejects.toThrow("SQLITE_FULL");
    expect(writer.refusal?.message).toContain("SQLITE_FULL");
    full = false;
    const written = writer.run(write);
    await turn();
    waiting[0]?.resolve();
    expect([await written, writer.refusal]).toEqual(["written", null]);
  });
});

test("commits wait while the connection has a backlog, and those that came meanwhile join them", async () => {
  const { disk, waiting } = slowDisk();
  let goOn = (): void => {};
  const backlog = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const pending: { backlog: Promise<void> | null } = { backlog };
  const { writer, log } = writerOn(disk, { pending });
  const first = writer.run(write);
  await turn();
  await turn();
  const second = writer.run(write);
  await turn();
  expect(log).toEqual([]);
  pending.backlog = null;
  goOn();
  await turn();
  expect(log).toEqual(["begin", "commit"]);
  waiting[0]?.resolve();
  expect(await Promise.all([first, second])).toEqual(["written", "written"]);
});
