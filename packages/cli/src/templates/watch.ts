import { watch } from "node:fs";
import { contract, VariableDeclaration } from "@mailsvc/sdk/contract";
import { invalidInput, toFailure, usageError } from "../runtime/errors.ts";
import { buildCall } from "../runtime/request.ts";
import { safeText } from "../runtime/safe-text.ts";
import type { Fault, Session } from "../types.ts";
import { listDependencies } from "./changes.ts";
import { readSources, type TemplateFiles } from "./folder.ts";
import { PreviewServer, type PreviewState } from "./preview-server.ts";
import { RenderProcess } from "./render-process.ts";
import { renderSources } from "./rendering.ts";

/** What is previewed. */
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
  const { type, subject, html, text, layout } = template;
  return { type, subject, html, text, layout, declare: template.variables, ...(variables === undefined ? {} : { variables }), parts };
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
  while (!signal.aborted) {
    // Changes during a rendering lead to another one.
    changed = Promise.withResolvers<void>();
    const began = host.now();
    const state = await renderState(session, process, watched);
    server.show({ ...state, took: host.now() - began });
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
  const faults: Fault[] = [];
  const sources = readSources(dir, faults);
  const rendered = await renderSources(process, dir, [...selectUsed(sources, slug)], faults);
  const local = new Map(rendered.map((one) => [one.slug, one]));
  const template = local.get(slug);
  const own = faults.filter(({ path }) => [slug, ...local.keys()].some((used) => path === used || path.startsWith(`${used}/`)));
  if (own.length > 0) throw invalidInput("A file is not valid.", own);
  if (!template) throw usageError(`Template ${safeText(slug)} not found in ${dir}.`);
  const { lintSources } = await import("@mailsvc/server");
  const [{ data }, report] = await Promise.all([
    session.send(buildCall(contract.templates.render, [], {}, renderBody(local, template, variables))),
    lintSources({ ...template, declared: VariableDeclaration.array().parse(template.variables) }),
  ]);
  return { ...contract.templates.render.output.parse(data), findings: report.findings };
}

/** A template with its layout and partials, which alone need to be rendered. */
function selectUsed(sources: ReadonlyMap<string, TemplateFiles>, slug: string): Set<TemplateFiles> {
  const used = new Set<TemplateFiles>();
  const visit = (name: string): void => {
    const template = sources.get(name);
    if (!template || used.has(template)) return;
    used.add(template);
    for (const part of listDependencies(template)) visit(part);
  };
  visit(slug);
  // Which parts a source uses is known once it is rendered.
  return [...used].some(({ renderedFrom }) => renderedFrom !== null) ? new Set(sources.values()) : used;
}

function closing(watcher: { close(): void }): Disposable {
  return { [Symbol.dispose]: () => watcher.close() };
}
