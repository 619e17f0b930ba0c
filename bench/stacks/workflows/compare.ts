import { median } from "../../figure.ts";
import { toFlushes } from "../flushes.ts";
import { byTurns, type Chosen, choose, printTable, toCount } from "../page.ts";
import type { Engine } from "./engine.ts";
import { kitOnPostgres, kitOnSqlite } from "./kit.ts";
import { Ledger } from "./ledger.ts";
import { dbos, restate } from "./peers.ts";
import { countEngineFlushes, type EngineSpeed, type EngineSurvival, killEngine, measureEngine } from "./trial.ts";

/** All engines, in the order of the table. */
const ENGINES: readonly Engine[] = [kitOnSqlite, kitOnPostgres, dbos, restate];

const COLUMNS = [
  ["Engine", "text"],
  ["A step is flushed, by", "text"],
  ["Flushes", "number"],
  ["Steps", "number"],
  ["Processor time", "number"],
  ["Lost", "number"],
  ["Done twice", "number"],
] as const;

/** Measures engines of durable steps, and prints the table of docs/comparison.md. */
export async function compareSteps(chosen: Chosen, rounds: number): Promise<void> {
  const ledger = await Ledger.start();
  const speeds = await byTurns(choose(ENGINES, chosen), rounds, (engine) => measureEngine(engine, ledger));
  const rows: string[] = [];
  for (const [engine, all] of speeds) {
    console.error(`${engine.name}, flushes and kills …`);
    const flushes = await countEngineFlushes(engine, ledger);
    rows.push(toRow(engine, all, { flushes, survival: await killEngine(engine, ledger, Math.random) }));
    console.error(rows.at(-1));
  }
  await ledger.stop();
  printTable({ flag: "--steps", columns: COLUMNS, rows }, chosen);
}

function toRow(
  { name, durability }: Engine,
  speeds: readonly EngineSpeed[],
  { flushes, survival }: { readonly flushes: number; readonly survival: EngineSurvival },
): string {
  const { steps, lost, twice } = survival;
  const of = (key: keyof EngineSpeed): string => toCount(median(speeds.map((speed) => speed[key])));
  return `| ${name} | ${durability} | ${toFlushes(flushes)} | ${of("rate")}/s | ${of("cpu")} µs | ${toCount(lost)} of ${toCount(steps)} | ${toCount(twice)} |`;
}
