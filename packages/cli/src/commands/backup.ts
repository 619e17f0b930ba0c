import type { BackupReport, RestoreReport } from "@mailsvc/server";
import { Argument, Command, Option } from "commander";
import { setOptionMetadata } from "../contract/metadata.ts";
import { type Run, runAction } from "../runtime/action.ts";
import { CliError, usageError } from "../runtime/errors.ts";
import { EXIT, type Exit } from "../runtime/exit.ts";
import type { Host } from "../types.ts";

/** `mailsvc backup`: backs an installation up while its server runs. */
export function backupCommand(run: Run): Command {
  const command = new Command("backup")
    .description("Back up an installation while its server runs: all data, verified, in one file")
    .addArgument(new Argument("<target>", "File to create, or a folder to create one in"))
    .addOption(new Option("--without-key", "Leave out the key that encrypts secrets, to store it elsewhere"))
    .addHelpText("after", "  mailsvc backup /backups --data /var/lib/mailsvc\n  mailsvc backup monday.backup --database-url $DATABASE_URL");
  addLocation(command);
  return runAction(command, run, "local", async ({ host, out, term }, [target], flags): Promise<Exit> => {
    const { createBackup } = await import("@mailsvc/server");
    const report = await createBackup({
      ...readLocation(host, flags),
      target: String(target),
      withoutKey: flags["withoutKey"] === true,
    }).catch(explainError);
    await out.data(report, () => `${term.out.green("Backed up")} ${report.rows} rows to ${report.file}\nsha256 ${report.sha256}`);
    if (report.key === "included") out.note("The file contains the key that encrypts secrets: store it as safely as the server itself.");
    else out.note(describeMissingKey(report));
    return EXIT.ok;
  });
}

/** `mailsvc restore`: restores a backup into an empty folder or database. */
export function restoreCommand(run: Run): Command {
  const command = new Command("restore")
    .description("Restore a backup into an empty data folder or an empty Postgres database; a backup of either fits both")
    .addArgument(new Argument("<file>", "Backup made with mailsvc backup"))
    .addHelpText("after", "  mailsvc restore monday.backup --data /var/lib/mailsvc");
  addLocation(command);
  return runAction(command, run, "local", async ({ host, out, term }, [file], flags): Promise<Exit> => {
    const { restoreBackup } = await import("@mailsvc/server");
    const report = await restoreBackup({ ...readLocation(host, flags), file: String(file) }).catch(explainError);
    await out.data(report, () => `${term.out.green("Restored")} ${report.rows} rows of ${report.createdAt}; the checksums match.`);
    if (report.key !== "included") out.note(describeMissingKey(report));
    out.note("Mail that was queued when the backup was made is sent again once the server starts.");
    return EXIT.ok;
  });
}

function addLocation(command: Command): void {
  const data = new Option("--data <dir>", "Data folder (default mailsvc-data, or MAILSVC_DATA)");
  const url = new Option("--database-url <url>", "postgres://… instead of a folder (default MAILSVC_DATABASE_URL)");
  command.addOption(setOptionMetadata(data, { type: "file" })).addOption(setOptionMetadata(url, { type: "text" }));
}

/** As `serve` does: a flag wins over its variable, a variable over the default. */
function readLocation({ env }: Host, flags: Readonly<Record<string, unknown>>): { data: string; databaseUrl: string | null } {
  if (flags["data"] === "") throw usageError("--data needs a folder, but the one given is empty.");
  const data = String(flags["data"] ?? env["MAILSVC_DATA"] ?? "mailsvc-data");
  const url = flags["databaseUrl"] ?? (flags["data"] === undefined ? env["MAILSVC_DATABASE_URL"] : undefined);
  if (url === undefined) return { data, databaseUrl: null };
  if (!/^postgres(?:ql)?:\/\//.test(String(url))) throw usageError("--database-url must begin with postgres://");
  return { data, databaseUrl: String(url) };
}

function describeMissingKey({ key }: BackupReport | RestoreReport): string {
  return key === "none"
    ? "The installation has its key from --secret-key: start the restored server with the same one."
    : "Without its key: put secret.key back beside the restored database, or start the server with --secret-key.";
}

function explainError(error: unknown): never {
  const { name, message } = error as Error;
  if (name === "BackupRefused") throw usageError(message, { code: "backup_refused" });
  if (name === "BackupDamaged") throw new CliError({ code: "backup_damaged", message, exit: EXIT.server });
  if (name === "CopyError")
    throw new CliError({ code: "restore_differs", message, exit: EXIT.server, hint: "Empty the target database and begin again." });
  if (name === "StorageUnavailable") throw new CliError({ code: "storage_unavailable", message, exit: EXIT.network });
  throw error;
}
