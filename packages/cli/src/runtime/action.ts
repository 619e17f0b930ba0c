import type { Command } from "commander";
import type { Globals, Session } from "../types.ts";
import { EXIT, type Exit } from "./exit.ts";
import { addGlobals, type GlobalScope, readGlobals } from "./globals.ts";

/** What one command line came to; filled while commander parses. */
export interface Run {
  exit: Exit;
  /** Makes the session of the command that was chosen. */
  open(globals: Globals): Session;
}

/** A command's own flags, as commander collected them, by attribute name. */
export type Flags = Readonly<Record<string, unknown>>;

/** What a command does: arguments in order, its own flags; answers the exit code when it is not 0. */
export type Action = (session: Session, args: readonly (string | undefined)[], flags: Flags) => Promise<Exit | undefined>;

/** Gives a finished command its global flags and its work. */
export function runAction(command: Command, run: Run, scope: GlobalScope, action: Action): Command {
  addGlobals(command, scope);
  return command.action(async () => {
    const session = run.open(readGlobals(command));
    run.exit = (await action(session, command.processedArgs as (string | undefined)[], command.opts())) ?? EXIT.ok;
  });
}
