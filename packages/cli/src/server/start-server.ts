import type { Log, RunningServer, RunRecorder, ServeFlag } from "@mailsvc/server";
import { Option } from "commander";
import type { Flags } from "../runtime/action.ts";
import { CliError, usageError } from "../runtime/errors.ts";
import { EXIT, type Exit } from "../runtime/exit.ts";
import { safeText } from "../text/safe-text.ts";
import type { Session } from "../types.ts";

const KEPT_LINES = 20;

/** The code of a start that was ended while it waited for its database. */
export const START_ENDED = "start_ended";

export type ServeLog = ReturnType<typeof createLog>;

/** Options for starting a server. */
interface StartOptions {
  /** The flags of the command. */
  readonly table: readonly ServeFlag[];
  readonly dev: boolean;
  /** The folder whose commands find this server; null for none. */
  readonly project: string | null;
  /** True if the data is deleted when the server ends. */
  readonly temporary?: boolean;
  /** The command that runs with it; empty without one. */
  readonly command: readonly string[];
}

interface StartedServer {
  readonly server: RunningServer;
  readonly log: ServeLog;
  /** Records the run of a dev server; null in production. */
  readonly recorder: RunRecorder | null;
}

/** Starts a server in this process. Throws CliError. */
export async function startServer(session: Session, flags: Flags, options: StartOptions): Promise<StartedServer> {
  const { table, dev, project, temporary = false, command } = options;
  const { env, now, version } = session.host;
  try {
    const { describeIgnoredVariables, jsonLog, RunRecorder, readConfig, serve } = await import("@mailsvc/server");
    const config = readConfig({ flags: readFlags(table, flags), env, dev, project, temporary });
    if (config.ignoredVariables.length > 0) session.out.say(describeIgnoredVariables(config));
    const log = createLog(session, jsonLog, command.length > 0);
    const recorder = dev ? new RunRecorder({ version, command, now }) : null;
    const { signal } = session;
    const server = await (recorder ? serve(config, recorder.log(log.log), { recorder, signal }) : serve(config, log.log, { signal }));
    return { server, log, recorder };
  } catch (error) {
    throw startError(error);
  }
}

/** Warns that mail of a dev server leaves; says nothing while it is captured. */
export function sayWhereMailGoes({ out, term: { err } }: Session, { relayHosts }: Pick<RunningServer, "relayHosts">): void {
  if (relayHosts.length > 0) out.say(`${err.yellow("Mail     ")}  leaves through ${safeText(relayHosts.join(", "))}`);
}

/**
 * The server's log on stderr: text for people, JSON lines for programs; the last lines are kept for the dev screen. Beside a command,
 * whose output it would disturb, only with --verbose.
 */
function createLog(session: Session, jsonLog: (write: (line: string) => void, now: () => number) => Log, besideCommand: boolean) {
  const { host, term, globals, out } = session;
  const silent = besideCommand && !globals.verbose;
  const kept: string[] = [];
  let onScreen = false;
  const person =
    (label: string, always: boolean) =>
    (message: string, facts: Record<string, unknown> = {}): void => {
      const rest = Object.entries(facts).map(([k, v]) => `${k}=${typeof v === "string" ? v : JSON.stringify(v)}`);
      const line = safeText([message, ...rest].join(" "));
      if (onScreen || silent) kept.splice(0, Math.max(0, kept.push(`${label} ${line}`) - KEPT_LINES));
      else if (always || globals.verbose) out.say(`${term.err.dim(label)} ${line}`);
    };
  const forPeople: Log = { info: person("info", false), warn: person("warn", true), error: person("error", true) };
  const log = silent || (term.stderrTTY && !globals.json) ? forPeople : jsonLog((line) => out.say(line), host.now);
  return {
    log,
    lines: (): readonly string[] => kept,
    toScreen: (on: boolean): void => {
      onScreen = on;
    },
  };
}

function getAttributeName(flag: ServeFlag): string {
  return new Option(`--${flag.name}`).attributeName();
}

function readFlags(table: readonly ServeFlag[], flags: Flags): Record<string, string | boolean | undefined> {
  return Object.fromEntries(table.map((flag) => [flag.name, flags[getAttributeName(flag)] as string | boolean | undefined]));
}

function startError(error: unknown): CliError {
  const { name, message, isAway } = error as Error & { isAway?: boolean };
  if (name === "ConfigError") return usageError(message, { code: "config_invalid" });
  if (name === "StartEnded") return new CliError({ code: START_ENDED, message, exit: EXIT.cancelled });
  const exits: Record<string, Exit> = { ListenError: EXIT.conflict, StorageUnavailable: isAway ? EXIT.network : EXIT.conflict };
  return new CliError({ code: "serve_failed", message: `The server did not start: ${message}`, exit: exits[name] ?? EXIT.server });
}
