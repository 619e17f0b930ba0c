import { type Command, Option } from "commander";
import { setOptionMetadata } from "../contract/metadata.ts";
import { usageError } from "../runtime/errors.ts";
import type { Host } from "../types.ts";

/** Adds the flags that say where the data is, for commands that open it themselves. */
export function addLocation(command: Command): void {
  const data = new Option("--data <dir>", "Data folder (default mailsvc-data, or MAILSVC_DATA)");
  const url = new Option("--database-url <url>", "postgres://… instead of a folder (default MAILSVC_DATABASE_URL)");
  command.addOption(setOptionMetadata(data, { type: "file" })).addOption(setOptionMetadata(url, { type: "text" }));
}

/** Returns the location of the data. As in `serve`, a flag wins over its variable, a variable over the default. */
export function readLocation({ env }: Host, flags: Readonly<Record<string, unknown>>): { data: string; databaseUrl: string | null } {
  if (flags["data"] === "") throw usageError("--data needs a folder, but the one given is empty.");
  const data = String(flags["data"] ?? env["MAILSVC_DATA"] ?? "mailsvc-data");
  const url = flags["databaseUrl"] ?? (flags["data"] === undefined ? env["MAILSVC_DATABASE_URL"] : undefined);
  if (url === undefined) return { data, databaseUrl: null };
  if (!/^postgres(?:ql)?:\/\//.test(String(url))) throw usageError("--database-url must begin with postgres://");
  return { data, databaseUrl: String(url) };
}
