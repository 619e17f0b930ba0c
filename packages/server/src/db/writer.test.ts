import { describe, expect, test } from "vitest";
import { StorageUnavailable } from "./errors.ts";
import { type Disk, type Scope, Writer } from "./writer.ts";

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

const gateOn = (disk: Disk, options = {}) => {
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
    commit: note("commit", false),
    rollback: note("rollback", false),
    savepoint: note("savepoint"),
    release: note("release"),
    rollbackToSavepoint: note("back"),
    disk,
  };
  return { gate: new Writer(connection, options), log };
};

const write = async (scope: Scope): Promise<string> => {
  scope.wrote = true;
  return "written";
};
const look = async (): Promise<string> => "seen";
const turn = (): Promise<void> => new Promise((next) => setImmediate(() => setImmediate(next)));

/** What has become of promises so far. */
const states = (...promises: Promise<unknown>[]): Promise<string[]> =>
  Promise.all(
    promises.map((one) =>
      Promise.race([one, Promise.resolve("waits")]).then(
        (value) => String(value),
        () => "failed",
      ),
    ),
  );

describe("the disk is waited for beside the loop", () => {
  test("nobody is answered before the flush has ended, and the next group is committed meanwhile", async () => {
    const { disk, waiting } = slowDisk();
    const { gate, log } = gateOn(disk);
    const hooks: string[] = [];
    const first = gate.run(async (scope) => {
      scope.afterCommit.push(() => hooks.push("first"));
      return write(scope);
    });
    await turn();
    const second = gate.run(write);
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
    const { gate } = gateOn(disk);
    expect(await gate.run(look)).toBe("seen");
    expect(waiting).toHaveLength(0);
    const written = gate.run(write);
    await turn();
    const seen = gate.run(look);
    await turn();
    expect(await states(written, seen)).toEqual(["waits", "waits"]);
    expect(waiting).toHaveLength(1);
    waiting[0]?.resolve();
    expect(await Promise.all([written, seen])).toEqual(["written", "seen"]);
  });

  test("idle and close wait for the disk", async () => {
    const { disk, waiting } = slowDisk();
    const { gate } = gateOn(disk);
    const written = gate.run(write);
    await turn();
    const idle = gate.idle().then(() => "idle");
    const closed = gate.close().then(() => "closed");
    await turn();
    expect(await states(idle, closed)).toEqual(["waits", "waits"]);
    waiting[0]?.resolve();
    expect(await Promise.all([written, idle, closed])).toEqual(["written", "idle", "closed"]);
  });

  test("those who wait for the disk count among those who wait", async () => {
    const { disk, waiting } = slowDisk();
    const { gate } = gateOn(disk, { maxWaiting: 2 });
    const two = [gate.run(write), gate.run(write)];
    await turn();
    await expect(gate.run(write)).rejects.toThrow("Too many writes are waiting.");
    waiting[0]?.resolve();
    await Promise.all(two);
    const third = gate.run(write);
    await turn();
    waiting[1]?.resolve();
    expect(await third).toBe("written");
  });
});

describe("a group that grows", () => {
  const immediate = (): Promise<void> => new Promise((next) => setImmediate(next));
  const callers = (gate: Writer, n: number) => Array.from({ length: n }, () => gate.run(look));
  const { disk } = slowDisk();

  test("is waited for while each turn brings more, and no longer", async () => {
    const { gate, log } = gateOn(disk);
    const all = callers(gate, 20);
    await immediate();
    for (let turns = 0; turns < 3; turns += 1) {
      expect(log).toEqual([]);
      all.push(...callers(gate, 1));
      await immediate();
    }
    await immediate();
    expect(log).toEqual(["begin", "commit"]);
    await Promise.all(all);
    expect(gate.stats).toEqual({ commits: 1, transactions: 23 });
  });

  test("is not waited for when it is small, or full", async () => {
    for (const n of [1, 7, 128]) {
      const { gate, log } = gateOn(disk);
      const all = callers(gate, n);
      await immediate();
      expect([n, log[0]]).toEqual([n, "begin"]);
      await Promise.all(all);
      expect(gate.stats).toEqual({ commits: 1, transactions: n });
    }
  });
});

describe("a disk that fails", () => {
  test("nobody is told their rows are stored, and nothing more is written", async () => {
    const { disk, waiting } = slowDisk();
    const { gate, log } = gateOn(disk);
    const hooks: string[] = [];
    const lost = gate.run(async (scope) => {
      scope.afterCommit.push(() => hooks.push("never"));
      return write(scope);
    });
    await turn();
    waiting[0]?.reject(Object.assign(new Error("i/o error, fdatasync"), { code: "EIO" }));
    await expect(lost).rejects.toThrow(StorageUnavailable);
    await expect(lost).rejects.toThrow("The disk did not take what was written (EIO). Mend it, then start the server again.");
    const commits = log.filter((what) => what === "commit").length;
    await expect(gate.run(write)).rejects.toThrow("(EIO)");
    expect(() => gate.assertHealthy()).toThrow(StorageUnavailable);
    await gate.close();
    expect([log.filter((what) => what === "commit").length, ...hooks]).toEqual([commits]);
  });
});
