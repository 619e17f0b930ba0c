// Lives through worlds that are disturbed at random, and holds what must always be true against each (test/worlds).
//
//   npm run worlds -- [--seed 17] [--count 100] [--minutes 10] [--database sqlite|postgres] [--noun campaign] [--disturbance restart]
//
// Without --seed it begins with a fresh one. A world that fails is made as short as it can be, and printed as a test to paste.
import { parseArgs } from "node:util";
import "./sources.mjs";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    count: { type: "string" },
    minutes: { type: "string" },
    database: { type: "string", default: "sqlite" },
    noun: { type: "string" },
    disturbance: { type: "string" },
  },
});
if (values.database !== "sqlite" && values.database !== "postgres") throw new Error("--database is sqlite or postgres.");
const { liveThrough } = await import("../test/worlds/live.ts");
const { failures } = await liveThrough({
  from: values.seed === undefined ? Math.floor(Math.random() * 1_000_000_000) : Number(values.seed),
  count: Number(values.count ?? (values.seed === undefined && values.minutes === undefined ? 100 : values.minutes === undefined ? 1 : 1e9)),
  minutes: Number(values.minutes ?? 1e9),
  database: values.database,
  noun: values.noun,
  disturbance: values.disturbance,
  log: console.log,
});
process.exitCode = failures === 0 ? 0 : 1;
