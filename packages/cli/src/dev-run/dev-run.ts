import { mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { EndedRun, RunRecorder } from "@mailsvc/server";
import { appendReport, writeReport } from "../runtime/reports.ts";
import { safeText } from "../text/safe-text.ts";
import type { Session } from "../types.ts";
import type { RunOptions } from "./options.ts";
import { chooseRecordingFile } from "./recording-file.ts";
import { type ReportedRun, renderAnnotations, renderCoverage, renderMarkdown, renderReport } from "./reports.ts";

/**
 * Results of a run of the dev server: a recording if the command failed or `--record` was given, coverage, reports, and output for CI.
 * None of it changes the exit code of the command.
 */
export class DevRun {
  readonly #session: Session;
  readonly #options: RunOptions;
  readonly #recorder: RunRecorder;
  readonly #startedAt: number;

  constructor(session: Session, options: RunOptions, recorder: RunRecorder) {
    this.#session = session;
    this.#options = options;
    this.#recorder = recorder;
    this.#startedAt = session.host.now();
  }

  /** Ends the run; `fault` says why its command was not started. Call it while the server still runs. */
  async end(exitCode: number, fault: string | null = null): Promise<void> {
    const { record, coverage, reports, stepSummary, outputs, annotate } = this.#options;
    const failed = exitCode !== 0;
    if (!failed && record === null && !coverage && reports.length === 0 && stepSummary === null) return;
    const { out, host } = this.#session;
    const ms = Math.round(host.now() - this.#startedAt);
    const ended = await this.#recorder.end(exitCode);
    // A command that was not started has nothing to record.
    const recording = (failed && fault === null) || record !== null ? await this.#record(ended, record) : null;
    const run: ReportedRun = { command: ended.command, exitCode, fault, ms, recording, summary: ended.summary() };
    for (const { kind, file } of reports) await this.#try(() => writeReport(file, renderReport(kind, run)));
    if (stepSummary !== null) await this.#try(() => appendReport(stepSummary, renderMarkdown(run)));
    if (outputs !== null && recording !== null)
      await this.#try(() => appendReport(outputs, `recording=${resolve(host.cwd, recording).replaceAll("\n", " ")}\n`));
    // These are for a program, so --quiet does not drop them.
    if (annotate) for (const line of renderAnnotations(run)) out.say(safeText(line));
    if (coverage) out.say(renderCoverage(run.summary.coverage).trimEnd());
  }

  /** Writes the recording and says where it is; null if that is not possible. */
  async #record(ended: EndedRun, wanted: string | null): Promise<string | null> {
    const { out, host, term } = this.#session;
    const written = await this.#try(async () => {
      const file = wanted ?? (await chooseRecordingFile(host));
      const path = resolve(host.cwd, file);
      mkdirSync(dirname(path), { recursive: true });
      await ended.write(path);
      return file;
    });
    if (written === null) return null;
    const { problems } = ended.summary();
    const [first] = problems;
    if (first)
      out.note(
        `${term.err.yellow(first.status)} ${safeText(`${first.title}: ${first.summary}`)}${problems.length > 1 ? ` (and ${problems.length - 1} more)` : ""}`,
      );
    out.note(`${term.err.dim("recorded")} ${safeText(written)}${term.err.dim(`  (mailsvc dev --open ${safeText(written)})`)}`);
    return written;
  }

  /** Reports a write that fails; nothing else depends on it. */
  async #try<T>(work: () => Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (error) {
      this.#session.out.say(`${this.#session.term.err.red("✗")} ${safeText((error as Error).message)}`);
      return null;
    }
  }
}
