import { join, relative } from "node:path";
import { fileFault } from "../folders/files.ts";
import { usageError } from "../runtime/errors.ts";
import type { Fault } from "../types.ts";
import type { TemplateFiles } from "./folder.ts";
import { getEntry, RENDERERS } from "./origin.ts";
import { RenderProcess } from "./render-process.ts";

/** A fault in a source, with its place. */
interface SourceFault extends Fault {
  readonly line?: number;
  readonly column?: number;
}

/** Renders the HTML of templates that are written as MJML or React Email; the others stay as they are. Adds faults in their sources. */
export async function renderSources(
  process: RenderProcess,
  dir: string,
  templates: readonly TemplateFiles[],
  faults: SourceFault[],
): Promise<TemplateFiles[]> {
  return Promise.all(templates.map((template) => renderSource(process, dir, template, faults)));
}

/** Renders as `renderSources` does, with its own process. */
export async function renderOnce(
  env: NodeJS.ProcessEnv,
  dir: string,
  templates: readonly TemplateFiles[],
  faults: SourceFault[],
): Promise<TemplateFiles[]> {
  using process = new RenderProcess(env);
  return await renderSources(process, dir, templates, faults);
}

async function renderSource(process: RenderProcess, dir: string, template: TemplateFiles, faults: SourceFault[]): Promise<TemplateFiles> {
  const { slug, renderedFrom, variables } = template;
  if (renderedFrom === null) return template;
  const entry = getEntry(renderedFrom);
  const answer = await process.render({ kind: renderedFrom.kind, file: join(dir, slug, entry), variables });
  if ("html" in answer) return { ...template, html: answer.html };
  if ("missing" in answer)
    throw usageError(`${slug}/${entry} is written as ${RENDERERS[renderedFrom.kind].label}, which your project has no packages for.`, {
      code: "packages_missing",
      hint: "They are looked for in node_modules, from the folder of the template upwards.",
      next: `npm install --save-dev ${answer.missing.join(" ")}`,
    });
  const { message, file, line, column } = answer.error;
  const path = relative(dir, file).replaceAll("\\", "/");
  const place = line === undefined ? {} : { line, column: column ?? 1 };
  faults.push({ ...fileFault(line === undefined ? path : `${path}:${line}:${column ?? 1}`, message, "template_error"), ...place });
  return template;
}
