import { type Command, CommanderError } from "commander";
import type { Run } from "./act.ts";
import { advise } from "./advice.ts";
import { cancelled, type Failure, failureOf, usageError } from "./errors.ts";
import { EXIT, type Exit } from "./exit.ts";
import type { Host } from "./host.ts";
import { outputOf, ReaderGone } from "./output.ts";
import { createProgram } from "./program.ts";
import { type Session, sessionOf } from "./session.ts";
import { terminalOf } from "./tty.ts";

/**
 * Runs one command line and answers its exit code. Never ends the process and never throws: what goes wrong is
 * explained on stderr. When the reader of stdout is gone the program just stops.
 */
export async function run(host: Host): Promise<Exit> {
  const term = terminalOf(host);
  const stop = new AbortController();
  let session: Session | undefined;
  const state: Run = {
    exit: EXIT.ok,
    open: (globals) => {
      session = sessionOf(host, globals, stop.signal);
      return session;
    },
  };
  const ignore = (): void => {};
  host.stdout.on("error", ignore);
  host.stderr.on("error", ignore);
  const unlisten = host.onSignal(() => stop.abort());
  let written = "";
  const asJson = host.argv.includes("--json");
  const plain = outputOf(host, term, { json: asJson, quiet: false });
  let program: Command | undefined;
  try {
    program = await createProgram(host, term, state, (text) => {
      written += text;
    });
    if (host.argv.length === 0) {
      program.outputHelp();
      await plain.text(written);
      return EXIT.ok;
    }
    await program.parseAsync([...host.argv], { from: "user" });
    return state.exit;
  } catch (error) {
    if (error instanceof ReaderGone) return EXIT.ok;
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) {
        await plain.text(written).catch(ignore);
        return EXIT.ok;
      }
      // A noun without a verb: commander has shown its help on stderr already.
      if (error.code === "commander.help") return EXIT.usage;
      plain.fail(advised(error, host.argv, program), asJson);
      return EXIT.usage;
    }
    const plainly = stop.signal.aborted ? cancelled().failure : failureOf(error, session?.flagOf, urlOf(session));
    const failure = advise(plainly, session?.place, session?.lastCall);
    (session?.out ?? plain).fail(failure, session?.globals.json ?? asJson);
    if (session?.globals.verbose && error instanceof Error && failure.code === "internal_error") plain.say(error.stack ?? "");
    return failure.exit;
  } finally {
    unlisten();
    host.stdout.off("error", ignore);
    host.stderr.off("error", ignore);
  }
}

// Commander writes "error: unknown option '--foo'\n(Did you mean --for?)".
function usageOf(error: CommanderError): Failure {
  const [first = "", ...rest] = error.message.replace(/^error: /, "").split("\n");
  const message = `${first.charAt(0).toUpperCase()}${first.slice(1)}${/[.!?]$/.test(first) ? "" : "."}`;
  const hint = rest.join(" ").replace(/^\(|\)$/g, "");
  return usageError(message, hint === "" ? {} : { hint }).failure;
}

/** The command that was meant, as far as the words lead, and those words. */
function meant(argv: readonly string[], program: Command | undefined): { words: string; command: Command | undefined } {
  const words = ["mailsvc"];
  let command = program;
  for (const word of argv) {
    if (word.startsWith("-")) continue;
    const below = command?.commands.find((c) => c.name() === word);
    if (!below) break;
    words.push(word);
    command = below;
  }
  return { words: words.join(" "), command };
}

// The nearest help: `mailsvc emails --help` for `mailsvc emails lst`, `mailsvc agent runs log --help` for a flag it does not have.
function advised(error: CommanderError, argv: readonly string[], program: Command | undefined): Failure {
  const failure = usageOf(error);
  const { words, command } = meant(argv, program);
  const next = `${words} --help`;
  if (error.code !== "commander.missingArgument" || !command) return { ...failure, next };
  const isActivation = error.message.includes("'activationId'");
  return { ...failure, hint: `Usage: ${words} ${command.usage()}`, next: isActivation ? "mailsvc activations list" : next };
}

function urlOf(session: Session | undefined): string | undefined {
  try {
    return session?.settings().url;
  } catch {
    return undefined;
  }
}
