import { type Command, CommanderError } from "commander";
import { createProgram } from "./program.ts";
import { AfterAccepted } from "./runtime/accepted.ts";
import type { Run } from "./runtime/action.ts";
import { cancelledError, toFailure, usageError } from "./runtime/errors.ts";
import { EXIT, type Exit } from "./runtime/exit.ts";
import { createOutput, OutputClosed } from "./runtime/output.ts";
import { createSession } from "./runtime/session.ts";
import { detectTerminal } from "./runtime/tty.ts";
import { watchForUpdate } from "./runtime/update-notice.ts";
import type { Failure, Host, Session } from "./types.ts";

/**
 * Runs one command line and returns its exit code. Never ends the process and never throws: failures are explained on
 * stderr. When the reader of stdout has closed the pipe, the program stops without an error.
 */
export async function run(given: Host): Promise<Exit> {
  // Not a copy: the working folder is looked up when it is needed, and may be gone.
  const host: Host = Object.create(given, { argv: { value: readShorthand(given.argv), enumerable: true } });
  const term = detectTerminal(host);
  const stop = new AbortController();
  let session: Session | undefined;
  let tellOfUpdate = (): void => {};
  const state: Run = {
    exit: EXIT.ok,
    open: (globals) => {
      const opened = createSession(host, globals, stop.signal);
      session = opened;
      if (!globals.quiet) tellOfUpdate = watchForUpdate(host, term, (text) => opened.out.note(term.err.dim(text)));
      return opened;
    },
  };
  const ignore = (): void => {};
  host.stdout.on("error", ignore);
  host.stderr.on("error", ignore);
  const unlisten = host.onSignal(() => stop.abort());
  let written = "";
  const asJson = host.argv.includes("--json");
  const plain = createOutput(host, term, { json: asJson, quiet: false });
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
    await refuseUnknown(host.argv, program);
    program.hook("preAction", (_program, command) => refuseValues(host.argv, command));
    await program.parseAsync([...host.argv], { from: "user" });
    return state.exit;
  } catch (error) {
    if (error instanceof OutputClosed) return EXIT.ok;
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) {
        await plain.text(written).catch(ignore);
        return EXIT.ok;
      }
      // A noun without a verb: commander has already printed its help on stderr.
      if (error.code === "commander.help") return EXIT.usage;
      plain.fail(await adviseUsage(error, host.argv, program), asJson);
      return EXIT.usage;
    }
    const isCancelled = stop.signal.aborted && !(error instanceof AfterAccepted);
    const plainly = isCancelled ? cancelledError().failure : toFailure(error, session?.flagOf, findServerUrl(session) ?? undefined);
    const { advise } = await import("./contract/advice.ts");
    const failure = error instanceof AfterAccepted ? plainly : advise(plainly, session?.spec, session?.lastCall);
    (session?.out ?? plain).fail(failure, session?.globals.json ?? asJson);
    if (session?.globals.verbose && error instanceof Error && failure.code === "internal_error") plain.say(error.stack ?? "");
    return failure.exit;
  } finally {
    tellOfUpdate();
    unlisten();
    host.stdout.off("error", ignore);
    host.stderr.off("error", ignore);
  }
}

// Commander writes "error: unknown option '--foo'\n(Did you mean --for?)".
function toUsageFailure(error: CommanderError): Failure {
  const [first = "", ...rest] = error.message.replace(/^error: /, "").split("\n");
  const message = `${first.charAt(0).toUpperCase()}${first.slice(1)}${/[.!?]$/.test(first) ? "" : "."}`;
  const hint = rest.join(" ").replace(/^\(|\)$/g, "");
  return usageError(message, hint === "" ? {} : { hint }).failure;
}

/** `mailsvc help send` is `mailsvc send --help`; `mailsvc version` and a lone `-v` are `mailsvc --version`. */
function readShorthand(argv: readonly string[]): readonly string[] {
  const [first, ...words] = argv;
  if (first === "help") return [...words, "--help"];
  return argv.length === 1 && (first === "version" || first === "-v") ? ["--version"] : argv;
}

