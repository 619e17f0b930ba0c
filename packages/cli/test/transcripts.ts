import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import { expect } from "vitest";
import type { In } from "../src/types.ts";
import type { Result, Setup } from "./harness.ts";

/** A command of a transcript, and what it prints. */
interface Entry {
  readonly line: number;
  readonly command: string;
  readonly output: string;
}

interface Surroundings {
  /** Runs a command line of the program in this process. */
  readonly mailsvc: (argv: readonly string[], setup?: Setup) => Promise<Result>;
  /** Waits until the server rests. */
  readonly settle: () => Promise<void>;
  /** Stand-ins for things a page names, such as the address of a webhook. */
  readonly standIns?: Readonly<Record<string, string>>;
  /** The folder in which everything is run; by default a new one for each command. */
  readonly folder?: string;
  /** The program's file, for commands that need a process of their own. */
  readonly program?: string;
  readonly now?: () => number;
}

/** The line of a transcript at which Ctrl-C was pressed. */
const CTRL_C = "^C";

/** Such a block of a page is a transcript. */
const TRANSCRIPT = /^```console\n([\s\S]*?)^```$/gm;
/** Such a block, which names a file, is what the file contains. */
const FILE = /^```\w+ (\S+\.\w+)\n([\s\S]*?)^```$/gm;

/** The transcripts of a page: its `console` blocks, each line after `$ ` being a command. */
function readTranscripts(file: string): Entry[] {
  const page = readFileSync(file, "utf8");
  return [...page.matchAll(TRANSCRIPT)].flatMap(({ 1: text = "", index }) =>
    readEntries(text, `${file}:${page.slice(0, index).split("\n").length}`, page.slice(0, index).split("\n").length + 1),
  );
}

function readEntries(text: string, place: string, firstLine: number): Entry[] {
  const lines = text.split("\n").slice(0, -1);
  const starts = lines.flatMap((line, i) => (line.startsWith("$ ") ? [i] : []));
  expect(starts[0], `${place}: a transcript begins with a command`).toBe(0);
  return starts.map((start, i) => ({
    line: firstLine + start,
    command: (lines[start] as string).slice(2),
    output: lines.slice(start + 1, starts[i + 1] ?? lines.length).join("\n"),
  }));
}

/**
 * Runs the transcripts of a page, in order, as at a terminal, and compares what is printed: `…` stands for what differs from run to run.
 */
export async function followTranscripts(file: string, surroundings: Surroundings): Promise<void> {
  const shell = new TranscriptShell(surroundings);
  for (const entry of readTranscripts(file)) {
    const printed = await shell.run(entry);
    if (printed !== null) expect(withoutWaiting(printed.text), `${file}:${entry.line}`).toMatch(toPattern(shell.expand(entry.output)));
  }
}

/** Runs the transcripts of a page, in order, and returns the page with what the commands print now. */
export async function retell(file: string, surroundings: Surroundings & { readonly folder: string }): Promise<string> {
  const shell = new TranscriptShell(surroundings);
  const page = readFileSync(file, "utf8");
  for (const [, name = "", contents = ""] of page.matchAll(FILE)) {
    const path = join(surroundings.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, contents);
  }
  const ids = new Map<string, string>();
  const nameId = (id: string): string => {
    if (!ids.has(id)) ids.set(id, String(ids.size + 1).padStart(id.length, "0"));
    return ids.get(id) as string;
  };
  let told = "";
  let end = 0;
  for (const { 0: block, 1: text = "", index } of page.matchAll(TRANSCRIPT)) {
    told += `${page.slice(end, index)}\`\`\`console\n`;
    for (const entry of readEntries(text, file, 0)) {
      const printed = await shell.run(entry);
      const lines =
        printed === null
          ? []
          : [nameVolatile(printed.text, surroundings.folder, nameId), printed.code === 0 ? "" : `(exit ${printed.code})`];
      told += [`$ ${entry.command}`, ...lines].filter((one) => one !== "").join("\n");
      told += "\n";
    }
    told += "```";
    end = index + block.length;
  }
  return told + page.slice(end);
}

/** Escape sequence that removes a waiting sign from a terminal. */
const CLEAR_LINE = "\u001b[2K";

/** The text as it is read: signs of waiting, which come where an answer takes long, are gone by then. */
function withoutWaiting(text: string): string {
  const lines = text.split("\n").map((line) => line.split(CLEAR_LINE).at(-1)?.replace(/^\r/, "") ?? "");
  return lines.join("\n");
}

/**
 * Gives names to what differs from run to run: ports, durations, folders, names of recordings; and to ids, whose numbers depend on how often
 * a command asked whether something was done.
 */
function nameVolatile(text: string, folder: string, nameId: (id: string) => string): string {
  return (
    withoutWaiting(text)
      .replaceAll(folder, "FOLDER")
      .replaceAll(/(?<=_)[0-9a-z]{26}\b/g, nameId)
      .replaceAll(/(?<=reply\+)([0-9a-z]{26})-[0-9a-f]{20}/g, (_all, id: string) => `${nameId(id)}-SIGNATURE`)
      .replaceAll(/(?<=\+)[0-9a-f]{8}(?=@)/g, "_RANDOM_")
      // As long as what it stands for, so that columns stay below each other.
      .replaceAll(/(?<=127\.0\.0\.1:|\bport )\d{5}\b/g, "_PORT")
      .replaceAll(/\b\d+ ms\b/g, "N ms")
      .replaceAll(/\bafter \d+\.\d s\b/g, "after N s")
      .replaceAll(/\btime="\d+\.\d+"/g, 'time="N"')
      .replaceAll(/\d{8}-\d{6}-[0-9a-f]{6}/g, "RUN")
  );
}

