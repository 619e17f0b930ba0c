import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { setOptionMetadata } from "../contract/metadata.ts";
import type { Flags } from "../runtime/action.ts";
import { safeLines, safeText } from "../text/safe-text.ts";
import type { Session } from "../types.ts";

/** A rendered mail. */
interface Preview {
  readonly subject?: string | null;
  readonly html?: string | null;
  readonly text?: string | null;
  /** Variables of a template that had no values. */
  readonly missingVariables?: readonly string[];
}

/** Adds the options that say what is printed of a rendered mail. */
export function addPreviewOptions(command: Command): Command {
  return command
    .option("--html", "Print the HTML only")
    .option("--text", "Print the text only")
    .addOption(setOptionMetadata(new Option("--out <file>", "Write the HTML to a file, to open it in a browser"), { type: "file" }));
}

/** Prints a rendered mail, or writes it to a file. */
export async function showPreview(session: Session, flags: Flags, data: unknown): Promise<void> {
  const { subject, html, text, missingVariables = [] } = data as Preview;
  const { err, out } = session.term;
  if (missingVariables.length > 0) session.out.note(`${err.yellow("missing")} ${safeText(missingVariables.join(", "))}`);
  if (flags["out"] !== undefined) {
    const file = resolve(session.host.cwd, String(flags["out"]));
    writeFileSync(file, (flags["text"] === true ? text : html) ?? text ?? "");
    await session.out.data({ file, missingVariables }, () => file);
  } else if (flags["html"] === true) await session.out.text(html ?? "");
  else if (flags["text"] === true) await session.out.text(text ?? "");
  else await session.out.data(data, () => `${out.bold(safeText(subject ?? "(no subject)"))}\n\n${safeLines(text ?? "(no text)")}`);
}
