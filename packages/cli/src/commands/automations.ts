import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { type AutomationDetail, type AutomationStats, buildAutomationSchema, contract } from "@mailsvc/sdk/contract";
import { Command, Option } from "commander";
import { type AutomationFile, type FileFault, formatPlace, listFiles, readFiles } from "../automations/file.ts";
import { automationNoun } from "../automations/noun.ts";
import { References } from "../automations/references.ts";
import { setOptionMetadata } from "../contract/metadata.ts";
import { resolveNames } from "../contract/names.ts";
import { checkInput } from "../contract/validate.ts";
import { dirOption, folderCommands, getDir } from "../folders/commands.ts";
import { type Run, runAction } from "../runtime/action.ts";
import { hasStatus, usageError } from "../runtime/errors.ts";
import { EXIT, type Exit } from "../runtime/exit.ts";
import { buildCall } from "../runtime/request.ts";
import { safeText } from "../text/safe-text.ts";
import type { Session, Style } from "../types.ts";
import { drawAutomation } from "../views/automation-graph.ts";

/** The commands of automations beyond the contract. */
export function automationCommands(run: Run): Command[] {
  return [showCommand(run), ...folderCommands(automationNoun, run), validateCommand(run), schemaCommand(run)];
}

/** `mailsvc automations show`: draws the steps with their numbers. */
function showCommand(run: Run): Command {
  const command = new Command("show")
    .summary("Draw the steps of an automation, with how many entries came to each")
    .description(
      "Draw the steps of an automation, with how many entries came to each, wait there now, went on, and were skipped there.\n\nThe numbers count all versions of the definition; steps are known by their ids.",
    )
    .argument("<id>", "Name or id of the automation")
    .addOption(setOptionMetadata(new Option("--version <number>", "An earlier version of its steps"), { type: "number" }))
    .addHelpText("after", "\nExamples:\n  mailsvc automations show Welcome\n  mailsvc automations show Welcome --json");
  return runAction(command, run, "connect", async (session, [given = ""], flags): Promise<Exit> => {
    const [id = given] = await resolveNames(session, contract.automations.get, [given]);
    const query = flags["version"] === undefined ? {} : { version: String(flags["version"]) };
    checkInput(contract.automations.get, query, undefined, (path) => (path === "version" ? "--version" : undefined));
    const automation = (await session.send(buildCall(contract.automations.get, [id], query, undefined))).data as AutomationDetail;
    const stats = (await session.send(buildCall(contract.automations.stats, [id], {}, undefined))).data as AutomationStats;
    const named = session.out.json ? automation : await withNames(session, automation);
    await session.out.data({ automation, stats }, () => drawAutomation(named, stats, session.term));
    return EXIT.ok;
  });
}

/** The automation with slugs and names in place of ids; as it is, if the key may not read them. */
async function withNames(session: Session, automation: AutomationDetail): Promise<AutomationDetail> {
  try {
    return await new References(session).toNames(automation);
  } catch (error) {
    if (hasStatus(error, 403)) return automation;
    throw error;
  }
}

/** `mailsvc automations validate`: checks files without a server. */
function validateCommand(run: Run): Command {
  const command = new Command("validate")
    .summary("Check the files of automations, without a server")
    .description(
      "Check the files of automations, without a server: fields, connections that lead nowhere, steps that cannot be reached, loops in which nothing waits.\n\nExit code 0 when all are valid, 3 when one is not. Whether templates, lists and segments exist is checked by push --dry-run and push.",
    )
    .argument("[paths...]", "Files, or folders of files; by default the folder of --dir")
    .addOption(dirOption(automationNoun))
    .addHelpText("after", "\nExamples:\n  mailsvc automations validate\n  mailsvc automations validate automations/welcome.json --json");
  return runAction(command, run, "local", async (session, [given = []], flags): Promise<Exit> => {
    const paths = (given as readonly string[]).map((path) => resolve(session.host.cwd, path));
    const dir = getDir(session, automationNoun, flags);
    for (const path of paths) if (!existsSync(path)) throw usageError(`${path} is not there.`);
    const files = (paths.length === 0 ? [dir] : paths).flatMap((path) =>
      existsSync(path) && statSync(path).isFile() ? [path] : listFiles(path),
    );
    if (files.length === 0)
      throw usageError(`No automations found in ${paths.join(", ") || dir}. ${automationNoun.shape}`, { next: "mailsvc automations pull" });
    const { found, faults } = await readFiles(files);
    const valid = [...found.values()].map(({ name, origin, steps }) => ({ file: origin?.file ?? "", name, steps: steps.length }));
    await session.out.data({ valid, faults: faults.map(({ name: _, ...fault }) => fault) }, () =>
      formatValidation([...found.values()], faults, session.term.out),
    );
    return faults.length > 0 ? EXIT.validation : EXIT.ok;
  });
}

/** `mailsvc automations schema`: prints the JSON Schema of a file. */
function schemaCommand(run: Run): Command {
  const command = new Command("schema")
    .summary("Print the JSON Schema of an automation's file, for editors")
    .description(
      "Print the JSON Schema of an automation's file, for editors. `pull` writes it next to the files, which name it in $schema; it is also in the package @mailsvc/sdk as automation.schema.json.",
    )
    .addHelpText("after", "\nExamples:\n  mailsvc automations schema > automations/automation.schema.json");
  return runAction(command, run, "local", async (session) => {
    await session.out.text(`${JSON.stringify(buildAutomationSchema(), null, 2)}\n`);
    return EXIT.ok;
  });
}

function formatValidation(valid: readonly AutomationFile[], faults: readonly FileFault[], style: Style): string {
  return [
    ...valid.map(
      ({ name, origin, steps }) =>
        `${style.green("valid")} ${safeText(origin?.file ?? "")}  ${safeText(name)}${style.dim(`  ${steps.length} ${steps.length === 1 ? "step" : "steps"}`)}`,
    ),
    ...faults.map((fault) => `${style.red("fault")} ${style.bold(safeText(formatPlace(fault)))}  ${safeText(fault.message)}`),
  ].join("\n");
}
