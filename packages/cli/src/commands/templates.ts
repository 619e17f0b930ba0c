import { basename, dirname, resolve } from "node:path";
import { contract } from "@mailsvc/sdk/contract";
import { Command, InvalidArgumentError, Option } from "commander";
import { listFields } from "../contract/fields.ts";
import { addField } from "../contract/flags.ts";
import { readInput } from "../contract/input.ts";
import { setCommandMetadata } from "../contract/metadata.ts";
import { checkInput, mapPathsToFlags } from "../contract/validate.ts";
import { dirOption, folderCommands, getDir } from "../folders/commands.ts";
import { type Run, runAction } from "../runtime/action.ts";
import { usageError } from "../runtime/errors.ts";
import { EXIT, type Exit } from "../runtime/exit.ts";
import { buildCall } from "../runtime/request.ts";
import { templateNoun } from "../templates/noun.ts";
import { RenderProcess } from "../templates/render-process.ts";
import { renderBody, renderUsed, watchPreview } from "../templates/watch.ts";
import type { CommandSpec } from "../types.ts";
import { addPreviewOptions, showPreview } from "./preview.ts";

const previewEndpoint = contract.templates.preview;

/** `mailsvc templates preview`: renders a stored template, or files of a folder before they are pushed. */
export function previewCommand(spec: CommandSpec, run: Run): Command {
  const fields = listFields(previewEndpoint);
  const command = setCommandMetadata(new Command(spec.words.at(-1)), spec)
    .summary(previewEndpoint.summary)
    .description(
      `${previewEndpoint.summary}.\n\nA name without tpl_ is a slug in the folder, whose files are rendered before they are pushed.`,
    )
    .argument("<id>", "Id of a template on the server (tpl_…), or a slug in the folder");
  for (const field of fields) addField(command, field);
  command
    .option("--data <json>", "The whole body: JSON, @file or - for stdin; flags override it")
    .addOption(dirOption(templateNoun))
    .option("--watch", "Show it in a page on this machine, rendered again whenever a file changes")
    .addOption(new Option("--port <n>", "Port of that page (default: any that is free)").argParser(parsePort))
    .addHelpText(
      "after",
      "\nExamples:\n  mailsvc templates preview welcome --variable name=Ada\n  mailsvc templates preview welcome --variable name=Ada --watch\n  mailsvc templates preview welcome --variable 'order:=@order.json' --out preview.html\n  mailsvc templates preview tpl_01jc3v2m9k8q4w6x0y5z7a1b2c --html",
    );
  addPreviewOptions(command);
  return runAction(command, run, "write", async (session, [id = ""], flags): Promise<Exit> => {
    session.flagOf = mapPathsToFlags(fields);
    session.spec = spec;
    const { body = {} } = await readInput(session, previewEndpoint, fields, flags);
    if (flags["watch"] === true && /^tpl_/.test(id)) throw usageError("--watch shows the files of a folder: name a slug.");
    let call = buildCall(previewEndpoint, [id], {}, body);
    if (/^tpl_/.test(id)) checkInput(previewEndpoint, {}, body, session.flagOf);
    else {
      if (body["version"] !== undefined) throw usageError("--version is only for templates on the server.");
      const path = resolve(session.host.cwd, id);
      const slug = basename(path);
      const dir = id.includes("/") ? dirname(path) : getDir(session, templateNoun, flags);
      if (flags["watch"] === true) {
        await watchPreview(session, { dir, slug, variables: body["variables"], port: Number(flags["port"] ?? 0) });
        return EXIT.ok;
      }
      using process = new RenderProcess(session.host.env);
      const { local, template } = await renderUsed(process, dir, slug);
      if (template.kind === "JSON_BLOCKS") throw usageError(`${slug} is of kind ${template.kind}, which cannot be rendered.`);
      call = buildCall(contract.templates.render, [], {}, renderBody(local, template, body["variables"]));
    }
    if (session.globals.dryRun) {
      await session.printDryRun(call);
      return EXIT.ok;
    }
    const progress = session.progress("Rendering");
    const { data } = await session.send(call).finally(() => progress.stop());
    await showPreview(session, flags, data);
    return EXIT.ok;
  });
}

/** The template commands beyond the contract. */
export function templateCommands(run: Run): Command[] {
  return folderCommands(templateNoun, run);
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65535) throw new InvalidArgumentError("A port from 0 to 65535 is needed.");
  return port;
}
