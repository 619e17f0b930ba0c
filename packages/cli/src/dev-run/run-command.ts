import type { RunningServer } from "@mailsvc/server";
import { CliError } from "../runtime/errors.ts";
import { EXIT, type Exit } from "../runtime/exit.ts";
import { safeText } from "../runtime/safe-text.ts";
import type { Session } from "../types.ts";
import { buildEnvironment } from "./environment.ts";

/** Runs a command with the server's address and keys in its environment. Its exit code becomes ours. Throws CliError if it was not started. */
export async function runCommand(session: Session, server: RunningServer, argv: readonly string[], stop: AbortSignal): Promise<Exit> {
  session.out.note(`${session.term.err.dim("dev server")} ${server.url}`);
  try {
    return (await session.host.exec(argv, buildEnvironment(server), stop)) as Exit;
  } catch (error) {
    throw toStartError(error, argv[0] ?? "");
  }
}

function toStartError(error: unknown, name: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) return error;
  const command = safeText(name);
  const shell = /[\s;&|<>*$]/.test(name)
    ? { hint: `A line for the shell needs one: mailsvc dev -- sh -c ${JSON.stringify(command)}` }
    : null;
  const missing = code === "ENOENT" ? { hint: "Is it installed, and on PATH? Programs of node_modules are started with npx." } : null;
  return new CliError({
    code: "command_not_started",
    message: `"${command}" was not started: ${code === "ENOENT" ? "it was not found" : code === "EACCES" ? "it may not be executed" : code}.`,
    exit: EXIT.notStarted,
    ...(shell ?? missing),
  });
}
