import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { agents } from "./agents.ts";
import { consent } from "./consent.ts";
import { fuzz } from "./fuzz.ts";
import { forms, mails } from "./hostile.ts";
import { type Entry, Journal } from "./journal.ts";
import { kills } from "./kills.ts";
import { month } from "./month.ts";
import type { Part } from "./part.ts";
import { powerCuts } from "./power-cuts.ts";
import { proposals } from "./proposals.ts";
import { type About, summarize, toHtml, toMarkdown } from "./report.ts";
import { soak } from "./soak.ts";

import { turns } from "./turns.ts";
import { worlds } from "./worlds.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const PAGE = join(ROOT, "docs/reliability.md");
const BEGIN = "<!-- figures: npm run proof -- --save -->";
const END = "<!-- end of the figures -->";

/** All parts, in the order in which they run. */
export const parts: readonly Part[] = [kills, turns, agents, proposals, consent, fuzz, mails, forms, worlds, month, powerCuts, soak];

export interface ProofOptions {
  /** The names of the parts that run; all if empty. */
  readonly only: readonly string[];
  /** 1 for the whole, less for a shorter run. */
  readonly share: number;
  /** Forgets what an earlier run has finished. */
  readonly fresh: boolean;
  /** Writes the figures into docs/reliability.md. */
  readonly save: boolean;
  /** Folder of the journal and the report. */
  readonly folder: string;
}

/** Runs what is not finished yet, and writes the report after each step. Returns whether all held. */
export async function prove({ only, share, fresh, save, folder }: ProofOptions): Promise<boolean> {
  const file = join(folder, `journal-${share}.jsonl`);
  const kept = join(folder, `kept-${share}`);
  if (fresh) for (const path of [file, kept]) rmSync(path, { recursive: true, force: true });
  mkdirSync(kept, { recursive: true });
  const journal = new Journal(file);
  const report = join(folder, "report.html");
  const summaries = () => parts.map((part) => summarize(part, part.steps(share), journal.entries));
  for (const part of parts.filter(({ name }) => only.length === 0 || only.includes(name))) {
    const steps = part.steps(share);
    for (let step = 0; step < steps; step += 1) {
      if (journal.has(part.name, step)) continue;
      console.log(`${part.name}: step ${step + 1} of ${steps} …`);
      const entry = await runStep(part, step, { share, folder: kept });
      journal.add(entry);
      writeFileSync(report, toHtml(summaries(), about(journal)));
      console.log(`  ${JSON.stringify(entry.counts)} in ${Math.round(entry.seconds)} s`);
      for (const failure of entry.failures) console.error(`  FAILED: ${failure}`);
    }
  }
  if (save) savePage(toMarkdown(summaries(), about(journal)));
  console.log(`\nThe report: ${report}`);
  return journal.entries.every(({ failures }) => failures.length === 0);
}

async function runStep(part: Part, step: number, options: { readonly share: number; readonly folder: string }): Promise<Entry> {
  const [commit, startedAt] = [findCommit(), new Date().toISOString()];
  const from = performance.now();
  const seed = Math.floor(Math.random() * 1_000_000);
  const found = await part.run(step, { seed, ...options }).catch((error: Error) => ({
    counts: {},
    rows: [],
    failures: [`step ${step}, seed ${seed}: ${error.stack}`],
  }));
  return { part: part.name, step, commit, startedAt, seconds: (performance.now() - from) / 1000, ...found };
}

/** Returns the subject of a report: the versions that the steps in a journal tried, and their times. */
export function about({ entries }: Pick<Journal, "entries">): About {
  const steps = Map.groupBy(entries, ({ commit }) => commit);
  const tried = [...steps].map(([commit, own]) =>
    steps.size === 1 ? commit : `${commit} (${own.length} ${own.length === 1 ? "step" : "steps"})`,
  );
  return { commit: tried.join(", "), startedAt: entries[0]?.startedAt ?? "", endedAt: new Date().toISOString() };
}

function findCommit(): string {
  return execFileSync("git", ["rev-parse", "--short", "HEAD"], { cwd: ROOT, encoding: "utf8" }).trim();
}

function savePage(figures: string): void {
  const page = readFileSync(PAGE, "utf8");
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (from === -1 || to === -1) throw new Error(`${PAGE} has no place for the figures.`);
  writeFileSync(PAGE, `${page.slice(0, from + BEGIN.length)}\n\n${figures}\n${page.slice(to)}`);
}
