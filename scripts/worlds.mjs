// Lives through worlds that are disturbed at random, and holds what must always be true against each (test/worlds).
//
//   npm run worlds -- [--seed 17] [--count 100] [--minutes 10] [--database sqlite|postgres] [--noun campaign] [--disturbance restart]
//   npm run worlds -- --mutation NAME|all [--seed 17] [--minutes 10]
//   npm run worlds -- --script FILE [--mutation NAME]
//
// Without --seed it begins with a fresh one. A world that fails is made as short as it can be, and printed as a test to paste. With
// --mutation it plants a fault into the server, and fails unless the worlds find it. --script lives through one world, of a script in JSON.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
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
    mutation: { type: "string" },
    script: { type: "string" },
  },
});
const { database, noun, disturbance, mutation } = values;
if (database !== "sqlite" && database !== "postgres") throw new Error("--database is sqlite or postgres.");
const from = values.seed === undefined ? Math.floor(Math.random() * 1_000_000_000) : Number(values.seed);

if (values.script !== undefined) await liveScript(values.script);
else if (mutation === "all") await tryAll();
else if (mutation !== undefined) await tryOne(mutation);
else await live();

async function live() {
  const { liveThrough } = await import("../test/worlds/live.ts");
  const count = values.count ?? (values.minutes !== undefined ? 1e9 : values.seed === undefined ? 100 : 1);
  const wanted = { from, count: Number(count), minutes: Number(values.minutes ?? 1e9), database, noun, disturbance };
  const { failures, untried } = await liveThrough({ ...wanted, log: console.log });
  process.exitCode = failures + untried.length === 0 ? 0 : 1;
}

async function liveScript(file) {
  if (mutation !== undefined) await plantOne(mutation);
  const { liveOnce } = await import("../test/worlds/live.ts");
  const broken = await liveOnce(JSON.parse(readFileSync(file, "utf8")), console.log);
  process.exitCode = broken.length === 0 ? 0 : 1;
}

/** Plants a mutation, which this process keeps to its end. */
async function plantOne(name) {
  const { getMutation, plant } = await import("../test/worlds/plant.ts");
  plant(getMutation(name));
}

async function tryOne(name) {
  await plantOne(name);
  const { findFirst } = await import("../test/worlds/live.ts");
  const { worlds, seconds, broken } = await findFirst({ from, minutes: Number(values.minutes ?? 10), database });
  const count = `${worlds} ${worlds === 1 ? "world" : "worlds"}, ${Math.round(seconds)} s`;
  if (broken.length === 0) console.log(`${name}: NOT FOUND in ${count}, from seed ${from}`);
  else console.log(`${name}: found after ${count}, from seed ${from}\n${broken.map((what) => `  ${what}`).join("\n")}`);
  process.exit(broken.length === 0 ? 1 : 0);
}

/** Tries each mutation in a process of its own. One that lets a world hang is found by that. */
async function tryAll() {
  const { MUTATIONS } = await import("../test/worlds/mutations.ts");
  const minutes = Number(values.minutes ?? 10);
  const lost = [];
  for (const { name } of MUTATIONS) {
    const args = [
      fileURLToPath(import.meta.url),
      "--mutation",
      name,
      "--seed",
      `${from}`,
      "--minutes",
      `${minutes}`,
      "--database",
      database,
    ];
    const { status, signal } = spawnSync(process.execPath, args, {
      stdio: "inherit",
      timeout: (minutes + 1) * 60_000,
      killSignal: "SIGKILL",
    });
    if (signal === "SIGKILL") console.log(`${name}: found, a world did not come to rest in ${minutes + 1} minutes, from seed ${from}`);
    else if (status !== 0) lost.push(name);
  }
  console.log(
    `${MUTATIONS.length - lost.length} of ${MUTATIONS.length} mutations were found${lost.length > 0 ? `; not ${lost.join(", ")}` : ""}.`,
  );
  process.exitCode = lost.length === 0 ? 0 : 1;
}
