import { existsSync, lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { AUTOMATION_DEFAULTS, type AutomationDetail, buildAutomationSchema, NewAutomation } from "@mailsvc/sdk/contract";
import { formatPath, listProblems, type Problem } from "../contract/validate.ts";
import { assertFolder, assertNoLinks, readText, toFileFault } from "../folders/files.ts";
import { type JsonSource, type Place, parseJson } from "../folders/json-source.ts";
import { invalidInput, usageError } from "../runtime/errors.ts";
import { isRecord } from "../text/generic.ts";
import { formatJsonFile } from "../text/json-text.ts";
import type { Fault } from "../types.ts";

/** The fields of an automation's definition, in the order of its file. */
export const FIELDS = [
  "description",
  "trigger",
  "goal",
  "currency",
  "allowReEntry",
  "reEntryDelayHours",
  "steps",
  "connections",
] as const satisfies readonly (keyof AutomationFile)[];

/** An automation in the form that its file and the API have in common; unset fields have their defaults. */
export interface AutomationFile
  extends Pick<
    AutomationDetail,
    "name" | "description" | "trigger" | "goal" | "currency" | "allowReEntry" | "reEntryDelayHours" | "steps" | "connections"
  > {
  /** File it was read from; null for one from the server. */
  readonly origin: Origin | null;
}

/** A file of an automation. */
interface Origin {
  /** The name of the file. */
  readonly file: string;
  readonly schema: unknown;
  locate(path: readonly PropertyKey[]): Place;
}

/** A fault of a file. */
export interface FileFault extends Place {
  readonly file: string;
  /** The path in the document, as the API writes it. */
  readonly path: string;
  readonly code: string;
  /** Names the step. */
  readonly message: string;
  /** The name of the automation, if it can be read. */
  readonly name?: string | undefined;
}

const SCHEMA_FILE = "automation.schema.json";

/** The form of an automation that the API returned, or that a file holds. */
export function normalize(given: NewAutomation | AutomationDetail, origin: Origin | null): AutomationFile {
  const allowReEntry = given.allowReEntry ?? false;
  return {
    name: given.name,
    description: given.description || null,
    trigger: given.trigger,
    goal: given.goal ?? null,
    currency: given.currency ?? AUTOMATION_DEFAULTS.currency,
    allowReEntry,
    reEntryDelayHours: allowReEntry ? (given.reEntryDelayHours ?? AUTOMATION_DEFAULTS.reEntryDelayHours) : null,
    steps: given.steps,
    connections: given.connections,
    origin,
  };
}

/** The automations of a folder by name, and what is wrong with the other files. */
export async function readFiles(paths: readonly string[]): Promise<{ found: Map<string, AutomationFile>; faults: FileFault[] }> {
  const found = new Map<string, AutomationFile>();
  const faults: FileFault[] = [];
  for (const path of paths) {
    const read = await readFile(path, basename(path)).catch((error: unknown): FileFault[] => {
      const { code, message } = toFileFault(basename(path), error);
      return [{ file: basename(path), line: 1, column: 1, path: "", code, message }];
    });
    if (Array.isArray(read)) {
      faults.push(...read);
      continue;
    }
    const other = found.get(read.name)?.origin?.file;
    if (other === undefined) found.set(read.name, read);
    else
      faults.push({
        file: basename(path),
        ...(read.origin?.locate(["name"]) ?? { line: 1, column: 1 }),
        path: "name",
        code: "duplicate",
        name: read.name,
        message: `${other} has the name "${read.name}", too. An automation is identified by its name: choose another one.`,
      });
  }
  return { found, faults };
}

/**
 * Reads every automation of a folder. Automations with faults are left out and added to `faulty`, if it is given: by their names, or by
 * their files if the name cannot be read. Without it, throws CliError that names each faulty file.
 */
export async function readFolder(dir: string, faulty?: Map<string, Fault[]>): Promise<Map<string, AutomationFile>> {
  const { found, faults } = await readFiles(listFiles(dir));
  const told = (some: readonly FileFault[]): Fault[] =>
    some.map(({ code, message, ...fault }) => ({ path: formatPlace(fault), code, message }));
  if (faults.length > 0 && !faulty)
    throw invalidInput(`${faults.length === 1 ? "There is a fault" : `There are ${faults.length} faults`} in ${dir}.`, told(faults));
  for (const [key, own] of Map.groupBy(faults, ({ name, file }) => name ?? file)) {
    faulty?.set(key, told(own));
    // Two files with one name: neither is pushed.
    found.delete(key);
  }
  return found;
}

/** The files of automations in a folder; empty when it is not there. */
export function listFiles(dir: string): string[] {
  assertFolder(dir);
  return existsSync(dir)
    ? readdirSync(dir)
        .filter((name) => name.endsWith(".json") && !name.endsWith(".schema.json"))
        .sort()
        .map((name) => join(dir, name))
        .filter((path) => !lstatSync(path).isDirectory())
    : [];
}

/** `welcome.json:12:7` */
export function formatPlace({ file, line, column }: Pick<FileFault, "file" | "line" | "column">): string {
  return `${file}:${line}:${column}`;
}

/** Writes an automation, in place of the file the folder has of it, and the schema for editors next to it. */
export function writeFile(dir: string, files: AutomationFile, before: AutomationFile | undefined): void {
  mkdirSync(dir, { recursive: true });
  const file = before?.origin?.file ?? chooseFileName(dir, files.name);
  const [path, schemaPath] = [join(dir, file), join(dir, SCHEMA_FILE)];
  assertNoLinks([path, schemaPath]);
  const { name, allowReEntry } = files;
  const given = FIELDS.filter((field) => files[field] !== null && (field !== "allowReEntry" || allowReEntry));
  const schema = typeof before?.origin?.schema === "string" ? before.origin.schema : `./${SCHEMA_FILE}`;
  writeFileSync(path, formatJsonFile({ $schema: schema, name, ...Object.fromEntries(given.map((field) => [field, files[field]])) }));
  writeFileSync(schemaPath, `${JSON.stringify(buildAutomationSchema(), null, 2)}\n`);
}

/** Removes the file of an automation. */
export function removeFile(dir: string, { origin }: AutomationFile): void {
  if (origin === null) throw new Error("An automation from the server has no file.");
  assertNoLinks([join(dir, origin.file)]);
  rmSync(join(dir, origin.file), { force: true });
}

async function readFile(path: string, file: string): Promise<AutomationFile | FileFault[]> {
  const unread: Fault[] = [];
  const text = readText(path, file, unread);
  const at = { file, line: 1, column: 1, path: "" };
  if (unread.length > 0) return unread.map(({ code, message }) => ({ ...at, code, message }));
  if (text === null) return [{ ...at, code: "invalid_file", message: "The file is empty." }];
  const source = await parseJson(text);
  if (!("locate" in source)) return [{ ...at, ...source, code: "invalid_file" }];
  if (!isRecord(source.value)) return [{ ...at, code: "invalid_type", message: "A JSON object is needed: { … }." }];
  const { $schema, ...definition } = source.value;
  const problems = listProblems(NewAutomation, definition);
  if (problems.length === 0) return normalize(NewAutomation.parse(definition), { file, schema: $schema, locate: source.locate });
  const name = typeof definition["name"] === "string" ? definition["name"] : undefined;
  return problems.map((problem) => ({
    file,
    name,
    ...source.locate(problem.path),
    path: formatPath(problem.path),
    code: problem.code,
    message: explain(problem, definition, source),
  }));
}

// Codes that the schema has for a missing field.
const OF_MISSING: ReadonlySet<string> = new Set(["invalid_type", "invalid_value", "invalid_union"]);

/** The message of a problem, with the name of the step or connection that it is about. */
function explain({ path, code, message }: Problem, definition: { readonly [name: string]: unknown }, source: JsonSource): string {
  const told = !source.has(path) && OF_MISSING.has(code) ? `${formatPath(path.slice(-1))} is missing.` : message;
  const [field, index] = path;
  const item =
    typeof index === "number" && Array.isArray(definition[String(field)]) ? (definition[String(field)] as unknown[])[index] : undefined;
  if (!isRecord(item)) return path.length > 1 && (field === "trigger" || field === "goal") ? `The ${field}: ${told}` : told;
  const names = field === "steps" ? [item["id"]] : [item["from"], item["to"]];
  const label = names.map((name) => (typeof name === "string" ? `"${name.slice(0, 60)}"` : "?")).join(" → ");
  if (field === "steps") return told.includes(label) ? told : `The step ${label === "?" ? `#${Number(index) + 1}` : label}: ${told}`;
  return `The connection ${label}: ${told}`;
}

// Names of devices, which Windows does not take for files.
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)$/;

/** A file name for an automation: nothing else that a server returns becomes a path. */
function chooseFileName(dir: string, name: string): string {
  const plain = name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 60);
  const stem = plain === "" || RESERVED.test(plain) ? `automation-${plain}`.replace(/-$/, "") : plain;
  for (let n = 1; ; n += 1) {
    const file = `${n === 1 ? stem : `${stem}-${n}`}.json`;
    if (!existsSync(join(dir, file))) return file;
    if (n > 1000) throw usageError(`There are too many files called ${stem} in ${dir}.`);
  }
}
