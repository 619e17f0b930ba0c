import { appendFileSync } from "node:fs";

/** Returns the number of kills in a test: a few, or the number in KILLS. */
export function countKills(few: number): number {
  return Number(process.env.KILLS ?? few);
}

/** Returns and prints what the random choices of a test begin with: another number for each run, or CRASH_SEED to repeat one. */
export function chooseSeed(): number {
  const seed = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000);
  console.log(`CRASH_SEED=${seed} repeats these choices`);
  return seed;
}

/** Counts of a test that kills servers. `scripts/proof.mjs` adds these records up. */
export interface KillRecord {
  /** Work that was under way, such as "single sends". */
  readonly suite: string;
  readonly database: "SQLite" | "Postgres";
  /** Seed, to repeat the test with CRASH_SEED. */
  readonly seed: number;
  readonly kills: number;
  /** Number of acknowledged mails, events, steps or keys. */
  readonly acknowledged: number;
  /** Number of these that never took effect. */
  readonly missing: number;
  /** Number that took effect more than once at the other side: a mail that came twice, an event that was delivered again. */
  readonly repeated: number;
  /** Number of these mails that are not listed as in doubt; null where the promise is "at least once". */
  readonly unlisted: number | null;
}

/** Prints a record, and appends it as a line of JSON to the file that KILL_RECORDS names. */
export function recordKills(record: KillRecord): void {
  const { suite, database, kills, acknowledged, missing, repeated, unlisted } = record;
  const said = unlisted === null ? "" : `, ${unlisted} of them not listed`;
  console.log(`${suite}, ${database}: ${kills} kills; ${acknowledged} acknowledged, ${missing} missing, ${repeated} repeated${said}`);
  const file = process.env.KILL_RECORDS;
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(record)}\n`);
}
