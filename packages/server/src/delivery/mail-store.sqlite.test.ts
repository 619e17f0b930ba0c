import { expect, test } from "vitest";
import { sendAsBulk } from "../../test/bulk-mail.ts";
import { scriptedMailer } from "../../test/scripted-mailer.ts";
import type { SqliteDb } from "../db/sqlite/database.ts";
import type { ClaimedJob, LaneJob } from "../queue/queue.ts";
import { createWorld } from "../testing.ts";
import { SqliteMailStore } from "./mail-store.sqlite.ts";

test("what this process holds is not claimed again, though a claim writes nothing; the first ones are claimed first", async () => {
  await using world = await createWorld({ mailer: scriptedMailer() });
  const { db, queue } = world.app.deps;
  await queue.stop();
  const ids = await sendAsBulk(
    world,
    Array.from({ length: 10 }, (_, i) => `r${i}@example.com`),
  );
  const held: ClaimedJob[] = [];
  const store = new SqliteMailStore(db as SqliteDb);
  await store.open([], { wake: () => {}, held: () => held });
  const claim = async (limit: number): Promise<readonly LaneJob[]> => {
    const { jobs } = await store.claim(world.clock.now(), { bulk: limit });
    held.push(...jobs);
    return jobs;
  };
  expect((await claim(4)).map(({ id }) => id)).toEqual(ids.slice(0, 4));
  expect((await claim(4)).map(({ id }) => id)).toEqual(ids.slice(4, 8));
  expect(await store.readStats(db.read)).toEqual({ waiting: 2, running: 8, dueAt: world.clock.now() });
  const [first] = held.splice(0, 1) as [LaneJob];
  expect((await claim(1)).map(({ id }) => id)).toEqual([first.id]);
  // One whose attempt failed waits for its backoff.
  held.pop();
  await store.fail(first, world.clock.now() + 1000, "Error: a bug");
  expect((await claim(4)).map(({ id }) => id)).toEqual(ids.slice(8));
  expect(await store.next(world.clock.now())).toEqual({ at: world.clock.now() + 1000, kind: "email.deliver" });
  expect((await store.claim(world.clock.now() + 1000, { bulk: 4 })).jobs).toMatchObject([{ id: first.id, attempt: 2 }]);
});
