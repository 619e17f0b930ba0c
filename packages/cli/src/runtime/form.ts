import { isRecord } from "../text/generic.ts";
import { formatBytes } from "../text/units.ts";
import type { LocalFile } from "../types.ts";

/** The fields sent with a file in a form. */
export function listFormFields(body: unknown): Record<string, unknown> {
  const { fileName: _name, contentType: _type, contentBase64: _content, ...fields } = isRecord(body) ? body : {};
  // A form has no null; on creation, null and absent mean the same.
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
}

/** Builds the form of a file and its fields. */
export function buildForm(file: LocalFile, body: unknown): FormData {
  const form = new FormData();
  form.append("file", new Blob([new Uint8Array(file.content)], file.type === undefined ? {} : { type: file.type }), file.name);
  for (const [name, value] of Object.entries(listFormFields(body)))
    for (const one of Array.isArray(value) ? value : [value]) form.append(name, String(one));
  return form;
}

/** Describes a file for --dry-run. */
export function describeFile({ name, type, content }: LocalFile): Record<string, string> {
  return {
    name,
    ...(type === undefined ? {} : { type }),
    size: formatBytes(content.length),
  };
}
