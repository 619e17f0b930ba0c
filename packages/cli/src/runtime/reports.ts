import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { Option } from "commander";
import { safeText } from "../text/safe-text.ts";
import { usageError } from "./errors.ts";

/** A report that is wanted: of which kind, in which file. */
export interface WantedReport<Kind extends string> {
  readonly kind: Kind;
  readonly file: string;
}

/** The option `--report KIND=FILE`, which may be given several times. */
export function buildReportOption(kinds: readonly string[]): Option {
  const option = new Option("--report <kind=file>", `Write a report into a file: ${kinds.join(", ")}; several times for several`);
  return option.default([]).argParser((text: string, earlier: readonly string[] = []) => [...earlier, text]);
}

/** The reports that `--report` asks for. Throws a usage error for an unknown kind or a missing file. */
export function parseReports<Kind extends string>(given: unknown, kinds: readonly Kind[]): WantedReport<Kind>[] {
  const texts = Array.isArray(given) ? given.map(String) : [];
  return texts.map((text) => {
    const [, name, file] = /^([a-z]+)=(.+)$/s.exec(text) ?? [];
    const kind = kinds.find((one) => one === name);
    if (kind === undefined || file === undefined)
      throw usageError(`--report takes ${kinds.map((one) => `${one}=FILE`).join(" or ")}, not ${safeText(JSON.stringify(text))}.`);
    return { kind, file };
  });
}

/** Writes a report, and the folder it belongs into. Throws a usage error if that is not possible. */
export async function writeReport(file: string, text: string): Promise<void> {
  await tryToWrite(file, async (path) => {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  });
}

/** Appends to a file, such as the summary of a CI job. Throws a usage error if that is not possible. */
export async function appendReport(file: string, text: string): Promise<void> {
  await tryToWrite(file, (path) => appendFile(path, text));
}

async function tryToWrite(file: string, write: (path: string) => Promise<void>): Promise<void> {
  try {
    await write(resolve(file));
  } catch (error) {
    throw usageError(`${safeText(file)} cannot be written: ${(error as Error).message}`);
  }
}
