// Works off a number of jobs as fast as graphile-worker can, and prints how many a second that were. With an effect, each job writes a row.
//
//   node graphile-jobs.mjs DATABASE_URL JOBS JOBS_AT_A_TIME none|row
import { Logger, makeWorkerUtils, run } from "graphile-worker";
import pg from "pg";

const [url, count, atATime, effect] = process.argv.slice(2);
const JOBS = Number(count);
const ROW = "insert into bench_effects (n) values ($1)";
const PAYLOAD = { workspaceId: "ws_01kdvdna00bktj2mqmcfs0rmrb", emailId: "em_01kdvdna00bktj2mqmcfs0rmrc" };

let done = 0;
const all = Promise.withResolvers();
const pool = new pg.Pool({ connectionString: url, max: 18 });
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
  concurrency: Number(atATime),
  noHandleSignals: true,
  preset: { worker },
  taskList: {
    bench: async (_payload, { withPgClient }) => {
      if (effect === "row") await withPgClient((client) => client.query({ name: "effect", text: ROW, values: [1] }));
      done += 1;
      if (done === JOBS) all.resolve();
    },
  },
});
await all.promise;
// Its jobs are done when their completion is stored, as ours are.
for (;;) {
  const { rows } = await pool.query("select count(*)::int as n from graphile_worker._private_jobs");
  if (rows[0]?.n === 0) break;
}
process.stdout.write(`${(JOBS * 1000) / (performance.now() - from)}\n`);
await runner.stop();
await utils.release();
await pool.end();
