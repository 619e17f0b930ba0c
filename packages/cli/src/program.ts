import { Command } from "commander";
import { loginCommand, logoutCommand, profilesCommand } from "./commands/account.ts";
import { activateCommand } from "./commands/activate.ts";
import { agentCheckCommand } from "./commands/agent-check.ts";
import { agentDevCommand } from "./commands/agent-dev.ts";
import { agentInitCommand } from "./commands/agent-init.ts";
import { apiCommand } from "./commands/api.ts";
import { approvalCommands } from "./commands/approvals.ts";
import { automationCommands } from "./commands/automations.ts";
import { backupCommand, restoreCommand } from "./commands/backup.ts";
import { campaignFieldsCommand, campaignSendCommand } from "./commands/campaigns.ts";
import { commandsCommand } from "./commands/commands.ts";
import { completeCommand, completionCommand } from "./commands/completion.ts";
import { configCommand } from "./commands/config.ts";
import { doctorCommand } from "./commands/doctor.ts";
import { envCommand } from "./commands/env.ts";
import { errorsCommand } from "./commands/errors.ts";
import { exportCommand } from "./commands/export.ts";
import { importCommand } from "./commands/import.ts";
import { migrateCommand } from "./commands/migrate.ts";
import { planCommand } from "./commands/plans.ts";
import { recoverKeyCommand } from "./commands/recover-key.ts";
import { runLogCommand } from "./commands/run-log.ts";
import { sendCommand } from "./commands/send.ts";
import { serveCommands } from "./commands/serve.ts";
import { signatureCommand } from "./commands/signature.ts";
import { previewCommand, templateCommands } from "./commands/templates.ts";
import { getHelpGroup, listCommandSpecs, NOUNS } from "./contract/command-map.ts";
import { buildEndpointCommand } from "./contract/endpoint-command.ts";
import type { Run } from "./runtime/action.ts";
import { addGlobals } from "./runtime/globals.ts";
import { formatHelp } from "./runtime/help.ts";
import type { CommandSpec, Host, Terminal } from "./types.ts";

const EXAMPLES = `
Examples:
  mailsvc dev                                       a server on this machine, with a live screen
  mailsvc send --from hello@acme.example --to ada@example.com --subject Hello --text "It works."
  mailsvc emails list --status bounced
  mailsvc inbox wait --to ada@example.com

Data goes to stdout, everything else to stderr. In a pipe, data is JSON.`;

const AGENT = `
Both are sent to the agent's webhook with agent.activated:
  export MAILSVC_AGENT_KEY=ms_agent_… MAILSVC_ACTIVATION_ID=act_…`;

// Commands that need the server's flags. All others start without loading the server.
const NEED_SERVE_FLAGS: ReadonlySet<string> = new Set(["serve", "dev", "commands"]);

// Endpoints whose command does more than send their fields: files, waiting, folders.
const CUSTOM_COMMANDS: Readonly<Record<string, (spec: CommandSpec, run: Run) => Command>> = {
  "activations.create": activateCommand,
  "agent.runs.log": runLogCommand,
  "plans.change": planCommand,
  "campaigns.create": campaignFieldsCommand,
  "campaigns.update": campaignFieldsCommand,
  "campaigns.send": campaignSendCommand,
  "emails.send": sendCommand,
  "templates.preview": previewCommand,
  "contacts.export": exportCommand,
  "contacts.import": importCommand,
  "suppressions.import": importCommand,
};

/**
 * Builds the program: the contract's commands that the command line needs, and the commands beyond the contract. `run`
 * receives the outcome of the selected command; `write` receives help and version.
 */
export async function createProgram(host: Host, term: Terminal, run: Run, write: (text: string) => void): Promise<Command> {
  const program = new Command("mailsvc")
    .description("Send email, and run the whole service on your own machine")
    .version(host.version, "-V, --version", "The version");
  const withServeFlags = host.argv.some((word) => NEED_SERVE_FLAGS.has(word));
  for (const command of await serveCommands(run, withServeFlags)) program.addCommand(command.helpGroup("Local development:"));
  addContractCommands(program, run, isNounRequested(host.argv));
  for (const command of [
    loginCommand(run),
    logoutCommand(run),
    profilesCommand(run),
    configCommand(run),
    envCommand(run),
    doctorCommand(run),
    backupCommand(run),
    restoreCommand(run),
    recoverKeyCommand(run),
    migrateCommand(run),
  ])
    program.addCommand(command.helpGroup("Setup:"));
  for (const command of [apiCommand(run), signatureCommand(run), errorsCommand(run), commandsCommand(run, program), completionCommand(run)])
    program.addCommand(command.helpGroup("More:"));
  program.addCommand(completeCommand(run, program), { hidden: true });
  addGlobals(program, "write");
  program.addHelpText("after", EXAMPLES);
  configureCommand(program, host, term, write);
  return program;
}

/**
 * Adds the commands of the contract. Only nouns that `isRequested` accepts get their verbs, because building all commands
 * would double the start time.
 */
function addContractCommands(program: Command, run: Run, isRequested: (noun: readonly string[]) => boolean): void {
  const nouns = new Map<string, Command>();
  /** The command of a noun, `emails` or `agent runs`; created with its parents on first use. */
  const nounOf = (words: readonly string[]): Command => {
    const name = words.join(" ");
    const known = nouns.get(name);
    if (known) return known;
    const [last = ""] = words.slice(-1);
    const above = words.length > 1 ? nounOf(words.slice(0, -1)) : program;
    const made = new Command(last).description(NOUNS[name]?.summary ?? NOUNS[last]?.summary ?? last);
    nouns.set(name, made);
    above.addCommand(words.length > 1 ? made : made.helpGroup(getHelpGroup(name)));
    return made;
  };
  for (const spec of listCommandSpecs()) {
    const noun = spec.words.slice(0, -1);
    const above = noun.length === 0 ? program : nounOf(noun);
    if (!isRequested(noun) || spec.coveredBy !== undefined) continue;
    const command = (CUSTOM_COMMANDS[spec.id] ?? buildEndpointCommand)(spec, run);
    above.addCommand(noun.length === 0 ? command.helpGroup(getHelpGroup(command.name())) : command, { hidden: spec.hidden === true });
  }
  if (isRequested(["agent"])) nouns.get("agent")?.addHelpText("after", AGENT);
  const beside = {
    templates: templateCommands,
    automations: automationCommands,
    approvals: approvalCommands,
    agent: (given: Run) => [agentCheckCommand(given), agentDevCommand(given), agentInitCommand(given)],
  };
  for (const [noun, commands] of Object.entries(beside))
    if (isRequested([noun])) for (const command of commands(run)) nouns.get(noun)?.addCommand(command);
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

// `commands` lists everything. Any other call, help or completion has its noun among the words.
function isNounRequested(argv: readonly string[]) {
  return (noun: readonly string[]): boolean => argv.includes("commands") || noun.every((word) => argv.includes(word));
}
