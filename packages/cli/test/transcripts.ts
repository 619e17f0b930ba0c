import { readFileSync } from "node:fs";
import { expect } from "vitest";
import type { Result, Setup } from "./harness.ts";

/** A command of a transcript, and what it prints. */
interface Entry {
  readonly line: number;
  readonly command: string;
  readonly output: string;
}

/** What transcripts are followed with. */
interface Surroundings {
  readonly mailsvc: (argv: readonly string[], setup?: Setup) => Promise<Result>;
  /** Waits until the server rests. */
  readonly settle: () => Promise<void>;
  /** What stands in for what a page names, such as the address of a webhook. */
  readonly standIns: Readonly<Record<string, string>>;
}

/** The transcripts of a page: its `console` blocks, each line after `$ ` being a command. */
export function readTranscripts(file: string): Entry[] {
  const page = readFileSync(file, "utf8");
  return [...page.matchAll(/^```console\n([\s\S]*?)^```$/gm)].flatMap(({ 1: text = "", index }) => {
    const before = page.slice(0, index).split("\n").length;
    const lines = text.split("\n").slice(0, -1);
    const starts = lines.flatMap((line, i) => (line.startsWith("$ ") ? [i] : []));
    expect(starts[0], `${file}:${before}: a transcript begins with a command`).toBe(0);
    return starts.map((start, i) => ({
      line: before + 1 + start,
      command: (lines[start] as string).slice(2),
      output: lines.slice(start + 1, starts[i + 1] ?? lines.length).join("\n"),
    }));
  });
}

/**
 * Runs the transcripts of a page, in order, as at a terminal, and compares what is printed: `…` stands for what differs from run to run.
 * Of the shell it knows quotation marks, `NAME=$(… | jq -r .field)` and `$NAME`.
 */
export async function followTranscripts(file: string, { mailsvc, settle, standIns }: Surroundings): Promise<void> {
  const variables = new Map<string, string>();
  const expand = (text: string): string =>
    Object.entries(standIns)
      .reduce((given, [named, real]) => given.replaceAll(named, real), text)
      .replaceAll(/\$([A-Z]+)\b/g, (_all, name: string) => variables.get(name) ?? `$${name}`);
  for (const { line, command, output } of readTranscripts(file)) {
    const [, name, inner, field = ""] = /^([A-Z]+)=\$\((.*?)(?: \| jq -r \.(\w+))?\)$/.exec(command) ?? [];
    const words = splitWords(expand(inner ?? command));
    expect(words[0], `${file}:${line}`).toBe("mailsvc");
    const tty = inner === undefined ? { stdout: true, stderr: true } : {};
    const result = await mailsvc(words.slice(1), { tty, env: { NO_COLOR: "1" }, columns: 100 });
    if (name !== undefined) variables.set(name, field === "" ? result.stdout.trim() : String(result.json[field]));
    else expect(result.printed.trimEnd(), `${file}:${line}`).toMatch(toPattern(expand(output)));
    await settle();
  }
}

function splitWords(command: string): string[] {
  return [...command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, single, double, plain]) => single ?? double ?? plain ?? "");
}

function toPattern(text: string): RegExp {
  const parts = text
    .trimEnd()
    .split("…")
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".+?")}$`, "s");
}
