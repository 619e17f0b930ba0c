import { like } from "drizzle-orm";
import { expect, test } from "vitest";
import { manualTime } from "../../test/manual-time.ts";
import { assumeEmailHeld } from "../db/held.ts";
import { silentLog } from "../lib/log.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import { deleteEvents, recordEvents } from "./events.ts";
import { type EventReader, EventReaders } from "./readers.ts";

const A = "ws_a";
const B = "ws_b";

/** Records events of a workspace about emails with these ids. */
async function record(world: TestWorld, workspaceId: string, emailIds: readonly string[]): Promise<void> {
  const { deps } = world.app;
  const events = emailIds.map((id) => ({ workspaceId, type: "email.sent" as const, at: 1, emailId: assumeEmailHeld(id) }));
  await deps.db.tx((tx) => recordEvents(tx, deps, events));
  await world.settle();
}

const upTo = (n: number): string[] => Array.from({ length: n }, (_, i) => String(i + 1).padStart(4, "0"));

/** Writes a row for each event that it follows, a second time never. Throws for the emails of `refused`. */
function noting(name: string, refused: ReadonlySet<string> = new Set()): EventReader {
  return {
    name,
    types: ["email.sent"],
    plan: async (_q, workspaceId, events) => async (tx) => {
      for (const { emailId } of events) if (refused.has(emailId ?? "")) throw new Error(`cannot follow ${emailId}`);
      await tx.insert(tx.t.meta).values(events.map(({ emailId }) => ({ name: `noted ${name} ${workspaceId} ${emailId}`, value: "" })));
    },
  };
}

async function listNoted({ app: { deps } }: TestWorld, name: string, workspaceId: string): Promise<string[]> {
  const { read } = deps.db;
  const { meta } = read.t;
  const prefix = `noted ${name} ${workspaceId} `;
  const rows = await read
    .select({ name: meta.name })
    .from(meta)
    .where(like(meta.name, `${prefix}%`))
    .orderBy(meta.name);
  return rows.map((row) => row.name.slice(prefix.length));
}

/** Readers as one more process has them. Its real time stands still. */
function inProcess({ app: { deps } }: TestWorld, readers: readonly EventReader[]) {
  const clock = manualTime();
  const process = new EventReaders(
    () => ({ db: deps.db, clock, log: silentLog, eventStream: { wake: () => {}, wakeReaders: () => {} } }),
    readers,
  );
  const readAll = async (): Promise<void> => {
    while (await process.read(null, false));
  };
  return { process, readAll, clock };
}

test("each event is followed once, in transactions of some hundred; a process that dies between two of them loses and repeats none", async () => {
  await using world = await createWorld();
  await record(world, A, upTo(1200));
  const killed = inProcess(world, [noting("counts")]);
  expect(await killed.process.read(null, false)).toBe(true);
  const before = await listNoted(world, "counts", A);
  expect(before.length).toBeGreaterThan(0);
  expect(before.length).toBeLessThan(1200);
  await inProcess(world, [noting("counts")]).readAll();
  expect(await listNoted(world, "counts", A)).toEqual(upTo(1200));
});

test("two processes that read at the same time follow each event once", async () => {
  await using world = await createWorld();
  const [one, other] = [inProcess(world, [noting("counts")]), inProcess(world, [noting("counts")])];
  for (let round = 0; round < 5; round += 1) {
    await record(
      world,
      A,
      upTo(100).map((id) => `${round}${id}`),
    );
    await Promise.all([one.readAll(), other.readAll()]);
  }
  expect(await listNoted(world, "counts", A)).toHaveLength(500);
});