/**
 * Runs the commands of a transcript. Of the shell's syntax it knows quotation marks, `NAME=$(… | jq -r .field)`, `$NAME` and `< FILE`,
 * for the program in this process; bash runs other commands, and `mailsvc dev`.
 */
class TranscriptShell {
  readonly #surroundings: Surroundings;
  readonly #variables = new Map<string, string>();

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
  }

  expand(text: string): string {
    return Object.entries(this.#surroundings.standIns ?? {})
      .reduce((given, [named, real]) => given.replaceAll(named, real), text)
      .replaceAll(/\$([A-Z]+)\b/g, (_all, name: string) => this.#variables.get(name) ?? `$${name}`);
  }

  /** Returns a command's output and exit code; null for one whose output becomes a variable. */
  async run({ command, output }: Entry): Promise<{ text: string; code: number } | null> {
    const [, name, inner, field = ""] = /^([A-Z]+)=\$\((.*?)(?: \| jq -r (\.\S+))?\)$/.exec(command) ?? [];
    const line = this.expand(inner ?? command);
    const interrupted = output.split("\n").includes(CTRL_C);
    if (name !== undefined) {
      const result = await this.#call(line, false);
      expect(result.code, result.stderr).toBe(0);
      this.#variables.set(name, field === "" ? result.stdout.trim() : String(pick(result.json, field)));
      return null;
    }
    const inThisProcess = /^mailsvc (?!dev\b)/.test(line);
    const { printed, code } = inThisProcess ? await this.#call(line, true, interrupted) : await this.#bash(line, interrupted);
    return { text: (interrupted ? showInterrupt(printed) : printed).trimEnd(), code };
  }

  async #call(line: string, atTerminal: boolean, interrupted = false): Promise<Result> {
    const { mailsvc, settle, folder, now } = this.#surroundings;
    const [, command = line, input] = /^(.*?) < (\S+)$/.exec(line) ?? [];
    const words = splitWords(command);
    expect(words[0], line).toBe("mailsvc");
    let interrupt = (): void => {};
    const result = await mailsvc(words.slice(1), {
      env: { NO_COLOR: "1" },
      columns: 100,
      ...(atTerminal && { tty: { stdout: true, stderr: true } }),
      ...(folder !== undefined && { cwd: folder }),
      ...(input !== undefined && this.#feed(join(folder ?? ".", input))),
      ...(now && { now }),
      ...(interrupted && { onStart: (signal) => (interrupt = () => signal("SIGINT")), onOutput: () => interrupt() }),
    });
    await settle();
    return result;
  }

  /** The standard input of a program: a file. It ends only after each request in it was answered. */
  #feed(file: string): Setup {
    const text = readFileSync(file, "utf8");
    let unanswered = text.match(/"id":\d+/g)?.length ?? 0;
    if (unanswered === 0) return { stdin: text };
    const input = new PassThrough();
    input.write(text);
    const onOutput = (part: string): void => {
      unanswered -= part.split("\n").length - 1;
      if (unanswered <= 0) input.end();
    };
    return { input: input as unknown as In, onOutput };
  }

  #bash(line: string, interrupted: boolean): Promise<{ printed: string; code: number }> {
    const { folder = ".", program = "" } = this.#surroundings;
    const env = { PATH: process.env["PATH"], HOME: folder, NO_COLOR: "1" };
    const mailsvc = `"${process.execPath}" "${program}"`;
    // In place of the shell, so that a signal reaches the program alone.
    const command = interrupted ? line.replace(/^mailsvc /, `exec ${mailsvc} `) : line;
    const script = `exec 2>&1; mailsvc() { ${mailsvc} "$@"; }; ${command}`;
    const child = spawn("bash", ["-uc", script], { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
    let printed = "";
    child.stdout.setEncoding("utf8").on("data", (part: string) => {
      // Once: a second Ctrl-C ends it at once.
      if (interrupted && printed === "") child.kill("SIGINT");
      printed += part;
    });
    return new Promise((done) => child.on("close", (code) => done({ printed, code: code ?? 1 })));
  }
}

/** The first line is what it was waited for. */
function showInterrupt(printed: string): string {
  const [first, ...more] = printed.split("\n");
  return [first, CTRL_C, ...more].join("\n");
}

/** The value at a path such as `.data[0].id`. */
function pick(value: unknown, path: string): unknown {
  return [...path.matchAll(/\w+/g)].reduce<unknown>((at, [key]) => (at as Record<string, unknown>)[key], value);
}

function splitWords(command: string): string[] {
  return [...command.matchAll(/((?:'[^']*'|"[^"]*"|[^\s'"])+)/g)].map(([word]) => word.replaceAll(/'([^']*)'|"([^"]*)"/g, "$1$2"));
}

function toPattern(text: string): RegExp {
  const parts = text
    .trimEnd()
    .split("…")
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".+?")}$`, "s");
}
