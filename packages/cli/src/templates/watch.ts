import { watch } from "node:fs";
import { contract, VariableDeclaration } from "@mailsvc/sdk/contract";
import { invalidInput, toFailure, usageError } from "../runtime/errors.ts";
import { buildCall } from "../runtime/request.ts";
import { safeLines, safeText } from "../text/safe-text.ts";
import type { Fault, Session } from "../types.ts";
import { listDependencies } from "./changes.ts";
import { readSources, type TemplateFiles } from "./folder.ts";
import { PreviewServer, type PreviewState } from "./preview-server.ts";
import { RenderProcess } from "./render-process.ts";
import { renderSources } from "./rendering.ts";

/** Template being previewed. */
interface Watched {
  readonly dir: string;
  readonly slug: string;
  readonly variables: unknown;
  readonly port: number;
}

/** Builds the body that renders files, with the layout and partials of the same folder. */
export function renderBody(local: ReadonlyMap<string, TemplateFiles>, template: TemplateFiles, variables: unknown) {
  const parts: Record<string, unknown> = {};
  const waiting = listDependencies(template);
  for (let slug = waiting.shift(); slug !== undefined; slug = waiting.shift()) {
    const part = local.get(slug);
    if (!part || Object.hasOwn(parts, slug)) continue;
    parts[slug] = { html: part.html, text: part.text, declare: part.variables };
    waiting.push(...listDependencies(part));
  }
  const { type, kind, subject, html, text, blocks, layout } = template;
  const content = kind === "BLOCKS" ? { blocks: blocks ?? [] } : { html, layout };
  return { type, subject, text, ...content, declare: template.variables, ...(variables === undefined ? {} : { variables }), parts };
}

/** A template of a folder, rendered, and with it the layout and the partials that it uses. */
interface Used {
  readonly template: TemplateFiles;
  readonly local: ReadonlyMap<string, TemplateFiles>;
}

/** Reads and renders a template of a folder with what it uses, whatever is wrong with the others. Throws CliError that names each faulty file. */
export async function renderUsed(process: RenderProcess, dir: string, slug: string): Promise<Used> {
  const faults: Fault[] = [];
  const sources = readSources(dir, faults);
  const local = new Map<string, TemplateFiles>();
  // Grows while it is read: which parts a source uses is known once it is rendered.
  const named = new Set([slug]);
  for (const name of named) {
    const source = sources.get(name);
    const [rendered] = source ? await renderSources(process, dir, [source], faults) : [];
    if (!rendered) continue;
    local.set(name, rendered);
    for (const part of listDependencies(rendered)) named.add(part);
  }
  const own = faults.filter(({ path }) => [...named].some((name) => path === name || path.startsWith(`${name}/`)));
  if (own.length > 0) throw invalidInput(own.length === 1 ? "A file is not valid." : `${own.length} files are not valid.`, own);
  const template = local.get(slug);
  if (template) return { template, local };
  throw usageError(`Template ${safeText(slug)} not found in ${dir}.`, {
    hint: "Name a slug of the folder, or the id of a template on the server: tpl_…",
  });
}

/** Serves a page that shows a template of a folder, and renders it again whenever a file of the folder changes, until Ctrl-C. */
export async function watchPreview(session: Session, watched: Watched): Promise<void> {
  const { signal, host, out, term } = session;
  using process = new RenderProcess(host.env);
  await using server = await PreviewServer.start(watched.port, host);
  let changed = Promise.withResolvers<void>();
  using _watcher = closing(watch(watched.dir, { recursive: true }, () => changed.resolve()));
  signal.addEventListener("abort", () => changed.resolve(), { once: true });
  await out.data({ url: server.url }, () => `${term.out.bold(safeText(watched.slug))} is shown at ${server.url}`);
  out.note(term.err.dim("It is rendered when a file changes. Ctrl-C ends."));
  let before = "";
  while (!signal.aborted) {
    // Changes during a rendering lead to another one.
    changed = Promise.withResolvers<void>();
    const began = host.now();
    const state = await renderState(session, process, watched);
    server.show({ ...state, took: host.now() - began });
    const told = state.errors.map(({ path, message }) => [path, message].filter(Boolean).join("  ")).join("\n");
    if (told !== before) out.say(told === "" ? term.err.green("It can be rendered again.") : `${term.err.red("error")} ${safeLines(told)}`);
    before = told;
    if (!signal.aborted) await changed.promise;
  }
}

async function renderState(session: Session, process: RenderProcess, watched: Watched): Promise<Omit<PreviewState, "took">> {
  try {
    return { mail: await renderMail(session, process, watched), errors: [] };
  } catch (error) {
    const { message, details = [], next } = { details: (error as { details?: Fault[] }).details, ...toFailure(error) };
    const faults = details.map(({ path, message }) => ({ path, message }));
    return {
      mail: null,
      errors: faults.length > 0 ? faults : [{ path: "", message: next === undefined ? message : `${message} ${next}` }],
    };
  }
}

async function renderMail(session: Session, process: RenderProcess, { dir, slug, variables }: Watched): Promise<PreviewState["mail"]> {
  const { local, template } = await renderUsed(process, dir, slug);
  const { lintSources } = await import("@mailsvc/server");
  const [{ data }, report] = await Promise.all([
    session.send(buildCall(contract.templates.render, [], {}, renderBody(local, template, variables))),
    lintSources({ ...template, declared: VariableDeclaration.array().parse(template.variables) }),
  ]);
  return { ...contract.templates.render.output.parse(data), findings: report.findings };
}

function closing(watcher: { close(): void }): Disposable {
  return { [Symbol.dispose]: () => watcher.close() };
}
