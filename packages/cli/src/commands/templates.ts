import { writeFileSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { contract, type TemplateDetail } from "@mailsvc/sdk/contract";
import { Command, Option } from "commander";
import { confirmDestructive } from "../contract/execute.ts";
import { listFields } from "../contract/fields.ts";
import { addField } from "../contract/flags.ts";
import { readInput } from "../contract/input.ts";
import { setCommandMetadata, setOptionMetadata } from "../contract/metadata.ts";
import { checkInput, mapPathsToFlags } from "../contract/validate.ts";
import { type Flags, type Run, runAction } from "../runtime/action.ts";
import { usageError } from "../runtime/errors.ts";
import { EXIT, type Exit } from "../runtime/exit.ts";
import { buildCall } from "../runtime/request.ts";
import { safeLines, safeText } from "../runtime/safe-text.ts";
import { diffFields, listDependencies, planChanges } from "../templates/changes.ts";
import { isSlug, readFolder, removeTemplate, type TemplateFiles, writeTemplate } from "../templates/folder.ts";
import { applyChange, type Outcome } from "../templates/push.ts";
import { readStoredTemplates } from "../templates/stored.ts";
import type { CommandSpec, Session } from "../types.ts";
import { formatOutcomes, formatPlan, planToJson } from "../views/templates.ts";

const DIR = "templates";

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
    .addOption(dirOption())
    .option("--html", "Print the HTML only")
    .option("--text", "Print the text only")
    .addOption(setOptionMetadata(new Option("--out <file>", "Write the HTML to a file, to open it in a browser"), { type: "file" }))
    .addHelpText(
      "after",
      "\nExamples:\n  mailsvc templates preview welcome --variable name=Ada\n  mailsvc templates preview welcome --variable 'order:=@order.json' --out preview.html\n  mailsvc templates preview tpl_01jc3v2m9k8q4w6x0y5z7a1b2c --html",
    );
  return runAction(command, run, "write", async (session, [id = ""], flags): Promise<Exit> => {
    session.flagOf = mapPathsToFlags(fields);
    session.spec = spec;
    const { body = {} } = await readInput(session, previewEndpoint, fields, flags);
    let call = buildCall(previewEndpoint, [id], {}, body);
    if (/^tpl_/.test(id)) checkInput(previewEndpoint, {}, body, session.flagOf);
    else {
      if (body["version"] !== undefined) throw usageError("--version is only for templates on the server.");
      const path = resolve(session.host.cwd, id);
      const slug = basename(path);
      const dir = id.includes("/") ? dirname(path) : getDir(session, flags);
      const local = readFolder(dir);
      const template = local.get(slug);
      if (!template)
        throw usageError(`Template ${safeText(slug)} not found in ${dir}.`, {
          hint: "Name a slug of the folder, or the id of a template on the server: tpl_…",
        });
      if (template.kind !== "HTML") throw usageError(`${slug} is of kind ${template.kind}, which cannot be rendered.`);
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
  return [pushCommand(run), pullCommand(run), diffCommand(run)];
}

function dirOption(): Option {
  return setOptionMetadata(new Option("--dir <folder>", "Folder of the templates").default(DIR), { type: "file", default: DIR });
}

function getDir({ host }: Session, flags: Flags): string {
  return resolve(host.cwd, String(flags["dir"] ?? DIR));
}

function parseSlugs(args: readonly unknown[]): string[] {
  const slugs = ((args[0] as string[] | undefined) ?? []).map((slug) => slug.replace(/\/+$/, "").split("/").at(-1) ?? "");
  for (const slug of slugs) if (!isSlug(slug)) throw usageError(`"${slug}" is not a slug.`);
  return slugs;
}

function pick<T>(all: ReadonlyMap<string, T>, only: readonly string[]): Map<string, T> {
  return new Map([...all].filter(([slug]) => only.length === 0 || only.includes(slug)));
}

function readLocal(session: Session, flags: Flags, only: readonly string[]): Map<string, TemplateFiles> {
  const dir = getDir(session, flags);
  const local = pick(readFolder(dir), only);
  const missing = only.filter((slug) => !local.has(slug));
  if (missing.length > 0) throw usageError(`Template ${missing.join(", ")} not found in ${dir}.`);
  if (local.size === 0)
    throw usageError(`No templates found in ${dir}. A template is a folder with a template.json.`, {
      hint: "Pull the server's templates first, or name another folder with --dir.",
      next: "mailsvc templates pull",
    });
  return local;
}

function pushCommand(run: Run): Command {
  const command = new Command("push")
    .description("Upload a folder of templates to the server")
    .argument("[slugs...]", "Only these templates; all of the folder by default")
    .addOption(dirOption())
    .option("--publish", "Publish the pushed templates")
    .option("--prune", "Delete templates from the server that are not in the folder")
    .addHelpText(
      "after",
      "\nExamples:\n  mailsvc templates push --dry-run\n  mailsvc templates push --publish\n  mailsvc templates push --publish --prune --yes\n\nExit code 11 when some templates could not be pushed.",
    );
  return runAction(command, run, "write", async (session, args, flags): Promise<Exit> => {
    const only = parseSlugs(args);
    const prune = flags["prune"] === true;
    if (prune && only.length > 0) throw usageError("--prune compares the whole folder, so it takes no slugs.");
    const local = readLocal(session, flags, only);
    const options = { prune, publish: flags["publish"] === true };
    const changes = planChanges(local, await readStoredTemplates(session, only), options);
    if (session.globals.dryRun) {
      await session.out.data(planToJson(changes), () => formatPlan(changes, session.term.out));
      session.out.note(session.term.err.dim("Nothing was changed."));
      return EXIT.ok;
    }
    const doomed = changes.filter((change) => change.change === "delete").map((change) => change.slug);
    if (doomed.length > 0) await confirmDestructive(session, "templates push --prune", `(deletes ${doomed.join(", ")})`);
    const outcomes: Outcome[] = [];
    const progress = session.progress("Pushing");
    try {
      for (const change of changes) {
        progress.update(`Pushing ${change.slug}, ${outcomes.length} of ${changes.length}`);
        outcomes.push(await applyChange(session, change, options.publish));
      }
    } finally {
      progress.stop();
    }
    const failed = outcomes.filter((outcome) => outcome.error !== undefined).length;
    const unchanged = local.size - changes.filter((change) => change.local).length;
    await session.out.data({ data: outcomes, unchanged, failed }, () => formatOutcomes(outcomes, unchanged, session.term.out));
    return failed > 0 ? EXIT.partial : EXIT.ok;
  });
}

function pullCommand(run: Run): Command {
  const command = new Command("pull")
    .description("Download the server's templates into a folder")
    .argument("[slugs...]", "Only these templates; all of the server by default")
    .addOption(dirOption())
    .option("--prune", "Remove templates from the folder that are not on the server")
    .addHelpText("after", "\nExamples:\n  mailsvc templates pull\n  mailsvc templates pull welcome --dir mails --yes");
  return runAction(command, run, "write", async (session, args, flags): Promise<Exit> => {
    const only = parseSlugs(args);
    const dir = getDir(session, flags);
    const stored = await readStoredTemplates(session, only);
    const missing = only.filter((slug) => !stored.has(slug));
    if (missing.length > 0)
      throw usageError(`Template ${missing.join(", ")} not found on the server.`, { code: "not_found", exit: EXIT.notFound });
    const local = pick(readFolder(dir), only);
    const written = [...stored.values()].filter(({ files }) => {
      const mine = local.get(files.slug);
      return !mine || diffFields(mine, files).length > 0;
    });
    const over = written.filter(({ files }) => local.has(files.slug)).map(({ files }) => files.slug);
    const removed = flags["prune"] === true && only.length === 0 ? [...local.keys()].filter((slug) => !stored.has(slug)) : [];
    const answer = { dir, written: written.map(({ files }) => files.slug), removed, unchanged: stored.size - written.length };
    if (!session.globals.dryRun) {
      const lost = [...over, ...removed];
      if (lost.length > 0) await confirmDestructive(session, "templates pull", `(replaces ${lost.join(", ")} in ${dir})`);
      for (const { files } of written) writeTemplate(dir, files);
      for (const slug of removed) removeTemplate(dir, slug);
    }
    const { out } = session.term;
    await session.out.data(answer, () =>
      [
        ...answer.written.map((slug) => `${out.green("wrote")} ${safeText(slug)}`),
        ...removed.map((slug) => `${out.red("removed")} ${safeText(slug)}`),
        out.dim(`${answer.unchanged} unchanged, in ${dir}`),
      ].join("\n"),
    );
    if (session.globals.dryRun) session.out.note(session.term.err.dim("Nothing was written."));
    return EXIT.ok;
  });
}

function diffCommand(run: Run): Command {
  const command = new Command("diff")
    .summary("Show how a folder differs from the server's drafts")
    .description(
      "Show how a folder differs from the server's drafts: + lines are the folder's, - lines the server's.\n\nExit code 0 when they are the same, 1 when they differ.",
    )
    .argument("[slugs...]", "Only these templates; all by default")
    .addOption(dirOption());
  return runAction(command, run, "connect", async (session, args, flags): Promise<Exit> => {
    const only = parseSlugs(args);
    const local = pick(readFolder(getDir(session, flags)), only);
    const changes = planChanges(local, await readStoredTemplates(session, only), { prune: true });
    await session.out.data(planToJson(changes), () => formatPlan(changes, session.term.out, true));
    if (changes.length === 0) session.out.note(session.term.err.dim("No differences."));
    return changes.length === 0 ? EXIT.ok : EXIT.differs;
  });
}

/** Builds the body that renders files, with the layout and partials of the same folder. */
function renderBody(local: ReadonlyMap<string, TemplateFiles>, template: TemplateFiles, variables: unknown) {
  const parts: Record<string, unknown> = {};
  const waiting = listDependencies(template);
  for (let slug = waiting.shift(); slug !== undefined; slug = waiting.shift()) {
    const part = local.get(slug);
    if (!part || Object.hasOwn(parts, slug)) continue;
    parts[slug] = { html: part.html, text: part.text, declare: part.variables };
    waiting.push(...listDependencies(part));
  }
  const { type, subject, html, text, layout } = template;
  return { type, subject, html, text, layout, declare: template.variables, ...(variables === undefined ? {} : { variables }), parts };
}

async function showPreview(session: Session, flags: Flags, data: unknown): Promise<void> {
  const { subject, html, text, missingVariables = [] } = data as Partial<TemplateDetail> & { missingVariables?: string[] };
  const { err, out } = session.term;
  if (missingVariables.length > 0) session.out.note(`${err.yellow("missing")} ${safeText(missingVariables.join(", "))}`);
  if (flags["out"] !== undefined) {
    const file = resolve(session.host.cwd, String(flags["out"]));
    writeFileSync(file, (flags["text"] === true ? text : html) ?? text ?? "");
    await session.out.data({ file, missingVariables }, () => file);
  } else if (flags["html"] === true) await session.out.text(html ?? "");
  else if (flags["text"] === true) await session.out.text(text ?? "");
  else await session.out.data(data, () => `${out.bold(safeText(subject ?? "(no subject)"))}\n\n${safeLines(text ?? "(no text)")}`);
}
