import { type Command, InvalidArgumentError, Option } from "commander";
import type { Globals } from "../types.ts";
import { parseDuration } from "./settings.ts";
/** Scope of a command, which decides its global flags: it works locally, talks to a server, sends one request, or changes something. */
export type GlobalScope = "local" | "connect" | "read" | "write";

/** The help heading of the flags that all commands share. */
export const GLOBAL_GROUP = "Global options:";
// The global options. A field of the contract may have the same name (`inbox wait --timeout`) and another meaning.
const globalOptions = new WeakSet<Option>();

export function isGlobal(option: Option): boolean {
  return globalOptions.has(option);
}

/** Adds the global flags to a command, except those whose name the command uses itself. */
export function addGlobals(command: Command, scope: GlobalScope, hidden = false): Command {
  const options = [
    ...localOptions(),
    ...(scope === "local" ? [] : remoteOptions()),
    ...(scope === "read" || scope === "write" ? requestOptions() : []),
    ...(scope === "write" ? writeOptions() : []),
  ];
  for (const option of options) {
    const long = option.long;
    const short = option.short;
    if (command.options.some((o) => o.long === long || (short !== undefined && o.short === short))) continue;
    globalOptions.add(option);
    command.addOption((hidden ? option.hideHelp() : option).helpGroup(GLOBAL_GROUP));
  }
  return command;
}

/** Reads the global flags, given anywhere on the command line; the innermost one wins. */
export function readGlobals(command: Command): Globals {
  const found: Record<string, unknown> = {};
  for (let c: Command | null = command; c; c = c.parent) {
    for (const option of c.options) {
      const name = option.attributeName();
      const value: unknown = c.getOptionValue(name);
      if (isGlobal(option) && value !== undefined && found[name] === undefined) found[name] = value;
    }
  }
  return { json: false, quiet: false, verbose: false, yes: false, dryRun: false, ...found };
}

function checkDuration(text: string): string {
  try {
    parseDuration(text, "--timeout");
  } catch {
    throw new InvalidArgumentError("Write 500ms, 30s, 15m or 2h.");
  }
  return text;
}

function checkIdempotencyKey(text: string): string {
  if (!/^[\x21-\x7e]{1,255}$/.test(text)) throw new InvalidArgumentError("Use 1 to 255 printable ASCII characters without spaces.");
  return text;
}

function localOptions(): Option[] {
  return [
    new Option("--json", "JSON on stdout, and errors as JSON on stderr"),
    new Option("--jq <expression>", "Filter the JSON with this jq expression; texts are printed without quotation marks"),
    new Option("-q, --quiet", "No notes and no progress"),
  ];
}

function remoteOptions(): Option[] {
  return [
    new Option("--url <url>", "Server URL (MAILSVC_URL)"),
    new Option("--api-key <key>", "API key (MAILSVC_API_KEY)"),
    new Option("--profile <name>", "Stored settings to use (MAILSVC_PROFILE)"),
    new Option("--timeout <time>", "Time limit for a request (default 30s)").argParser(checkDuration),
    new Option("-v, --verbose", "Show requests and responses on stderr"),
  ];
}

function requestOptions(): Option[] {
  return [new Option("--dry-run", "Print the request and send nothing")];
}

function writeOptions(): Option[] {
  return [
    new Option("-y, --yes", "Do not ask for confirmation"),
    new Option(
      "--idempotency-key <key>",
      "Retry safely: the server runs a request with the same key only once in 24 h; auto makes the key from the request",
    ).argParser(checkIdempotencyKey),
  ];
}
