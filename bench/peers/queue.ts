// Works off a number of jobs as fast as it can, and prints how many a second that were: `mailsvc` is the queue of the
// server, `graphile` the worker of graphile-worker itself. With an effect, each job writes a row.
//
//   node queue.ts <mailsvc|graphile> <postgres url> <jobs> <jobs at a time> <none|row>
import { Logger, makeWorkerUtils, run } from "graphile-worker";
import pg from "pg";
import { openPostgres } from "../../packages/server/src/db/postgres/database.ts";
import { systemClock } from "../../packages/server/src/lib/clock.ts";
import { silentLog } from "../../packages/server/src/lib/log.ts";
import { secureRandom } from "../../packages/server/src/lib/random.ts";
import { createQueue } from "../../packages/server/src/queue/create-queue.ts";
import { migrateQueue } from "../../packages/server/src/queue/schema.pg.ts";
import { PostgresJobStore } from "../../packages/server/src/queue/store.pg.ts";
import { postgresSchema } from "../../packages/server/src/schema.pg.ts";

const [which, url = "", count = "0", atATime = "0", effect] = process.argv.slice(2);
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

const took = await (which === "mailsvc" ? ours() : graphile());
process.stdout.write(`${(JOBS * 1000) / took}\n`);
process.exit(0);

function count1(): void {
  done += 1;
  if (done === JOBS) finish();
}

async function ours(): Promise<number> {
  const db = await openPostgres(url, postgresSchema, { connections: CONNECTIONS, also: migrateQueue });
  const parts = { db, clock: systemClock, random: secureRandom(), log: silentLog };
  const queue = createQueue(new PostgresJobStore(parts), parts);
  await db.read.raw("create table if not exists bench_effects (n int)");
  for (let i = 0; i < JOBS; i += 1000)
    await db.tx(async (tx) => {
      for (let n = 0; n < 1000; n += 1) await queue.enqueue(tx, { kind: "bench", payload: PAYLOAD });
    });
  await db.read.raw("vacuum analyze mailsvc_jobs._private_jobs");
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

async function graphile(): Promise<number> {
  const pool = new pg.Pool({ connectionString: url, max: CONNECTIONS + 2 });
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  const logger = new Logger(() => () => {});
  const utils = await makeWorkerUtils({ pgPool: pool, logger });
  await utils.migrate();
  await pool.query("create table if not exists bench_effects (n int)");
  await pool.query("select graphile_worker.add_job('bench', $1::json) from generate_series(1, $2::int)", [JSON.stringify(PAYLOAD), JOBS]);
  await pool.query("vacuum analyze graphile_worker._private_jobs");
  const worker = { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 };
  const from = performance.now();
  const runner = await run({
    pgPool: pool,
    logger,
    concurrency: CONCURRENCY,
    noHandleSignals: true,
    preset: { worker },
    taskList: {
      bench: async (_payload, { withPgClient }) => {
        if (effect === "row") await withPgClient((client) => client.query({ name: "effect", text: ROW, values: [1] }));
        count1();
      },
    },
  });
  await all;
  // Its jobs are done when their completion is stored, as ours are.
  for (;;) {
    const { rows } = await pool.query<{ n: number }>("select count(*)::int as n from graphile_worker._private_jobs");
    if (rows[0]?.n === 0) break;
  }
  const took = performance.now() - from;
  await runner.stop();
  await utils.release();
  await pool.end();
  return took;
}
