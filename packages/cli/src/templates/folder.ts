import { existsSync, lstatSync, mkdirSync, readdirSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { contract, Slug, type TemplateDetail } from "@mailsvc/sdk/contract";
import { formatPath } from "../contract/validate.ts";
import { assertFolder, assertNoLinks, fileFault as fault, readText } from "../folders/files.ts";
import { invalidInput, usageError } from "../runtime/errors.ts";
import { safeText } from "../runtime/safe-text.ts";
import type { Fault } from "../types.ts";

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
  replyTo: string | null;
  layout: string | null;
  variables: unknown[];
  html: string | null;
  text: string | null;
  blocks: unknown[] | null;
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
  replyTo?: string | null | undefined;
  layout?: string | null | undefined;
  html?: string | null | undefined;
  text?: string | null | undefined;
  blocks?: unknown[] | null | undefined;
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
    html: given.html || null,
    text: given.text || null,
    blocks: given.blocks ?? null,
  };
}

/** Reads every template in a folder. Throws CliError that names each faulty file. */
export function readFolder(dir: string): Map<string, TemplateFiles> {
  assertFolder(dir);
  const faults: Fault[] = [];
  const found = new Map<string, TemplateFiles>();
  for (const slug of listFolders(dir)) {
    assertNoLinks([join(dir, slug)]);
    const template = readTemplate(dir, slug, faults);
    if (template) found.set(slug, template);
  }
  if (faults.length > 0) throw invalidInput(`${faults.length === 1 ? "A file is" : `${faults.length} files are`} not valid.`, faults);
  return found;
}

/** Reads one template of a folder. Throws CliError that names each faulty file. */
export function readOne(dir: string, slug: string): TemplateFiles {
  const faults: Fault[] = [];
  const template = readTemplate(dir, slug, faults);
  if (!template) throw invalidInput(`The template ${safeText(slug)} is not valid.`, faults);
  return template;
}

/** Writes a template into its folder. Throws CliError when its slug is not a safe folder name. */
export function writeTemplate(dir: string, template: TemplateFiles): void {
  const folder = getTemplateFolder(dir, template.slug);
  mkdirSync(folder, { recursive: true });
  const about = Object.fromEntries(
    MANIFEST_FIELDS.map((field) => [field, template[field]] as const).filter(
      ([field, value]) => value !== null && !(field === "variables" && template.variables.length === 0),
    ),
  );
  write(folder, FILES.about, `${JSON.stringify(about, null, 2)}\n`);
  write(folder, FILES.html, template.html);
  write(folder, FILES.text, template.text);
  write(folder, FILES.blocks, template.blocks === null ? null : `${JSON.stringify(template.blocks, null, 2)}\n`);
}

/** Removes a template's files, and its folder when nothing else is in it. */
export function removeTemplate(dir: string, slug: string): void {
  const folder = getTemplateFolder(dir, slug);
  for (const name of Object.values(FILES)) rmSync(join(folder, name), { force: true });
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

/** The folder of a template. Throws CliError when it is a symbolic link, which could lead elsewhere. */
function getTemplateFolder(dir: string, slug: string): string {
  if (!isSlug(slug)) throw usageError(`The server has a template whose slug is not a folder name: ${JSON.stringify(slug.slice(0, 60))}.`);
  const folder = join(dir, slug);
  assertNoLinks([folder, ...Object.values(FILES).map((name) => join(folder, name))]);
  return folder;
}
