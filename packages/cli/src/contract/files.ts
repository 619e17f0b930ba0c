import { basename, extname } from "node:path";
import type { FileRules } from "@mailsvc/sdk/contract";
import { type Command, Option } from "commander";
import type { Flags } from "../runtime/action.ts";
import { invalidInput, usageError } from "../runtime/errors.ts";
import { isRecord } from "../text/generic.ts";
import type { InputReader, LocalFile, RequestInput } from "../types.ts";
import type { Field } from "./fields.ts";
import { setOptionMetadata } from "./metadata.ts";

/** Content types by file extension. The server decides by the bytes. */
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

/** Guesses the content type by the file name; undefined when the extension is unknown. */
function guessContentType(name: string): string | undefined {
  return TYPES[extname(name).slice(1).toLowerCase()];
}

/**
 * Reads the file that a flag names, or stdin for `-`. A file that is too large by its size on disk is not read. Throws
 * CliError: exit 2 when the file cannot be read, 3 when the endpoint does not accept it.
 */
export async function readUpload(source: string, flag: string, rules: FileRules, input: InputReader): Promise<LocalFile> {
  const name = source === "-" ? "" : basename(source);
  assertAcceptedType(flag, name, rules);
  const content = await input.bytes(source, flag, rules.maxBytes);
  if (content.length === 0) throw fileError(flag, "too_small", `${source === "-" ? "stdin" : source} is empty.`);
  return { path: source, content, name, type: guessContentType(name) };
}

/** Requires a file, or its content as base64 together with a file name. */
export function requireFileOrContent(fields: readonly Field[], { body }: RequestInput): readonly Field[] {
  return body?.["contentBase64"] === undefined || body["file"] !== undefined
    ? fields
    : fields.map((f) => (f.kind === "file" ? { ...f, required: false } : f.name === "fileName" ? { ...f, required: true } : f));
}

/** Placeholder for the content while the other fields are validated: the bytes are sent as a form part. */
const PLACEHOLDER_BASE64 = "AA==";

/** Moves the file out of the input and sets its name and type there. Throws CliError, exit 2. */
export function extractFile({ body = {} }: RequestInput, rules: FileRules): LocalFile | undefined {
  const { file } = body;
  if (!isFile(file)) return undefined;
  if (body["contentBase64"] !== undefined) throw usageError("Use either --file or --content-base64.");
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

function fileError(flag: string, code: string, message: string): Error {
  return invalidInput(`${flag}: ${message}`, [{ path: "file", flag, code, message }]);
}

/** Refuses a file whose name implies a type that the endpoint does not accept. Throws CliError, exit 3. */
function assertAcceptedType(flag: string, name: string, { types }: FileRules): void {
  const type = guessContentType(name);
  if (type === undefined || types.includes(type)) return;
  throw fileError(flag, "unsupported_file_type", `${name} is ${type} by its extension. Accepted types: ${types.join(", ")}.`);
}

function isFile(value: unknown): value is LocalFile {
  return isRecord(value) && Buffer.isBuffer(value["content"]);
}
/** Adds `--html-file` to `--html`, for fields whose content usually lives in a file. */
export function addContentFile(command: Command, field: Field, fields: readonly Field[]): void {
  if (!listContentFields(fields).includes(field)) return;
  const name = field.name === "html" ? "HTML" : "Text";
  command.addOption(setOptionMetadata(new Option(`--${field.flag}-file <file>`, `${name} from a file, or - for stdin`), { type: "file" }));
}

/** Reads the files of `--html-file` and `--text-file` into the body. Throws CliError, exit 2. */
export async function readContentFiles(
  input: InputReader,
  fields: readonly Field[],
  flags: Flags,
  body: Record<string, unknown>,
): Promise<void> {
  for (const { name, flag } of listContentFields(fields)) {
    const file = flags[`${name}File`];
    if (file === undefined) continue;
    if (flags[name] !== undefined) throw usageError(`Use either --${flag} or --${flag}-file.`);
    body[name] = await input.text(String(file), `--${flag}-file`);
  }
}

/** The fields whose content usually lives in a file: `html` and `text`. */
function listContentFields(fields: readonly Field[]): readonly Field[] {
  const texts = fields.filter(({ where, kind }) => where === "body" && kind === "text");
  return texts.some(({ name }) => name === "html") ? texts.filter(({ name }) => name === "html" || name === "text") : [];
}
