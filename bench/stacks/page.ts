import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { busy, machine } from "../report.ts";

const PAGE = fileURLToPath(new URL("../../docs/comparison.md", import.meta.url));
const END = "<!-- end of the table -->";

/** Choices of the command line. */
export interface Chosen {
  /** Words of the names that are measured; all are without any. */
  readonly only: readonly string[];
  /** True to write the table into docs/comparison.md, too. */
  readonly save: boolean;
}

interface Table {
  /** Flag of `npm run bench:stacks` that makes the table, by which its place in the page is found; empty for the first. */
  readonly flag: string;
  /** Titles of the columns that hold text, then of those that hold numbers, and the rows. */
  readonly columns: readonly (readonly [title: string, kind: "text" | "number"])[];
  readonly rows: readonly string[];
}

/** The things to compare whose names contain one of the words, without those that cannot be run here: it says why. */
export function choose<T extends { readonly name: string; missing?(): string | null }>(all: readonly T[], { only }: Chosen): T[] {
  const named = all.filter(({ name }) => only.length === 0 || only.some((word) => name.toLowerCase().includes(word.toLowerCase())));
  return named.filter((one) => {
    const missing = one.missing?.() ?? null;
    if (missing !== null) console.error(`${one.name}: left out, ${missing}.`);
    return missing === null;
  });
}

/** Measures each in several rounds, by turns, so that what disturbs the machine for a while disturbs all of them. */
export async function byTurns<T extends { readonly name: string }, R>(
  all: readonly T[],
  rounds: number,
  measure: (one: T) => Promise<R>,
): Promise<Map<T, R[]>> {
  const results = new Map<T, R[]>(all.map((one) => [one, []]));
  for (let i = 1; i <= rounds; i += 1) {
    for (const [one, ofOne] of results) {
      console.error(`${one.name}, round ${i} …`);
      ofOne.push(await measure(one));
      console.error(JSON.stringify(ofOne.at(-1)));
    }
  }
  return results;
}

/** Prints a table with the machine it was made on, and saves it if asked to. */
export function printTable({ flag, columns, rows }: Table, { save }: Chosen): void {
  const head = [columns.map(([title]) => title), columns.map(([, kind]) => (kind === "text" ? "---" : "---:"))];
  const text = `${machine()} · ${busy()} at the end\n\n${[...head.map((cells) => `| ${cells.join(" | ")} |`), ...rows].join("\n")}\n`;
  console.log(text);
  if (save) writeFileSync(PAGE, replaceTable(readFileSync(PAGE, "utf8"), flag, text));
}

/** A number as tables have it. */
export function toCount(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

function replaceTable(page: string, flag: string, text: string): string {
  const mark = `<!-- table: npm run bench:stacks -- ${[flag, "--save"].filter(Boolean).join(" ")} -->\n`;
  const from = page.indexOf(mark);
  const to = page.indexOf(END, from);
  if (from < 0 || to < 0) throw new Error(`docs/comparison.md has no place for the table of ${flag || "servers"}.`);
  return page.slice(0, from) + mark + text + page.slice(to);
}
