// Lives through worlds that are disturbed at random, and holds what must always be true against each (test/worlds).
//
//   npm run worlds -- [--seed 17] [--count 100] [--minutes 10] [--database sqlite|postgres] [--noun campaign] [--disturbance restart]
//   npm run worlds -- --untried FILE [--seed 17] [--database sqlite|postgres]
//   npm run worlds -- --mutation NAME|all [--seed 17] [--minutes 10] [--noun campaign] [--disturbance restart]
//   npm run worlds -- --script FILE [--mutation NAME]
//
// It uses as many processes as there are cores, unless --processes says otherwise. Without --seed it begins with a fresh one. A world that
// fails is made as short as it can be, and printed as a test to paste. With --untried each world aims at several pairs of a noun and a
// disturbance that FILE does not name yet, until it names all; stopped, it goes on with the same FILE. With --mutation it plants a fault
// into the server, and fails unless the worlds find it. --script lives through one world, of a script in JSON.
import { existsSync, readFileSync } from "node:fs";
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
    untried: { type: "string" },
    mutation: { type: "string" },
    script: { type: "string" },
    processes: { type: "string" },
    // Set for a process started by another one: its number and the total.
    share: { type: "string" },
  },
});
// Threads of the server load the packages as they were built.
if (!existsSync(new URL("../packages/sdk/dist/contract/index.js", import.meta.url)))
  throw new Error("Build the packages first: npm run build");
const { database, noun, disturbance, untried, mutation } = values;
if (database !== "sqlite" && database !== "postgres") throw new Error("--database is sqlite or postgres.");
const from = values.seed === undefined ? Math.floor(Math.random() * 1_000_000_000) : Number(values.seed);
const processes = values.processes === undefined ? undefined : Number(values.processes);
const [which = 0, of = 1] = (values.share ?? "0/1").split("/").map(Number);

// The processes that it has started end with it.
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
if (values.script !== undefined) await liveScript(values.script);
else if (values.share !== undefined) await livePartHere();
else if (mutation === "all") await tryAll();
else if (mutation !== undefined) await tryOne(mutation);
else await live();

async function live() {
  const { sumUp } = await import("../test/worlds/live.ts");
  const { liveTogether } = await import("../test/worlds/processes.ts");
  const count = values.count ?? (values.minutes !== undefined || untried !== undefined ? 1e9 : values.seed === undefined ? 100 : 1);
  const wanted = { from, count: Number(count), minutes: Number(values.minutes ?? 1e9), database, noun, disturbance, untried };
  const { failures, missing } = sumUp(await liveTogether({ ...wanted, log: console.log }, processes), console.log);
  process.exitCode = failures + missing.length === 0 ? 0 : 1;
}

/** Lives through the share of this process, and tells the one that has started it. */
async function livePartHere() {
  if (mutation !== undefined) await plantOne(mutation);
  const { findFirst, livePart } = await import("../test/worlds/live.ts");
  let beat = "its first world";
  const begins = (seed) => (beat = `seed ${seed}`);
  const wanted = { from, count: Number(values.count), minutes: Number(values.minutes ?? 1e9), database, noun, disturbance, untried };
  const send = (sent) => new Promise((done) => process.send(sent, done));
  // It comes only while timers fire: not from a server that turns in circles.
  setInterval(() => void send({ beat }), 5000).unref();
  if (mutation === undefined)
    await send({ part: await livePart({ ...wanted, log: (line) => void send({ line }) }, { which, of }, begins) });
  else await send({ found: await findFirst(wanted, { which, of }, begins) });
  // A world that hangs keeps its process.
  process.exit();
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
  const { findTogether } = await import("../test/worlds/processes.ts");
  const { worlds, seconds, broken } = await findTogether(
    { seed: from, mutation: name, minutes: Number(values.minutes ?? 10), database, noun, disturbance },
    processes,
  );
  const count = `${worlds} ${worlds === 1 ? "world" : "worlds"}, ${Math.round(seconds)} s`;
  if (broken.length === 0) console.log(`${name}: NOT FOUND in ${count}, from seed ${from}`);
  else console.log(`${name}: found after ${count}, from seed ${from}\n${broken.map((what) => `  ${what}`).join("\n")}`);
  process.exitCode = broken.length === 0 ? 1 : 0;
  return broken.length > 0;
}

/** Tries each mutation in processes of its own. */
async function tryAll() {
  const { MUTATIONS } = await import("../test/worlds/mutations.ts");
  const lost = [];
  for (const { name } of MUTATIONS) if (!(await tryOne(name))) lost.push(name);
  console.log(
    `${MUTATIONS.length - lost.length} of ${MUTATIONS.length} mutations were found${lost.length > 0 ? `; not ${lost.join(", ")}` : ""}.`,
  );
  process.exitCode = lost.length === 0 ? 0 : 1;
}
