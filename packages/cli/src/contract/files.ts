import { basename, extname } from "node:path";
import type { FileRules } from "@mailsvc/sdk/contract";
import { type Command, Option } from "commander";
import type { Flags } from "../runtime/action.ts";
import { invalidInput, usageError } from "../runtime/errors.ts";
import type { InputReader, LocalFile, RequestInput } from "../types.ts";
import { isRecord } from "../views/generic.ts";
import { formatBytes } from "../views/time.ts";
import type { Field } from "./fields.ts";
import { setOptionMetadata } from "./metadata.ts";

/** What names say about contents; the server tells by the bytes. */
const TYPES: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  svg: "image/svg+xml",
  heic: "image/heic",
  avif: "image/avif",
  tif: "image/tiff",
  tiff: "image/tiff",
  pdf: "application/pdf",
  epub: "application/epub+zip",
  zip: "application/zip",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  doc: "application/msword",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  pptx: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  mp3: "audio/mpeg",
  wav: "audio/wav",
  mp4: "video/mp4",
  mov: "video/quicktime",
  txt: "text/plain",
  md: "text/markdown",
  csv: "text/csv",
  html: "text/html",
  htm: "text/html",
  json: "application/json",
};

/** The content type a file's name tells; undefined where it tells none. */
export function guessContentType(name: string): string | undefined {
  return TYPES[extname(name).slice(1).toLowerCase()];
}

/**
 * Reads the file behind a flag, or stdin for `-`. What is too large by its size on disk is not read at all. Throws CliError:
 * exit 2 for what is no readable file, 3 for one that is not taken.
 */
export async function readUpload(source: string, flag: string, rules: FileRules, input: InputReader): Promise<LocalFile> {
  const name = source === "-" ? "" : basename(source);
  assertAcceptedType(flag, name, rules);
  const content = await input.bytes(source, flag, rules.maxBytes);
  if (content.length === 0) throw fileError(flag, "too_small", `${source === "-" ? "stdin" : source} is empty.`);
  return { path: source, content, name, type: guessContentType(name) };
}

/** The fields to ask for: a file, unless its base64 is given, and then a name for it. */
export function requireFileOrContent(fields: readonly Field[], { body }: RequestInput): readonly Field[] {
  return body?.["contentBase64"] === undefined || body["file"] !== undefined
    ? fields
    : fields.map((f) => (f.kind === "file" ? { ...f, required: false } : f.name === "fileName" ? { ...f, required: true } : f));
}

/** Stands in for the contents while the other fields are checked: the bytes go beside them. */
const PLACEHOLDER_BASE64 = "AA==";

/** Takes the file out of what was gathered, and puts its name and type there. Throws CliError, exit 2. */
export function extractFile({ body = {} }: RequestInput, rules: FileRules): LocalFile | undefined {
  const { file } = body;
  if (!isFile(file)) return undefined;
  if (body["contentBase64"] !== undefined) throw usageError("Give either --file or --content-base64.");
  const name = body["fileName"] ?? file.name;
  if (typeof name !== "string" || name === "")
    throw usageError("--file -: a file from stdin needs a name.", { hint: "Write: … | mailsvc … --file - --file-name guide.pdf" });
  assertAcceptedType("--file-name", name, rules);
  const type = body["contentType"] ?? file.type ?? guessContentType(name);
  delete body["file"];
  body["fileName"] = name;
  if (type !== undefined) body["contentType"] = type;
  body["contentBase64"] = PLACEHOLDER_BASE64;
  return { ...file, name, type: typeof type === "string" ? type : undefined };
}

/** The fields that stand beside a file in a form. */
export function listFormFields(body: unknown): Record<string, unknown> {
  const { fileName: _name, contentType: _type, contentBase64: _content, ...fields } = isRecord(body) ? body : {};
  // What is null on creation is absent.
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
}

/** A file and its fields as a form. */
export function buildForm(file: LocalFile, body: unknown): FormData {
  const form = new FormData();
  form.append("file", new Blob([new Uint8Array(file.content)], file.type === undefined ? {} : { type: file.type }), file.name);
  for (const [name, value] of Object.entries(listFormFields(body)))
    for (const one of Array.isArray(value) ? value : [value]) form.append(name, String(one));
  return form;
}

/** A file in a line: what --dry-run shows of it. */
export function describeFile({ name, type, content }: LocalFile): Record<string, string> {
  return {
    name,
    ...(type === undefined ? {} : { type }),
    size: formatBytes(content.length),
  };
}

function fileError(flag: string, code: string, message: string): Error {
  return invalidInput(`${flag}: ${message}`, [{ path: "file", flag, code, message }]);
}

/** Refuses a file by its name or size. Throws CliError, exit 3. */
function assertAcceptedType(flag: string, name: string, { types }: FileRules): void {
  const type = guessContentType(name);
  if (type === undefined || types.includes(type)) return;
  throw fileError(flag, "unsupported_file_type", `${name} is ${type} by its name. Taken here are ${types.join(", ")}.`);
}

function isFile(value: unknown): value is LocalFile {
  return isRecord(value) && Buffer.isBuffer(value["content"]);
}
/** Adds `--html-file` after `--html`: of a field that is written in files, and of no other one. */
export function addContentFile(command: Command, field: Field, fields: readonly Field[]): void {
  if (!listContentFields(fields).includes(field)) return;
  const name = field.name === "html" ? "HTML" : "Text";
  command.addOption(setOptionMetadata(new Option(`--${field.flag}-file <file>`, `${name} from a file, or - for stdin`), { type: "file" }));
}

/** Reads what `--html-file` names into the body. Throws CliError, exit 2. */
export async function readContentFiles(
  input: InputReader,
  fields: readonly Field[],
  flags: Flags,
  body: Record<string, unknown>,
): Promise<void> {
  for (const { name, flag } of listContentFields(fields)) {
    const file = flags[`${name}File`];
    if (file === undefined) continue;
    if (flags[name] !== undefined) throw usageError(`Give either --${flag} or --${flag}-file.`);
    body[name] = await input.text(String(file), `--${flag}-file`);
  }
}

/** The fields whose content is written in files: `html`, and `text` beside it. */
function listContentFields(fields: readonly Field[]): readonly Field[] {
  const texts = fields.filter(({ where, kind }) => where === "body" && kind === "text");
  return texts.some(({ name }) => name === "html") ? texts.filter(({ name }) => name === "html" || name === "text") : [];
}
