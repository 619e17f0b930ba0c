import { Option } from "commander";
import type { Flags } from "../runtime/action.ts";
import { buildReportOption, parseReports, type WantedReport } from "../runtime/reports.ts";
import type { Host } from "../types.ts";

/** The kinds of reports about a run. */
const RUN_REPORTS = ["junit", "json", "markdown"] as const;
export type RunReport = (typeof RUN_REPORTS)[number];

/** Options for the results of a run. */
export interface RunOptions {
  /** The file in which a step of GitHub Actions names its outputs; null elsewhere. */
  readonly outputs: string | null;
  /** File for the recording; null for a default place, and only if the command fails. */
  readonly record: string | null;
  readonly coverage: boolean;
  readonly reports: readonly WantedReport<RunReport>[];
  /** The file of GitHub Actions for the summary of a step; null elsewhere. */
  readonly stepSummary: string | null;
  /** True if GitHub Actions reads the output. */
  readonly annotate: boolean;
}

/** The options of `mailsvc dev` about what remains of a run. */
export const RUN_OPTIONS: readonly Option[] = [
  new Option("--record <file>", "Write a recording of the run here when it ends; by default only if the command fails"),
  new Option("--open <file>", "Show the recording of a run, on a page"),
  new Option("--coverage", "Say at the end which error codes, states and events of the contract were reached, and which never"),
  buildReportOption(RUN_REPORTS),
];

export function readRunOptions({ env }: Pick<Host, "env">, flags: Flags): RunOptions {
  const { record } = flags;
  return {
    record: typeof record === "string" ? record : null,
    coverage: flags["coverage"] === true,
    reports: parseReports(flags["report"], RUN_REPORTS),
    stepSummary: env["GITHUB_STEP_SUMMARY"] || null,
    outputs: env["GITHUB_OUTPUT"] || null,
    annotate: env["GITHUB_ACTIONS"] === "true",
  };
}

/** True if an option asks for more than every failed command leaves. */
export function wantsRecorder({ record, coverage, reports }: RunOptions): boolean {
  return record !== null || coverage || reports.length > 0;
}
