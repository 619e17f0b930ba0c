import { Command } from "commander";
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
  mailsvc emails list --status bounced
  mailsvc inbox wait --to ada@example.com

Data goes to stdout, everything else to stderr. In a pipe, data is JSON.`;

/**
 * Builds the program with the commands that this command line needs. `run` receives the outcome of the selected command; `write`
 * receives help and version.
 */
export async function createProgram(host: Host, term: Terminal, run: Run, write: (text: string) => void): Promise<Command> {
  const program = new Command("mailsvc")
    .description("Send email, and run the whole service on your own machine")
    .version(host.version, "-V, --version", "The version");
  await addCommands(program, run, host.argv);
  addGlobals(program, "write");
  program.addHelpText("after", EXAMPLES);
  configureCommand(program, host, term, write);
  return program;
}

/** The overview and the server are started without the contract, which takes half the time of a start. */
async function addCommands(program: Command, run: Run, argv: readonly string[]): Promise<void> {
  const [first, ...more] = argv;
  if (first === "serve" || first === "dev") {
    for (const command of await serveCommands(run, true)) program.addCommand(command);
  } else if (more.length === 0 && (first === undefined || first === "--help" || first === "-h")) {
    for (const { name, usage, about, group } of OVERVIEW)
      program.addCommand(new Command(name).usage(usage).description(about).helpGroup(group));
  } else {
    const { addAllCommands } = await import("./all-commands.ts");
    await addAllCommands(program, run, argv);
  }
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
