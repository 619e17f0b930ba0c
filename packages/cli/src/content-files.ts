import { type Command, Option } from "commander";
import { noteOption } from "./about.ts";
import type { Flags } from "./act.ts";
import { usageError } from "./errors.ts";
import type { Field } from "./fields.ts";
import type { Input } from "./input.ts";

/** Adds `--html-file` after `--html`: of a field that is written in files, and of no other one. */
export function addContentFile(command: Command, field: Field, fields: readonly Field[]): void {
  if (!written(fields).includes(field)) return;
  const name = field.name === "html" ? "HTML" : "Text";
  command.addOption(noteOption(new Option(`--${field.flag}-file <file>`, `${name} from a file, or - for stdin`), { type: "file" }));
}

/** Reads what `--html-file` names into the body. Throws CliError, exit 2. */
export async function readContentFiles(input: Input, fields: readonly Field[], flags: Flags, body: Record<string, unknown>): Promise<void> {
  for (const { name, flag } of written(fields)) {
    const file = flags[`${name}File`];
    if (file === undefined) continue;
    if (flags[name] !== undefined) throw usageError(`Give either --${flag} or --${flag}-file.`);
    body[name] = await input.text(String(file), `--${flag}-file`);
  }
}

/** The fields whose content is written in files: `html`, and `text` beside it. */
function written(fields: readonly Field[]): readonly Field[] {
  const texts = fields.filter(({ where, kind }) => where === "body" && kind === "text");
  return texts.some(({ name }) => name === "html") ? texts.filter(({ name }) => name === "html" || name === "text") : [];
}
