import type { ServeFlag } from "@mailsvc/server";
import type { Flags } from "../runtime/action.ts";
import { CliError } from "../runtime/errors.ts";
import { EXIT, type Exit } from "../runtime/exit.ts";
import { sayWhereMailGoes, startServer } from "../server/start-server.ts";
import { safeText } from "../text/safe-text.ts";
import type { Session } from "../types.ts";
import { openDataFolder } from "./data-folder.ts";
import { DevRun } from "./dev-run.ts";
import { buildEnvironment } from "./environment.ts";
import type { RunOptions } from "./options.ts";

// After a stop nothing is waited for that long.
const EXIT_MS = 200;

interface StartFault {
  readonly reason: string;
  readonly hint?: string;
  /** 127 when absent. */
  readonly exit?: Exit;
}

/** Reasons the system did not start a command, by error code. */
const START_FAULTS: Readonly<Record<string, StartFault>> = {
  ENOENT: { reason: "it was not found", hint: "Is it installed, and on PATH? Programs of node_modules are started with npx." },
  EACCES: { reason: "it may not be executed", exit: EXIT.notExecutable },
  ENOEXEC: { reason: "it is not a program for this system, and has no first line such as #!/bin/sh", exit: EXIT.notExecutable },
  E2BIG: { reason: "its arguments and environment are too long", hint: "Pass long values in a file." },
};
const EMPTY: StartFault = { reason: "its name is empty", hint: "Is a variable empty that names the command?" };

/** A command, the flags of its server, and what is to remain of the run. */
interface CommandRun {
  readonly table: readonly ServeFlag[];
  readonly argv: readonly string[];
  readonly options: RunOptions;
}

/**
 * Runs a command with its own dev server, on any free port and with data that ends with it unless flags say otherwise. Its exit
 * code becomes ours. Throws CliError if the server or the command was not started.
 */
export async function runBesideServer(session: Session, flags: Flags, { table, argv, options }: CommandRun): Promise<Exit> {
  const { host } = session;
  const data = openDataFolder(host, flags);
  const anyPort = !host.env["MAILSVC_PORT"] && flags["port"] === undefined;
  const anySmtpPort = !host.env["MAILSVC_SMTP_PORT"] && flags["smtpPort"] === undefined;
  const given = {
    ...flags,
    ...(anyPort && { port: "0" }),
    ...(anySmtpPort && { smtpPort: "0" }),
    ...(data.temporary !== null && { data: data.temporary }),
  };
  const parentGone = new AbortController();
  const unwatch = host.onParentExit(() => parentGone.abort());
  try {
    // Other programs of the folder must not find a server that ends with its command.
    const temporary = data.temporary !== null;
    const { server, recorder } = await startServer(session, given, { table, dev: true, project: null, temporary, command: argv });
    try {
      session.out.note(`${session.term.err.dim("dev server")} ${server.url}`);
      sayWhereMailGoes(session, server);
      const run = recorder && new DevRun(session, options, recorder);
      const stop = AbortSignal.any([session.signal, parentGone.signal]);
      const code = await host.exec(argv, await buildEnvironment(server), stop).catch(async (error: unknown) => {
        const fault = toStartError(error, argv[0] ?? "");
        // CI looks for the reports of this run too.
        if (fault instanceof CliError) await run?.end(fault.failure.exit ?? EXIT.notStarted, fault.message);
        throw fault;
      });
      await run?.end(code);
      return code as Exit;
    } finally {
      await server.close();
      host.exitAfter(EXIT_MS);
    }
  } finally {
    unwatch();
    data.remove();
  }
}

function toStartError(error: unknown, name: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) return error;
  const command = safeText(name);
  const shell = /[\s;&|<>*$]/.test(name)
    ? { hint: `A line for the shell needs one: mailsvc dev -- sh -c ${JSON.stringify(command)}` }
    : null;
  const { reason, exit = EXIT.notStarted, ...hint } = (name === "" ? EMPTY : START_FAULTS[code]) ?? { reason: code, exit: EXIT.notStarted };
  return new CliError({
    code: "command_not_started",
    message: `"${command}" was not started: ${reason}.`,
    exit,
    ...(shell ?? hint),
  });
}
