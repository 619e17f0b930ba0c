import { Command } from "commander";
import { noteCommand } from "../about.ts";
import { act, type Flags, type Run } from "../act.ts";
import { CliError, failureOf, invalidInput } from "../errors.ts";
import { EXIT, type Exit } from "../exit.ts";
import { addOptions } from "../import/flags.ts";
import type { Ending, Standing } from "../import/importer.ts";
import { CONTACTS, type Kind, SUPPRESSIONS } from "../import/kind.ts";
import { type Plan, planOf } from "../import/plan.ts";
import { rejectsFile } from "../import/rejects.ts";
import { asJson, asText, columnsIn, number, type ShownFault, type Summary, shownFaults } from "../import/summary.ts";
import { watchImport } from "../import/watch.ts";
import type { Placed } from "../places.ts";
import type { Session } from "../session.ts";

const KEPT_ERRORS = 100;

const AGAIN = "The same command goes on where it stopped; --restart begins anew.";

const EXAMPLES = {
  contacts: `
Examples:
  mailsvc contacts import people.csv --dry-run
  mailsvc contacts import people.csv --errors-file failed.csv
  mailsvc contacts import export.csv --map "Contact=email" --map "Joined=custom.joined:date" --types numbers
  zcat people.ndjson.gz | mailsvc contacts import - --mode skip

Exit code 0 when all rows are in, 11 when some failed, 3 when none could be used. An import that was cut off goes on
with the same command. docs/importing.md says how each cell is read.`,
  suppressions: `
Examples:
  mailsvc suppressions import bounced.csv --reason bounce
  mailsvc suppressions import unsubscribed.csv --reason unsubscribe --scope marketing --dry-run

Exit code 0 when all rows are in, 11 when some failed, 3 when none could be used.`,
};

/** `mailsvc contacts import` and `mailsvc suppressions import`: a file of any length in place of the rows of one request. */
export function importCommand(place: Placed, run: Run): Command {
  const kind = place.id === "suppressions.import" ? SUPPRESSIONS : CONTACTS;
  const what = kind === CONTACTS ? "Create or update contacts from a CSV or NDJSON file" : "Suppress the addresses of a CSV or NDJSON file";
  const command = noteCommand(new Command(place.words.at(-1)), place)
    .summary(what)
    .description(
      `${what}, however large it is. Separator, encoding and columns are found out; each row that cannot be taken is named with its line, and spoils no other one.`,
    )
    .argument("<file>", "The file, or - for stdin")
    .addHelpText("after", EXAMPLES[kind.noun]);
  addOptions(command, kind);
  return act(command, run, "connect", (session, [given = "-"], flags) => importFile(session, kind, given, flags));
}

function exitOf({ why }: Ending, { rows, failed }: Standing): Exit {
  if (why === "cancelled") return EXIT.cancelled;
  if (failed === 0) return EXIT.ok;
  return failed === rows ? EXIT.validation : EXIT.partial;
}

/** Explains why an import ended before the end of its file. */
function explain(session: Session, plan: Plan, ending: Ending, done: number): void {
  const again = plan.checkpoint ? AGAIN : undefined;
  if (ending.why === "too_many_errors")
    session.out.fail(
      { code: "too_many_errors", message: `More than ${number(plan.maxErrors)} rows failed.`, exit: EXIT.partial, hint: again },
      session.globals.json,
    );
  if (ending.why === "cancelled" && done > 0) session.out.note(again ?? "Nothing is noted of how far it came.");
  if (ending.why !== "failed") return;
  const failure = failureOf(ending.error, undefined, session.settings().url);
  throw new CliError({ ...failure, hint: [failure.hint, again].filter(Boolean).join(" ") });
}

async function importFile(session: Session, kind: Kind, given: string, flags: Flags): Promise<Exit> {
  const { host, out, term } = session;
  const plan = await planOf(session, kind, given, flags);
  const { source, table, from, checkpoint } = plan;
  const began = host.now();
  const standing: Standing = {
    rows: from.rows,
    failed: from.failed,
    counts: from.counts,
    consumed: 0,
    resumedAt: from.rows,
    resumedBytes: 0,
    stopping: false,
  };
  if (from.rows > 0) out.note(`Going on after row ${number(from.rows)}; ${checkpoint?.path} says how far it was.`);
  const rejects = plan.errorsFile === null ? null : rejectsFile(plan.errorsFile, table, from.errorsBytes);
  const watch = await watchImport(session, kind, source, standing, plan.flags.dryRun);
  const errors: ShownFault[] = [];
  const { runImport } = await import("../import/importer.ts");
  const ending = await runImport({
    ...plan,
    session,
    rejects,
    standing,
    onRejects: (some) => {
      watch.rejects(some);
      for (const reject of some) if (errors.length < KEPT_ERRORS) errors.push(...shownFaults(reject));
    },
  }).finally(async () => {
    rejects?.close();
    await watch.end();
  });
  const complete = ending.why === "done";
  if (complete) checkpoint?.remove();
  if (complete && standing.rows === 0)
    throw invalidInput(`${source.name} has no rows.`, [], { code: "empty_file", hint: "Below the line with the names there is nothing." });
  const summary: Summary = {
    file: source.name,
    dryRun: plan.flags.dryRun,
    complete,
    rows: standing.rows,
    counts: standing.counts,
    failed: standing.failed,
    resumedAt: standing.resumedAt,
    columns: columnsIn(table.names, table.places),
    errors,
    errorsFile: plan.errorsFile,
    resumeFile: complete ? null : (checkpoint?.path ?? null),
  };
  const seconds = (host.now() - began) / 1000;
  if (ending.why !== "failed" || standing.rows > 0)
    await out.data(asJson(summary, kind), () => asText(summary, kind, ending, seconds, term.out));
  explain(session, plan, ending, standing.rows);
  return ending.why === "too_many_errors" ? EXIT.partial : exitOf(ending, standing);
}
