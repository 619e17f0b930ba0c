import { appendFileSync } from "node:fs";

/** Adds what a test has counted to the file that PROOF_COUNTS names, as a line of JSON. `npm run proof` adds these up. */
export function recordCounts(counts: Readonly<Record<string, number>>): void {
  const file = process.env.PROOF_COUNTS;
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(counts)}\n`);
}
