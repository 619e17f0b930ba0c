import type { BackupReport, RestoreReport } from "@mailsvc/server";
import { Argument, Command, Option } from "commander";
import { type Run, runAction } from "../runtime/action.ts";
import { CliError, usageError } from "../runtime/errors.ts";
import { EXIT, type Exit } from "../runtime/exit.ts";
import { addLocation, readLocation } from "./location.ts";

/** `mailsvc backup`: backs an installation up while its server runs. */
export function backupCommand(run: Run): Command {
  const command = new Command("backup")
    .description("Back up an installation while it runs: verified, in one file")
    .addArgument(new Argument("<target>", "File to create, or a folder to create one in"))
    .addOption(new Option("--without-key", "Leave out the key that encrypts secrets, to store it elsewhere"))
    .addOption(new Option("--keep <n>", "Backups that stay in the folder; older ones are deleted").argParser(readCount))
    .addHelpText("after", "  mailsvc backup /backups --data /var/lib/mailsvc\n  mailsvc backup monday.backup --database-url $DATABASE_URL");
  addLocation(command);
  return runAction(command, run, "local", async ({ host, out, term }, [target], flags): Promise<Exit> => {
    const { createBackup } = await import("@mailsvc/server");
    const report = await createBackup({
      ...readLocation(host, flags),
      target: String(target),
      withoutKey: flags["withoutKey"] === true,
      keep: flags["keep"] as number | undefined,
    }).catch(explainError);
    await out.data(report, () => `${term.out.green("Backed up")} ${report.rows} rows to ${report.file}\nsha256 ${report.sha256}`);
    for (const old of report.deleted) out.note(`Deleted ${old}`);
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
    out.note(
      "Once the server that this backup is of is stopped for good, start this one with --take-over. What was queued when the backup was made is sent again then.",
    );
    return EXIT.ok;
  });
}

function readCount(text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text)) throw usageError("--keep must be a whole number from 1 on.");
  return Number(text);
}

function describeMissingKey({ key }: BackupReport | RestoreReport): string {
  return key === "none"
    ? "The installation has its key from --secret-key: start the restored server with the same one."
    : "Without its key: put secret.key back next to the restored database, or start the server with --secret-key.";
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
