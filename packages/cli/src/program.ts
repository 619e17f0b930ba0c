import { Command } from "commander";
import type { OverviewEntry } from "./all-commands.ts";
import { serveCommands } from "./commands/serve.ts";
import { OVERVIEW } from "./overview.generated.ts";
import type { Run } from "./runtime/action.ts";
import { addGlobals } from "./runtime/globals.ts";
import { formatHelp } from "./runtime/help.ts";
import type { Host, Terminal } from "./types.ts";

const EXAMPLES = `
Examples:
  mailsvc dev                                       a server on this machine, with a live screen
  mailsvc send --from hello@acme.example --to ada@example.com --subject Hello --text "It works."
  mailsvc inbox wait --to ada@example.com`;
const STREAMS = "\nData goes to stdout, everything else to stderr. In a pipe, data is JSON.";

/** The commands that the first help lists, by what they are for. `--help --all` lists them all. */
const FIRST_COMMANDS: Readonly<Record<string, readonly string[]>> = {
  "Begin:": ["dev", "serve", "doctor"],
  "Send, and see what happens:": ["send", "inbox", "emails", "why", "clock", "events", "listen"],
  "Reach many people:": ["contacts", "lists", "templates", "campaigns", "automations"],
  "Run it:": ["keys", "webhooks", "relays", "backup"],
};

const ALL_COMMANDS = `

All ${OVERVIEW.length} commands, and the flags they share: mailsvc --help --all
The flags of one command: mailsvc send --help`;

/**
 * Builds the program with the commands that this command line needs. `run` receives the outcome of the selected command; `write`
 * receives help and version.
 */
export async function createProgram(host: Host, term: Terminal, run: Run, write: (text: string) => void): Promise<Command> {
  const program = new Command("mailsvc")
    .description("Send email, and run the whole service on your own machine")
    .version(host.version, "-V, --version", "The version");
  await addCommands(program, run, host.argv);
  const isShort = isOverview(host.argv) && !host.argv.includes(ALL);
  addGlobals(program, "write", isShort);
  program.addHelpText("after", EXAMPLES + (isShort ? ALL_COMMANDS : `\n${STREAMS}`));
  configureCommand(program, host, term, write);
  if (isShort) program.configureHelp({ ...program.configureHelp(), visibleOptions: () => [] });
  return program;
}

const ALL = "--all";
const OVERVIEW_WORDS: ReadonlySet<string> = new Set(["--help", "-h", ALL]);

/** True if a command line asks for no command, but for help at most. */
function isOverview(argv: readonly string[]): boolean {
  return argv.every((word) => OVERVIEW_WORDS.has(word)) && argv.join(" ") !== ALL;
}

/** The overview and the server are started without the contract, which takes half the time of a start. */
async function addCommands(program: Command, run: Run, argv: readonly string[]): Promise<void> {
  const [first] = argv;
  if (first === "serve" || first === "dev") {
    for (const command of await serveCommands(run, true, !argv.includes(ALL))) program.addCommand(command);
  } else if (isOverview(argv)) {
    for (const { name, usage, about, group } of listOverview(argv.includes(ALL)))
      program.addCommand(new Command(name).usage(usage).description(about).helpGroup(group));
  } else {
    const { addAllCommands } = await import("./all-commands.ts");
    await addAllCommands(program, run, argv);
  }
}

/** The commands of the overview: all, or those that one begins with. */
function listOverview(all: boolean): readonly OverviewEntry[] {
  if (all) return OVERVIEW;
  return Object.entries(FIRST_COMMANDS).flatMap(([group, names]) =>
    names.flatMap((name) => OVERVIEW.filter((entry) => entry.name === name).map((entry) => ({ ...entry, usage: "", group }))),
  );
}

// Sets what commander needs on every command: errors thrown instead of exits, our streams, our colours.
function configureCommand(command: Command, host: Host, term: Terminal, write: (text: string) => void): void {
  command.exitOverride().helpCommand(false).helpOption("-h, --help", "Help for this command").showSuggestionAfterError(true);
  if (command.commands.length > 0) command.enablePositionalOptions();
  command.configureOutput({
    writeOut: write,
    writeErr: (text) => host.stderr.write(text),
    outputError: () => {},
    getOutHelpWidth: () => Math.min(term.columns, 120),
    getErrHelpWidth: () => Math.min(term.columns, 120),
    getOutHasColors: () => true,
    getErrHasColors: () => true,
  });
  command.configureHelp({
    formatHelp,
    styleTitle: (text) => term.out.bold(text),
    styleCommandText: (text) => term.out.cyan(text),
    styleSubcommandTerm: (text) => term.out.cyan(text),
    styleOptionTerm: (text) => term.out.cyan(text),
    subcommandTerm: (c) =>
      `${c.name()} ${c
        .usage()
        .replaceAll(/\[(?:options|command)\]/g, "")
        .trim()}`.trim(),
  });
  for (const child of command.commands) {
    // A noun takes the global flags too: `mailsvc emails --json list`.
    if (child.commands.length > 0) addGlobals(child, "write", true);
    configureCommand(child, host, term, write);
  }
}
