import type { Command } from "commander";
import type { Globals, Session } from "../types.ts";
import { EXIT, type Exit } from "./exit.ts";
import { addGlobals, type GlobalScope, readGlobals } from "./globals.ts";

/** The outcome of one command line; set while commander parses. */
export interface Run {
  exit: Exit;
  /** Creates the session of the selected command. */
  open(globals: Globals): Session;
}

/** A command's own flags as commander parsed them, by attribute name. */
export type Flags = Readonly<Record<string, unknown>>;

/** A command's implementation. Gets its arguments in order and its own flags; returns the exit code when it is not 0. */
type Action = (session: Session, args: readonly (string | undefined)[], flags: Flags) => Promise<Exit | undefined>;

/** Adds the global flags to a command and makes it run `action`. */
export function runAction(command: Command, run: Run, scope: GlobalScope, action: Action): Command {
  addGlobals(command, scope);
  return command.action(async () => {
    const session = run.open(readGlobals(command));
    await session.out.ready();
    const exit = (await action(session, command.processedArgs as (string | undefined)[], command.opts())) ?? EXIT.ok;
    run.exit = exit === EXIT.ok && session.out.hasUnfiltered ? EXIT.unfiltered : exit;
  });
}
