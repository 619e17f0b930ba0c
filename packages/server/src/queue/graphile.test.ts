import { afterAll } from "vitest";
import { createDatabase, dropDatabases } from "../../test/postgres.ts";
import { openPostgres } from "../db/postgres.ts";
import { bendableClock } from "../lib/bendable-clock.ts";
import { silentLog } from "../lib/log.ts";
import { seededRandom } from "../lib/random.ts";
import { graphileQueue } from "./graphile.ts";
import { type QueueHarness, queueLaws } from "./queue.laws.ts";
import type { Queue } from "./queue.ts";

const HOUR = 3_600_000;

const open = async (): Promise<QueueHarness> => {
  const { url, drop } = await createDatabase();
  const db = await openPostgres(url, { migrate: false });
  const clock = bendableClock(Date.parse("2026-01-01T00:00:00Z"), "frozen");
  let seed = 1;
  const make = (): Queue => graphileQueue({ db, clock, random: seededRandom(seed++), log: silentLog, beatMs: HOUR, deadMs: 1 });
  return {
    db,
    clock,
    queue: make(),
    // The first process has not been seen for very long.
    reborn: () => {
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
