import { existsSync, lstatSync, mkdirSync, readdirSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { contract, Slug, type TemplateDetail, TemplateOrigin } from "@mailsvc/sdk/contract";
import { formatPath } from "../contract/validate.ts";
import { assertFolder, assertNoLinks, fileFault as fault, readText, toFileFault } from "../folders/files.ts";
import { invalidInput, usageError } from "../runtime/errors.ts";
import { safeText } from "../text/safe-text.ts";
import type { Fault } from "../types.ts";
import { readOrigin } from "./origin.ts";
import { RenderProcess } from "./render-process.ts";
import { renderOnce, renderSources } from "./rendering.ts";

/** A template in the form that files and the API have in common; unset fields are null. */
export interface TemplateFiles {
  slug: string;
  name: string;
  description: string | null;
  category: string | null;
  type: TemplateDetail["type"];
  kind: TemplateDetail["kind"];
  subject: string | null;
  from: string | null;
  replyTo: string | string[] | null;
  layout: string | null;
  variables: unknown[];
  html: string | null;
  text: string | null;
  blocks: unknown[] | null;
  /** Source the HTML is rendered from; the folder then has no template.html. */
  renderedFrom: TemplateOrigin | null;
}

/** The files of a template's folder. */
export const FILES = { about: "template.json", html: "template.html", text: "template.txt", blocks: "template.blocks.json" } as const;

/** The fields of template.json, in order. The slug is the name of the folder. */
const MANIFEST_FIELDS = ["name", "description", "category", "type", "kind", "subject", "from", "replyTo", "layout", "variables"] as const;

/** True for a valid slug, which is safe as a folder name. Nothing else that a server returns becomes a path. */
export function isSlug(slug: string): boolean {
  return Slug.safeParse(slug).success;
}

/** Normalizes a template: absent fields become null, in a fixed order. */
export function normalize(given: {
  slug: string;
  name: string;
  type: TemplateFiles["type"];
  kind: TemplateFiles["kind"];
  description?: string | null | undefined;
  category?: string | null | undefined;
  subject?: string | null | undefined;
  from?: string | null | undefined;
  replyTo?: string | string[] | null | undefined;
  layout?: string | null | undefined;
  html?: string | null | undefined;
  text?: string | null | undefined;
  blocks?: unknown[] | null | undefined;
  renderedFrom?: TemplateOrigin | null | undefined;
  variables?: unknown[] | undefined;
}): TemplateFiles {
  return {
    slug: given.slug,
    name: given.name,
    description: given.description || null,
    category: given.category || null,
    type: given.type,
    kind: given.kind,
    subject: given.subject || null,
    from: given.from || null,
    replyTo: given.replyTo || null,
    layout: given.layout || null,
    variables: given.variables ?? [],
    // The server makes the HTML of blocks.
    html: given.kind === "BLOCKS" ? null : given.html || null,
    text: given.text || null,
    blocks: given.blocks ?? null,
    renderedFrom: given.renderedFrom ?? null,
  };
}

/**
 * Reads every template in a folder, and renders those that are written as MJML or React Email. Templates with faults are left out and
 * added to `faulty`, if it is given. Without it, throws CliError that names each faulty file.
 */
export async function readFolder(dir: string, env: NodeJS.ProcessEnv, faulty?: Map<string, Fault[]>): Promise<Map<string, TemplateFiles>> {
  const read = new Map<string, TemplateFiles>();
  const wrong = new Map<string, Fault[]>();
  using process = new RenderProcess(env);
  assertFolder(dir);
  for (const slug of listFolders(dir)) {
    const faults: Fault[] = [];
    const template = await readRendered(process, dir, slug, faults).catch((error: unknown) => {
      if (!faulty) throw error;
      faults.push(toFileFault(slug, error));
      return undefined;
    });
    if (faults.length > 0) wrong.set(slug, faults);
    else if (template) read.set(slug, template);
  }
  const all = [...wrong.values()].flat();
  if (all.length > 0 && !faulty) throw invalidInput(`${all.length === 1 ? "A file is" : `${all.length} files are`} not valid.`, all);
  for (const [slug, faults] of wrong) faulty?.set(slug, faults);
  return read;
}

async function readRendered(process: RenderProcess, dir: string, slug: string, faults: Fault[]): Promise<TemplateFiles | undefined> {
  const source = readTemplate(dir, slug, faults);
  const [template] = source && faults.length === 0 ? await renderSources(process, dir, [source], faults) : [];
  return template;
}

/** Reads every template in a folder as it stands there: what is rendered has no HTML yet. Adds the faults of each file. */
export function readSources(dir: string, faults: Fault[]): Map<string, TemplateFiles> {
  assertFolder(dir);
  const found = new Map<string, TemplateFiles>();
  for (const slug of listFolders(dir)) {
    const template = readTemplate(dir, slug, faults);
    if (template) found.set(slug, template);
  }
  return found;
}

/** Reads one template of a folder. Throws CliError that names each faulty file. */
export async function readOne(dir: string, slug: string, env: NodeJS.ProcessEnv): Promise<TemplateFiles> {
  const faults: Fault[] = [];
  const template = readTemplate(dir, slug, faults);
  const [rendered] = template ? await renderOnce(env, dir, [template], faults) : [];
  if (!rendered || faults.length > 0) throw invalidInput(`The template ${safeText(slug)} is not valid.`, faults);
  return rendered;
}

/** Writes a template into its folder, in place of `before`. Throws CliError when its slug or a path is not safe. */
export function writeTemplate(dir: string, template: TemplateFiles, before?: TemplateFiles): void {
  const folder = getTemplateFolder(dir, template.slug);
  mkdirSync(folder, { recursive: true });
  const about = Object.fromEntries(
    MANIFEST_FIELDS.map((field) => [field, template[field]] as const).filter(
      ([field, value]) => value !== null && !(field === "variables" && template.variables.length === 0),
    ),
  );
  write(folder, FILES.about, `${JSON.stringify(about, null, 2)}\n`);
  const sources = parseOrigin(template)?.files ?? {};
  for (const path of Object.keys(before?.renderedFrom?.files ?? {})) if (!Object.hasOwn(sources, path)) removeFile(folder, path);
  for (const [path, text] of Object.entries(sources)) writeSource(folder, path, text);
  write(folder, FILES.html, template.renderedFrom ? null : template.html);
  write(folder, FILES.text, template.text);
  write(folder, FILES.blocks, template.blocks === null ? null : `${JSON.stringify(template.blocks, null, 2)}\n`);
}

/** Removes a template's files, and its folder when nothing else is in it. */
export function removeTemplate(dir: string, { slug, renderedFrom }: Pick<TemplateFiles, "slug" | "renderedFrom">): void {
  const folder = getTemplateFolder(dir, slug);
  for (const name of [...Object.values(FILES), ...Object.keys(renderedFrom?.files ?? {})]) removeFile(folder, name);
  if (existsSync(folder) && readdirSync(folder).length === 0) rmdirSync(folder);
}

function readJson(file: string, shown: string, faults: Fault[]): unknown {
  const text = readText(file, shown, faults);
  if (text === null) return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    faults.push(fault(shown, `This is not JSON: ${(error as Error).message}.`));
    return undefined;
  }
}

