import type { CopyProgress, CopyReport } from "@mailsvc/server";
import { Command, Option } from "commander";
import { setOptionMetadata } from "../contract/metadata.ts";
import { type Run, runAction } from "../runtime/action.ts";
import { CliError, cancelledError, usageError } from "../runtime/errors.ts";
import { EXIT, type Exit } from "../runtime/exit.ts";
import { startProgress } from "../runtime/progress.ts";
import { renderTable } from "../views/table.ts";

const WIDTH = 24;

/** `mailsvc migrate`: copies an installation from a data folder to Postgres. */
export function migrateCommand(run: Run): Command {
  const command = new Command("migrate").description("Copy an installation from a data folder to a Postgres database");
  const from = new Option("--from <dir>", "Data folder of the SQLite database; stop its server first").makeOptionMandatory();
  const to = new Option("--to <url>", "postgres://… of an empty database").makeOptionMandatory();
  command.addOption(setOptionMetadata(from, { type: "file" })).addOption(setOptionMetadata(to, { type: "text" }));
  return runAction(command, run, "local", async (session, _args, flags): Promise<Exit> => {
    const { host, term, globals, out } = session;
    const target = String(flags["to"]);
    if (!/^postgres(?:ql)?:\/\//.test(target)) throw usageError("--to must begin with postgres://");
    const progress = startProgress(host, term, globals.quiet, "preparing");
    let report: CopyReport;
    try {
      const { migrateToPostgres } = await import("@mailsvc/server");
      report = await migrateToPostgres({
        from: String(flags["from"]),
        to: target,
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
    out.note("From now on, start servers with --database-url. The folder keeps its data, and no server starts on it any more.");
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
  if (name === "CopyRefused") return usageError(message, { code: "move_refused" });
  if (name === "StorageUnavailable") return new CliError({ code: "storage_unavailable", message, exit: EXIT.network });
  if (name === "CopyError")
    return new CliError({
      code: "move_differs",
      message,
      exit: EXIT.server,
      hint: "Empty the target database and begin again. The folder is unchanged.",
    });
  return error;
}
