// Works off a number of jobs of the server's queue as fast as it can, and prints how many a second that were. With an effect, each job
// writes a row. `../stacks/apps/graphile-jobs.mjs` does the same with graphile-worker.
//
//   node queue.ts <postgres url> <jobs> <jobs at a time> <none|row>
import { openPostgres } from "../../packages/server/src/db/postgres/database.ts";
import { systemClock } from "../../packages/server/src/lib/clock.ts";
import { silentLog } from "../../packages/server/src/lib/log.ts";
import { secureRandom } from "../../packages/server/src/lib/random.ts";
import { createQueue } from "../../packages/server/src/queue/create-queue.ts";
import { PostgresJobStore } from "../../packages/server/src/queue/store.pg.ts";
import { postgresSchema } from "../../packages/server/src/schema.pg.ts";

const [url = "", count = "0", atATime = "0", effect] = process.argv.slice(2);
const JOBS = Number(count);
const CONCURRENCY = Number(atATime);
const CONNECTIONS = 16;
const ROW = "insert into bench_effects (n) values ($1)";
const PAYLOAD = { workspaceId: "ws_01kdvdna00bktj2mqmcfs0rmrb", emailId: "em_01kdvdna00bktj2mqmcfs0rmrc" };

let done = 0;
let finish = (): void => {};
const all = new Promise<void>((resolve) => {
  finish = resolve;
});

const took = await work();
process.stdout.write(`${(JOBS * 1000) / took}\n`);
process.exit(0);

function count1(): void {
  done += 1;
  if (done === JOBS) finish();
}

async function work(): Promise<number> {
  const db = await openPostgres(url, postgresSchema, { connections: CONNECTIONS });
  const parts = { db, clock: systemClock, random: secureRandom(), log: silentLog };
  const queue = createQueue(new PostgresJobStore(parts), parts);
  await db.read.raw("create table if not exists bench_effects (n int)");
  for (let i = 0; i < JOBS; i += 1000)
    await db.tx(async (tx) => {
      for (let n = 0; n < 1000; n += 1) await queue.enqueue(tx, { kind: "bench", payload: PAYLOAD });
    });
  await db.read.raw("vacuum analyze jobs");
  const from = performance.now();
  await queue.start(
    {
      bench: async () => {
        count1();
        return effect === "row" ? { commit: async (tx) => void (await (tx as unknown as typeof db.read).raw(ROW, [1], "effect")) } : {};
      },
    },
    CONCURRENCY,
  );
  await all;
  await queue.idle();
  const took = performance.now() - from;
  await queue.stop();
  await db.close();
  return took;
}
