import type { Bytes } from "./call/binary.ts";
import { UsageError } from "./errors.ts";

/** The types a file may have. A stream is read completely, up to the size limit, before anything is sent. */
export type FileSource = Blob | Uint8Array | ArrayBuffer | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array | string>;

/** A file and its name; a `File` has its own name. */
export type FileInput = { file: File; fileName?: string } | { file: FileSource; fileName: string };

/** The input of an upload: the file itself or its base64. */
export type FileUpload<I> = I | (Omit<I, "fileName" | "contentBase64"> & FileInput);

type Fields = Readonly<Record<string, unknown>>;

const MB = 1024 * 1024;

/** True if the input has a file instead of base64. */
export function hasFile({ file }: Fields): boolean {
  return file !== undefined;
}

/**
 * Builds the multipart form of a file and its fields. Throws UsageError, before anything is sent, for a file without a name
 * or above the size limit.
 */
export async function buildForm(body: Fields, maxBytes: number, label: string): Promise<FormData> {
  const { file, fileName, contentType, contentBase64, ...fields } = body;
  if (contentBase64 !== undefined) throw new UsageError({ message: `${label}: give either file or contentBase64.` });
  const blob = await toBlob(file, maxBytes, label);
  if (blob.size > maxBytes) throw tooLarge(String(blob.size), maxBytes, label);
  const name = fileName ?? (blob as Partial<File>).name;
  if (typeof name !== "string" || name === "")
    throw new UsageError({ message: `${label}: fileName is missing.`, hint: "Pass fileName, or a File, which has a name." });
  const form = new FormData();
  form.append("file", typeof contentType === "string" ? blob.slice(0, blob.size, contentType) : blob, name);
  for (const [field, value] of Object.entries(fields)) {
    // A form cannot hold null; on creation, null means absent.
    if (value === undefined || value === null) continue;
    for (const one of Array.isArray(value) ? value : [value]) form.append(field, String(one));
  }
  return form;
}

/** An encoded form and the content type with its boundary; every attempt sends the same bytes. */
export interface EncodedForm {
  readonly body: Bytes;
  readonly contentType: string;
}

export async function encodeForm(form: FormData): Promise<EncodedForm> {
  const encoded = new Response(form);
  return { body: new Uint8Array(await encoded.arrayBuffer()), contentType: encoded.headers.get("content-type") ?? "multipart/form-data" };
}

function isStream(value: unknown): value is AsyncIterable<unknown> {
  const iterator = (value as Partial<AsyncIterable<unknown>> | null)?.[Symbol.asyncIterator];
  return typeof iterator === "function";
}

function toBytes(part: unknown, label: string): Uint8Array {
  if (part instanceof Uint8Array) return part;
  if (typeof part === "string") return new TextEncoder().encode(part);
  throw new UsageError({ message: `${label}: the stream must contain bytes, not objects.` });
}

function tooLarge(size: string, maxBytes: number, label: string): UsageError {
  return new UsageError({ message: `${label}: the file has ${size} bytes; the limit is ${maxBytes} (${maxBytes / MB} MB).` });
}

async function readStream(source: AsyncIterable<unknown>, maxBytes: number, label: string): Promise<Blob> {
  const parts: Bytes[] = [];
  let size = 0;
  for await (const chunk of source) {
    const bytes = toBytes(chunk, label);
    size += bytes.length;
    if (size > maxBytes) throw tooLarge(`more than ${maxBytes}`, maxBytes, label);
    parts.push(new Uint8Array(bytes));
  }
  return new Blob(parts);
}

async function toBlob(file: unknown, maxBytes: number, label: string): Promise<Blob> {
  if (file instanceof Blob) return file;
  if (file instanceof Uint8Array) return new Blob([file as Bytes]);
  if (file instanceof ArrayBuffer) return new Blob([file]);
  if (isStream(file)) return readStream(file, maxBytes, label);
  throw new UsageError({ message: `${label}: file must be a Blob, bytes or a stream of bytes.` });
}