// The file that holds a field of the request.
function getFileName(field: string): string {
  return field === "html" ? FILES.html : field === "text" ? FILES.text : field === "blocks" ? FILES.blocks : FILES.about;
}

function readTemplate(dir: string, slug: string, faults: Fault[]): TemplateFiles | null {
  assertNoLinks([join(dir, slug)]);
  const at = (name: string): [string, string] => [join(dir, slug, name), `${slug}/${name}`];
  if (!isSlug(slug)) {
    faults.push(fault(slug, "The name of the folder is the slug: lower-case letters and digits with - or _ between them.", "invalid_slug"));
    return null;
  }
  const about = readJson(...at(FILES.about), faults);
  if (about === undefined) return null;
  if (typeof about !== "object" || about === null || Array.isArray(about)) {
    faults.push(fault(`${slug}/${FILES.about}`, "A JSON object is needed: { … }."));
    return null;
  }
  const body = {
    ...about,
    slug,
    html: readText(...at(FILES.html), faults),
    text: readText(...at(FILES.text), faults),
    blocks: readJson(...at(FILES.blocks), faults) ?? null,
    renderedFrom: readOrigin(join(dir, slug), slug, faults),
  };
  const named = Object.keys(about).filter((key) => !(MANIFEST_FIELDS as readonly string[]).includes(key));
  for (const key of named) faults.push(fault(`${slug}/${FILES.about}: ${key}`, "Unknown field.", "unknown_field"));
  if (named.length > 0) return null;
  const result = contract.templates.create.body.safeParse(body);
  if (!result.success) {
    for (const issue of result.error.issues)
      faults.push(
        fault(`${slug}/${getFileName(String(issue.path[0] ?? ""))}: ${formatPath(issue.path)}`, issue.message, issue.code ?? "invalid"),
      );
    return null;
  }
  const { publish: _publish, ...given } = result.data;
  return normalize({ ...given, slug });
}

/** The template folders in `dir`: those with a template.json. */
function listFolders(dir: string): string[] {
  return existsSync(dir)
    ? readdirSync(dir, { withFileTypes: true })
        .filter((entry) => !entry.isFile())
        .map(({ name }) => name)
        .filter((name) => lstatSync(join(dir, name, FILES.about), { throwIfNoEntry: false }) !== undefined)
        .sort()
    : [];
}

function write(folder: string, name: string, text: string | null): void {
  const file = join(folder, name);
  if (text === null) rmSync(file, { force: true });
  else writeFileSync(file, text);
}

/** Reads the source of a template, whose paths come from a server. Throws CliError when one leads out of its folder. */
function parseOrigin({ slug, renderedFrom }: TemplateFiles): TemplateOrigin | null {
  const parsed = TemplateOrigin.nullable().safeParse(renderedFrom);
  if (!parsed.success) throw usageError(`The server has files of ${slug} that are not valid: ${parsed.error.issues[0]?.message ?? ""}`);
  return parsed.data;
}

function writeSource(folder: string, path: string, text: string): void {
  const parts = path.split("/");
  assertNoLinks(parts.map((_, i) => join(folder, ...parts.slice(0, i + 1))));
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

/** Removes a file, and the folders between that held nothing else. */
function removeFile(folder: string, path: string): void {
  rmSync(join(folder, path), { force: true });
  for (let at = dirname(path); at !== "."; at = dirname(at)) {
    const parent = join(folder, at);
    if (existsSync(parent) && readdirSync(parent).length === 0) rmdirSync(parent);
  }
}

/** The folder of a template. Throws CliError when it is a symbolic link, which could lead elsewhere. */
function getTemplateFolder(dir: string, slug: string): string {
  if (!isSlug(slug)) throw usageError(`The server has a template whose slug is not a folder name: ${JSON.stringify(slug.slice(0, 60))}.`);
  const folder = join(dir, slug);
  assertNoLinks([folder, ...Object.values(FILES).map((name) => join(folder, name))]);
  return folder;
}
