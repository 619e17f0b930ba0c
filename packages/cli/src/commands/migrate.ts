import type { CopyProgress, CopyReport } from "@mailsvc/server";
import { Command, Option } from "commander";
import { setOptionMetadata } from "../contract/metadata.ts";
import { type Run, runAction } from "../runtime/action.ts";
import { CliError, cancelledError, usageError } from "../runtime/errors.ts";
import { EXIT, type Exit } from "../runtime/exit.ts";
import { startProgress } from "../runtime/progress.ts";
import { renderTable } from "../text/table.ts";

const WIDTH = 24;

const isDatabase = (place: string): boolean => /^postgres(?:ql)?:\/\//.test(place);

/** `mailsvc migrate`: moves an installation from a data folder to Postgres, back, or to another database. */
export function migrateCommand(run: Run): Command {
  const command = new Command("migrate").description("Move an installation between a data folder and Postgres, or to another database");
  const from = new Option("--from <dir>", "Data folder, or postgres://…; stop its servers first").makeOptionMandatory();
  const to = new Option("--to <url>", "postgres://… of an empty database, or a new folder").makeOptionMandatory();
  command.addOption(setOptionMetadata(from, { type: "file" })).addOption(setOptionMetadata(to, { type: "text" }));
  return runAction(command, run, "local", async (session, _args, flags): Promise<Exit> => {
    const { host, term, globals, out } = session;
    const [from, to] = [String(flags["from"]), String(flags["to"])];
    const wrong = [from, to].find((place) => /^\w+:\/\//.test(place) && !isDatabase(place));
    if (wrong !== undefined) throw usageError("The address of a database must begin with postgres://");
    if (!isDatabase(from) && !isDatabase(to))
      throw usageError(
        "--from and --to are folders. Stop the server and move the folder itself; a folder that is renamed stays the same installation.",
      );
    const progress = startProgress(host, term, globals.quiet, isDatabase(from) ? "moving" : "preparing");
    let report: CopyReport;
    try {
      const { migrateToPostgres, moveFromPostgres } = await import("@mailsvc/server");
      report = isDatabase(from)
        ? await moveFromPostgres({ from, to })
        : await migrateToPostgres({
            from,
            to,
            onProgress: (at) => {
              // Between two chunks it is safe to stop.
              if (session.signal.aborted) throw cancelledError();
              progress.update(formatBar(at));
            },
          });
    } catch (error) {
      throw explainError(error);
    } finally {
      progress.stop();
    }
    await out.data(report, () => {
      const rows = renderTable(
        report.tables,
        [
          { title: "table", value: (t) => t.table },
          { title: "rows", value: (t) => t.rows },
          { title: "checksum", value: (t) => t.checksum },
        ],
        term.out,
        term.columns,
      );
      return `${rows}\n\n${term.out.green("Moved")} ${report.rows} rows; the checksums match.`;
    });
    const flag = isDatabase(to) ? "--database-url" : `--data ${to}`;
    const old = isDatabase(from) ? "old database" : "folder";
    out.note(`From now on, start servers with ${flag}. The ${old} keeps its data, and no server starts on it any more.`);
    return EXIT.ok;
  });
}

/** `copying emails ████████░░░░░░░░ 52 %  5,200 of 10,000 rows` */
function formatBar({ phase, table: name, done, total }: CopyProgress): string {
  const part = total === 0 ? 1 : done / total;
  const full = Math.round(part * WIDTH);
  const count = (n: number): string => n.toLocaleString("en-US");
  return `${phase === "copy" ? "copying" : "checking"} ${name} ${"█".repeat(full)}${"░".repeat(WIDTH - full)} ${Math.floor(part * 100)} %  ${count(done)} of ${count(total)} rows`;
}

function explainError(error: unknown): unknown {
  const { name, message } = error as Error;
  if (name === "CopyRefused" || name === "BackupRefused") return usageError(message, { code: "move_refused" });
  if (name === "StorageUnavailable") return new CliError({ code: "storage_unavailable", message, exit: EXIT.network });
  if (name === "CopyError" || name === "BackupDamaged")
    return new CliError({
      code: "move_differs",
      message,
      exit: EXIT.server,
      hint: "Empty the target and begin again. The data is unchanged where it was.",
    });
  return error;
}