/** Throws CliError when help is asked for a command that there is none of; commander would show the help of all. */
async function refuseUnknown(argv: readonly string[], program: Command): Promise<void> {
  if (!argv.some((word) => word === "--help" || word === "-h") || argv.includes("--")) return;
  const words = argv.slice(
    0,
    argv.findIndex((word) => word.startsWith("-")),
  );
  let command = program;
  for (const [i, word] of words.entries()) {
    if (command.commands.length === 0) return;
    const below = command.commands.find((c) => c.name() === word || c.aliases().includes(word));
    if (!below) {
      const { findSimilar } = await import("./runtime/suggestion.ts");
      const near = findSimilar(
        word,
        command.commands.map((c) => c.name()),
      );
      const path = ["mailsvc", ...words.slice(0, i)].join(" ");
      const hint = near.length === 0 ? {} : { hint: `Did you mean ${near.map((name) => `${path} ${name}`).join(" or ")}?` };
      throw usageError(`There is no command ${path} ${word}.`, { code: "unknown_command", ...hint, next: `${path} --help` });
    }
    command = below;
  }
}

/** Finds the command that the leading words name, and returns those words with it. */
function findCommand(argv: readonly string[], program: Command | undefined): { words: string; command: Command | undefined } {
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

// Points at the nearest help: `mailsvc emails --help` for `mailsvc emails lst`, `mailsvc send --help` for an unknown flag of it.
async function adviseUsage(error: CommanderError, argv: readonly string[], program: Command | undefined): Promise<Failure> {
  const failure = toUsageFailure(error);
  const { words, command } = findCommand(argv, program);
  const next = `${words} --help`;
  const flag = error.code === "commander.unknownOption" && command ? findNamesake(error.message, command) : null;
  if (flag) return { ...failure, hint: `Did you mean ${flag}?`, next };
  const namesakes = error.code === "commander.unknownCommand" && words === "mailsvc" ? await listVerbs(error.message) : [];
  if (namesakes.length > 0) return { ...failure, hint: `Did you mean ${namesakes.join(" or ")}?`, next: `${namesakes[0]} --help` };
  const switched = error.code === "commander.excessArguments" && command ? findSwitch(argv, command) : null;
  if (switched) return { ...failure, hint: `${switched.flag} takes no value: ${switched.instead}.`, next };
  if (error.code !== "commander.missingArgument" || !command) return { ...failure, next };
  const isActivation = error.message.includes("'activationId'");
  return { ...failure, hint: `Usage: ${words} ${command.usage()}`, next: isActivation ? "mailsvc activations list" : next };
}

/** The commands whose verb was given without its noun: `mailsvc world reset` for `mailsvc reset`; none where that could be many. */
async function listVerbs(message: string): Promise<string[]> {
  const [, given] = /'([a-z-]+)'/.exec(message) ?? [];
  const { listCommandSpecs } = await import("./contract/command-map.ts");
  const found = listCommandSpecs().filter(({ words, hidden, coveredBy }) => words.at(-1) === given && !hidden && coveredBy === undefined);
  return found.length > 2 ? [] : found.map(({ words }) => `mailsvc ${words.join(" ")}`);
}

// Commander knows what is spelled alike; this also finds --schedule for --scheduled-at, and --scheduled-at for --at.
function findNamesake(message: string, command: Command): string | null {
  const [, given = ""] = /'--([a-z-]+)/.exec(message) ?? [];
  const known = command.options.flatMap(({ long }) => long?.slice(2) ?? []);
  const [flag, ...others] = given.length < 2 ? [] : known.filter((one) => given.startsWith(one) || one.endsWith(`-${given}`));
  return flag !== undefined && others.length === 0 ? `--${flag}` : null;
}

/** Throws CliError for a flag that takes no value and was given one, which would pass for an argument of the command. */
function refuseValues(argv: readonly string[], command: Command): void {
  const switched = findSwitch(argv, command);
  if (switched) throw usageError(`${switched.flag} takes no value: ${switched.instead}.`);
}

/** A flag that takes no value and was given one, as in `--public false`, and what to do instead; null if there is none. */
function findSwitch(argv: readonly string[], command: Command): { readonly flag: string; readonly instead: string } | null {
  const isSwitch = (word: string | undefined): boolean =>
    command.options.some((one) => one.long === word && !one.required && !one.optional);
  // Words after -- are another program's, or arguments.
  const own = argv.includes("--") ? argv.slice(0, argv.indexOf("--")) : argv;
  const at = own.findIndex((word, i) => /^(?:true|false)$/.test(word) && isSwitch(own[i - 1]));
  const flag = own[at - 1];
  if (flag === undefined) return null;
  const opposite = flag.startsWith("--no-") ? `--${flag.slice(5)}` : `--no-${flag.slice(2)}`;
  if (own[at] === "true") return { flag, instead: `write ${flag} alone` };
  return { flag, instead: isSwitch(opposite) ? `write ${opposite}` : "leave it out" };
}

function findServerUrl(session: Session | undefined): string | null {
  try {
    return session?.settings().url ?? null;
  } catch {
    return null;
  }
}
