// Loaded into a server with `--import`: notes how much processor time each turn of its event loop takes on the main thread.
// From SIGUSR2 on, turns longer than 5 ms are collected; at the end of the process they are written to STRETCHES_FILE, as
// an array of ms.
import { writeFileSync } from "node:fs";

const SHORTEST_MS = 5;

const file = process.env["STRETCHES_FILE"] ?? "";
let collected: number[] = [];
let since = readMs();

turn();
process.on("SIGUSR2", () => {
  collected = [];
});
process.on("exit", () => writeFileSync(file, JSON.stringify(collected)));

function turn(): void {
  const took = readMs() - since;
  if (took > SHORTEST_MS) collected.push(took);
  since = readMs();
  // Without a reference the event loop may sleep in between.
  setImmediate(turn).unref();
}

/** The processor time of this thread so far, unlike the clock not that of other programs. */
function readMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
