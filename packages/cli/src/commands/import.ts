import { Command } from "commander";
import { setCommandMetadata } from "../contract/metadata.ts";
import { addImportOptions } from "../import/flags.ts";
import type { ImportResult, ImportState } from "../import/importer.ts";
import { CONTACTS, type ImportKind, SUPPRESSIONS } from "../import/kind.ts";
import { type ImportPlan, planImport } from "../import/plan.ts";
import { showProgress } from "../import/progress.ts";
import { openRejectsFile } from "../import/rejects.ts";
import { describeColumns, formatSummary, listShownFaults, type ShownFault, type Summary, summaryToJson } from "../import/summary.ts";
import { type Flags, type Run, runAction } from "../runtime/action.ts";
import { CliError, invalidInput, toFailure } from "../runtime/errors.ts";
import { EXIT, type Exit } from "../runtime/exit.ts";
import { formatNumber } from "../text/units.ts";
import type { CommandSpec, Session } from "../types.ts";

const MAX_ERRORS = 100;

const RESUME_HINT = "Run the same command again to resume; --restart starts over.";

const EXAMPLES = {
  contacts: `
Examples:
  mailsvc contacts import people.csv --dry-run
  mailsvc contacts import people.csv --errors-file failed.csv
  mailsvc contacts import export.csv --map "Contact=email" --map "Joined=custom.joined:date" --types numbers
  zcat people.ndjson.gz | mailsvc contacts import - --mode skip

Exit code 0 when all rows were imported, 11 when some failed, 3 when all failed. To resume an interrupted import, run the
same command again. docs/importing.md explains how cells are read.`,
  suppressions: `
Examples:
  mailsvc suppressions import bounced.csv --reason bounce
  mailsvc suppressions import unsubscribed.csv --reason unsubscribe --scope marketing --dry-run

Exit code 0 when all rows were imported, 11 when some failed, 3 when all failed.`,
};

/** `mailsvc contacts import` and `mailsvc suppressions import`: a file of any length in target of the rows of one request. */
export function importCommand(spec: CommandSpec, run: Run): Command {
  const kind = spec.id === "suppressions.import" ? SUPPRESSIONS : CONTACTS;
  const what = kind === CONTACTS ? "Create or update contacts from a CSV or NDJSON file" : "Suppress the addresses of a CSV or NDJSON file";
  const command = setCommandMetadata(new Command(spec.words.at(-1)), spec)
    .summary(what)
    .description(
      `${what} of any size. Separator, encoding and columns are detected. Invalid rows are reported with their line and do not stop the others.`,
    )
    .argument("<file>", "The file, or - for stdin")
    .addHelpText("after", EXAMPLES[kind.noun]);
  addImportOptions(command, kind);
  return runAction(command, run, "connect", (session, [given = "-"], flags) => importFile(session, kind, given, flags));
}

function getExit({ why }: ImportResult, { rows, failed }: ImportState): Exit {
  if (why === "cancelled") return EXIT.cancelled;
  if (failed === 0) return EXIT.ok;
  return failed === rows ? EXIT.validation : EXIT.partial;
}

/** Explains why an import stopped before the end of its file. */
function explainResult(session: Session, plan: ImportPlan, result: ImportResult, done: number): void {
  const again = plan.checkpoint ? RESUME_HINT : undefined;
  if (result.why === "too_many_errors")
    session.out.fail(
      { code: "too_many_errors", message: `More than ${formatNumber(plan.maxErrors)} rows failed.`, exit: EXIT.partial, hint: again },
      session.globals.json,
    );
  if (result.why === "cancelled" && done > 0) session.out.note(again ?? "No progress was recorded.");
  if (result.why !== "failed") return;
  const failure = toFailure(result.error, undefined, session.settings().url);
  throw new CliError({ ...failure, hint: [failure.hint, again].filter(Boolean).join(" ") });
}

async function importFile(session: Session, kind: ImportKind, given: string, flags: Flags): Promise<Exit> {
  const { host, out, term } = session;
  const plan = await planImport(session, kind, given, flags);
  const { source, table, from, checkpoint } = plan;
  const began = host.now();
  const state: ImportState = {
    rows: from.rows,
    failed: from.failed,
    counts: from.counts,
    automations: from.automations,
    consumed: 0,
    resumedAt: from.rows,
    resumedBytes: 0,
    stopping: false,
  };
  if (from.rows > 0) out.note(`Resuming after row ${formatNumber(from.rows)}, as recorded in ${checkpoint?.path}.`);
  const rejects = plan.errorsFile === null ? null : openRejectsFile(plan.errorsFile, table, from.errorsBytes);
  const view = await showProgress(session, kind, source, state, plan.flags.dryRun);
  const errors: ShownFault[] = [];
  const { runImport } = await import("../import/importer.ts");
  const result = await runImport({
    ...plan,
    session,
    rejects,
    state,
    onRejects: (some) => {
      view.rejects(some);
      for (const reject of some) if (errors.length < MAX_ERRORS) errors.push(...listShownFaults(reject));
    },
  }).finally(async () => {
    rejects?.close();
    await view.end();
  });
  const complete = result.why === "done";
  if (complete) checkpoint?.remove();
  if (complete && state.rows === 0)
    throw invalidInput(`${source.name} has no rows.`, [], { code: "empty_file", hint: "It has a header line only." });
  const summary: Summary = {
    file: source.name,
    dryRun: plan.flags.dryRun,
    complete,
    rows: state.rows,
    counts: state.counts,
    automations: state.automations,
    startAutomations: plan.flags.startAutomations,
    importId: from.importId,
    tag: from.tag,
    failed: state.failed,
    resumedAt: state.resumedAt,
    columns: describeColumns(table.names, table.targets),
    errors,
    errorsFile: plan.errorsFile,
    resumeFile: complete ? null : (checkpoint?.path ?? null),
  };
  const seconds = (host.now() - began) / 1000;
  if (result.why !== "failed" || state.rows > 0)
    await out.data(summaryToJson(summary, kind), () => formatSummary(summary, kind, result, seconds, term.out));
  explainResult(session, plan, result, state.rows);
  return result.why === "too_many_errors" ? EXIT.partial : getExit(result, state);
}