test("a reader that fails at an event stops alone, in its workspace, is shown, and goes on once the event can be followed", async () => {
  await using world = await createWorld();
  const refused = new Set(["0003"]);
  const { process, readAll, clock } = inProcess(world, [noting("picky", refused), noting("counts")]);
  await record(world, A, upTo(3));
  await record(world, B, ["0001"]);
  await readAll();
  expect(process.failing).toMatchObject([{ reader: "picky", workspaceId: A, error: "cannot follow 0003" }]);
  expect(await listNoted(world, "counts", A)).toEqual(upTo(3));
  expect(await listNoted(world, "picky", B)).toEqual(["0001"]);
  expect(await listNoted(world, "picky", A)).toEqual([]);
  // Nobody waits for it.
  expect(process.isBehind(A, 3)).toBe(false);
  await clock.advance(60_000);
  await readAll();
  expect(process.failing).toMatchObject([{ reader: "picky" }]);
  refused.clear();
  await clock.advance(60_000);
  await readAll();
  expect(process.failing).toEqual([]);
  expect(await listNoted(world, "picky", A)).toEqual(upTo(3));
});

test("a reader that rests lets events wait for more of them, a second at most, unless somebody waits for it; one that fails does not rest", async () => {
  await using world = await createWorld();
  const refused = new Set<string>();
  const { process, clock } = inProcess(world, [{ ...noting("calm", refused), restMs: 1000 }, noting("counts")]);
  const events = async (ids: readonly string[]): Promise<void> => {
    await record(world, A, ids);
    expect(await process.read(null, false)).toBe(false);
  };
  await events(["0001"]);
  await clock.advance(900);
  await events(["0002"]);
  expect(await listNoted(world, "counts", A)).toEqual(upTo(2));
  expect(await listNoted(world, "calm", A)).toEqual([]);
  // Callers that want what follows from events wait for it, and hurry it.
  expect(process.isBehind(A, 2)).toBe(true);
  expect(process.resting).toEqual([{ workspaceId: A, last: 2 }]);
  await clock.advance(100);
  await events(["0003"]);
  expect(await listNoted(world, "calm", A)).toEqual(upTo(3));
  expect(clock.timers).toBe(0);
  await events(["0004"]);
  await process.read(process.resting, true);
  expect(await listNoted(world, "calm", A)).toEqual(upTo(4));
  expect([process.resting, clock.timers]).toEqual([[], 0]);
  refused.add("0005");
  await events(["0005"]);
  await process.read(process.resting, true);
  expect(process.failing).toMatchObject([{ reader: "calm" }]);
  expect(process.resting).toEqual([]);
});

test("events from which nothing follows cost no transaction; the number is stored before old events are deleted", async () => {
  await using world = await createWorld();
  const { process, readAll } = inProcess(world, [{ name: "idle", types: ["email.sent"], plan: async () => null }]);
  await record(world, A, upTo(3));
  await readAll();
  expect(process.isBehind(A, 3)).toBe(false);
  const { read } = world.app.deps.db;
  const listStored = async () => (await read.select().from(read.t.eventReaders)).filter(({ reader }) => reader === "idle");
  expect(await listStored()).toEqual([]);
  await process.storeNumbers();
  expect(await listStored()).toEqual([{ reader: "idle", workspaceId: A, position: 3 }]);
});

test("an event that is deleted before it was followed is passed", async () => {
  await using world = await createWorld();
  await record(world, A, upTo(3));
  const { db } = world.app.deps;
  const reader = noting("counts");
  const erasing: EventReader = {
    ...reader,
    // Between the first look and the transaction.
    plan: async (q, workspaceId, events) => {
      if (q === db.read) await db.tx((tx) => deleteEvents(tx, like(tx.t.events.emailId, "0002")));
      return reader.plan(q, workspaceId, events);
    },
  };
  await inProcess(world, [erasing]).readAll();
  expect(await listNoted(world, "counts", A)).toEqual(["0001", "0003"]);
});

test("nothing is stored for a workspace that was deleted", async () => {
  await using world = await createWorld();
  const { process, readAll } = inProcess(world, [{ name: "idle", types: ["email.sent"], plan: async () => null }]);
  await record(world, A, upTo(3));
  await readAll();
  const { db } = world.app.deps;
  await db.tx(async (tx) => {
    await tx.delete(tx.t.eventStreams).where(like(tx.t.eventStreams.workspaceId, A));
    await tx.delete(tx.t.eventReaders).where(like(tx.t.eventReaders.workspaceId, A));
  });
  await process.storeNumbers();
  expect((await db.read.select().from(db.read.t.eventReaders)).filter(({ workspaceId }) => workspaceId === A)).toEqual([]);
});
