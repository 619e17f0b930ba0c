import { basename, extname } from "node:path";
import type { FileRules } from "@mailsvc/sdk/contract";
import { invalidInput, usageError } from "./errors.ts";
import type { Field } from "./fields.ts";
import type { Gathered } from "./gather.ts";
import type { Input } from "./input.ts";
import { isRow } from "./views/generic.ts";
import { bytes } from "./views/time.ts";

/** A file of this machine that goes with a request. */
export interface LocalFile {
  /** As it was given; `-` for stdin. */
  readonly path: string;
  readonly content: Buffer;
  readonly name: string;
  /** Undefined where the name says nothing. */
  readonly type: string | undefined;
}

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
export function typeByName(name: string): string | undefined {
  return TYPES[extname(name).slice(1).toLowerCase()];
}

/**
 * Reads the file behind a flag, or stdin for `-`. What is too large by its size on disk is not read at all. Throws CliError:
 * exit 2 for what is no readable file, 3 for one that is not taken.
 */
export async function readUpload(source: string, flag: string, rules: FileRules, input: Input): Promise<LocalFile> {
  const name = source === "-" ? "" : basename(source);
  check(flag, name, rules);
  const content = await input.bytes(source, flag, rules.maxBytes);
  if (content.length === 0) throw refused(flag, "too_small", `${source === "-" ? "stdin" : source} is empty.`);
  return { path: source, content, name, type: typeByName(name) };
}

/** The fields to ask for: a file, unless its base64 is given, and then a name for it. */
export function askedFields(fields: readonly Field[], { body }: Gathered): readonly Field[] {
  return body?.["contentBase64"] === undefined || body["file"] !== undefined
    ? fields
    : fields.map((f) => (f.kind === "file" ? { ...f, required: false } : f.name === "fileName" ? { ...f, required: true } : f));
}

/** Stands in for the contents while the other fields are checked: the bytes go beside them. */
const PLACE = "AA==";

/** Takes the file out of what was gathered, and puts its name and type there. Throws CliError, exit 2. */
export function takeFile({ body = {} }: Gathered, rules: FileRules): LocalFile | undefined {
  const { file } = body;
  if (!isFile(file)) return undefined;
  if (body["contentBase64"] !== undefined) throw usageError("Give either --file or --content-base64.");
  const name = body["fileName"] ?? file.name;
  if (typeof name !== "string" || name === "")
    throw usageError("--file -: a file from stdin needs a name.", { hint: "Write: … | mailsvc … --file - --file-name guide.pdf" });
  check("--file-name", name, rules);
  const type = body["contentType"] ?? file.type ?? typeByName(name);
  delete body["file"];
  body["fileName"] = name;
  if (type !== undefined) body["contentType"] = type;
  body["contentBase64"] = PLACE;
  return { ...file, name, type: typeof type === "string" ? type : undefined };
}

/** The fields that stand beside a file in a form. */
export function besideFile(body: unknown): Record<string, unknown> {
  const { fileName: _name, contentType: _type, contentBase64: _content, ...fields } = isRow(body) ? body : {};
  // What is null on creation is absent.
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
}

/** A file and its fields as a form. */
export function formOf(file: LocalFile, body: unknown): FormData {
  const form = new FormData();
  form.append("file", new Blob([new Uint8Array(file.content)], file.type === undefined ? {} : { type: file.type }), file.name);
  for (const [name, value] of Object.entries(besideFile(body)))
    for (const one of Array.isArray(value) ? value : [value]) form.append(name, String(one));
  return form;
}

/** A file in a line: what --dry-run shows of it. */
export function fileShown({ name, type, content }: LocalFile): Record<string, string> {
  return {
    name,
    ...(type === undefined ? {} : { type }),
    size: bytes(content.length),
  };
}

function refused(flag: string, code: string, message: string): Error {
  return invalidInput(`${flag}: ${message}`, [{ path: "file", flag, code, message }]);
}

/** Refuses a file by its name or size. Throws CliError, exit 3. */
function check(flag: string, name: string, { types }: FileRules): void {
  const type = typeByName(name);
  if (type === undefined || types.includes(type)) return;
  throw refused(flag, "unsupported_file_type", `${name} is ${type} by its name. Taken here are ${types.join(", ")}.`);
}

function isFile(value: unknown): value is LocalFile {
  return isRow(value) && Buffer.isBuffer(value["content"]);
}
