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
import { batchCommand } from "./commands/batch.ts";
import { campaignFieldsCommand, campaignPreviewCommand, campaignSendCommand } from "./commands/campaigns.ts";
import { commandsCommand } from "./commands/commands.ts";
import { completeCommand, completionCommand } from "./commands/completion.ts";
import { configCommand } from "./commands/config.ts";
import { docsCommand } from "./commands/docs.ts";
import { doctorCommand } from "./commands/doctor.ts";
import { emailGetCommand } from "./commands/email-get.ts";
import { envCommand } from "./commands/env.ts";
import { errorsCommand } from "./commands/errors.ts";
import { expectNoneCommand } from "./commands/expect-none.ts";
import { exportCommand } from "./commands/export.ts";
import { importCommand } from "./commands/import.ts";
import { lintCommand } from "./commands/lint.ts";
import { listenCommand } from "./commands/listen.ts";
import { mcpCommand } from "./commands/mcp.ts";
import { migrateCommand } from "./commands/migrate.ts";
import { moveCommand } from "./commands/move.ts";
import { planCommand } from "./commands/plans.ts";
import { recipientsCommand } from "./commands/recipients.ts";
import { recoverKeyCommand } from "./commands/recover-key.ts";
import { replayCommand } from "./commands/replay.ts";
import { rotateKeyCommand } from "./commands/rotate-key.ts";
import { runLogCommand } from "./commands/run-log.ts";
import { sendCommand } from "./commands/send.ts";
import { serveCommands } from "./commands/serve.ts";
import { signatureCommand } from "./commands/signature.ts";
import { previewCommand, templateCommands } from "./commands/templates.ts";
import { triggerCommand } from "./commands/trigger.ts";
import { undoImportCommand } from "./commands/undo-import.ts";
import { getHelpGroup, listCommandSpecs, NOUNS } from "./contract/command-map.ts";
import { isHidden } from "./contract/command-tree.ts";
import { buildEndpointCommand } from "./contract/endpoint-command.ts";
import type { Run } from "./runtime/action.ts";
import type { CommandSpec } from "./types.ts";

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
  "campaigns.preview": campaignPreviewCommand,
  "campaigns.recipients": recipientsCommand,
  "campaigns.send": campaignSendCommand,
  "emails.get": emailGetCommand,
  "emails.send": sendCommand,
  "emails.sendBatch": batchCommand({ items: "emails", example: "--file mails.ndjson --mode permissive" }),
  "events.trackBatch": batchCommand({ items: "events", example: "--file events.ndjson --create-contacts" }),
  "lint.check": lintCommand,
  "templates.preview": previewCommand,
  "contacts.export": exportCommand,
  "contacts.import": importCommand,
  "contacts.undoImport": undoImportCommand,
  "suppressions.import": importCommand,
};

/**
 * Adds all commands to the program: the contract's that the command line needs, and those beyond the contract. Loads the contract
 * and every command.
 */
export async function addAllCommands(program: Command, run: Run, argv: readonly string[]): Promise<void> {
  const withServeFlags = argv.some((word) => NEED_SERVE_FLAGS.has(word));
  for (const command of [
    ...(await serveCommands(run, withServeFlags)),
    listenCommand(run),
    replayCommand(run),
    triggerCommand(run),
    mcpCommand(run),
  ])
    program.addCommand(command.helpGroup("Local development:"));
  addContractCommands(program, run, isNounRequested(argv));
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
    rotateKeyCommand(run),
    migrateCommand(run),
    moveCommand(run),
  ])
    program.addCommand(command.helpGroup("Setup:"));
  for (const command of [
    docsCommand(run),
    apiCommand(run),
    signatureCommand(run),
    errorsCommand(run),
    commandsCommand(run, program),
    completionCommand(run),
  ])
    program.addCommand(command.helpGroup("More:"));
  program.addCommand(completeCommand(run, program), { hidden: true });
}

/** A command as the overview lists it. */
export interface OverviewEntry {
  name: string;
  usage: string;
  about: string;
  group: string;
}

/** Lists the entries of `mailsvc --help`. They are generated into overview.generated.ts, so that the overview loads no commands. */
export async function listOverview(run: Run): Promise<OverviewEntry[]> {
  const program = new Command("mailsvc");
  await addAllCommands(program, run, []);
  return program.commands
    .filter((command) => !isHidden(command))
    .map((command) => ({
      name: command.name(),
      usage: command.usage(),
      about: command.summary() || command.description(),
      group: command.helpGroup(),
    }));
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
    if (spec.coveredBy !== undefined) continue;
    const noun = spec.words.slice(0, -1);
    const above = noun.length === 0 ? program : nounOf(noun);
    if (!isRequested(noun)) continue;
    const command = (CUSTOM_COMMANDS[spec.id] ?? buildEndpointCommand)(spec, run);
    above.addCommand(noun.length === 0 ? command.helpGroup(getHelpGroup(command.name())) : command, { hidden: spec.hidden === true });
  }
  if (isRequested(["agent"])) nouns.get("agent")?.addHelpText("after", AGENT);
  const extra = {
    templates: templateCommands,
    automations: automationCommands,
    approvals: approvalCommands,
    inbox: (given: Run) => [expectNoneCommand(given)],
    agent: (given: Run) => [agentCheckCommand(given), agentDevCommand(given), agentInitCommand(given)],
  };
  for (const [noun, commands] of Object.entries(extra))
    if (isRequested([noun])) for (const command of commands(run)) nouns.get(noun)?.addCommand(command);
}

// `commands` lists everything. Any other call, help or completion has its noun among the words.
function isNounRequested(argv: readonly string[]) {
  return (noun: readonly string[]): boolean => argv.includes("commands") || noun.every((word) => argv.includes(word));
}
