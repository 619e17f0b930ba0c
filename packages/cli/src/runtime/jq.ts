import type { Conversation, Host } from "../types.ts";
import { CliError, usageError } from "./errors.ts";
import { EXIT } from "./exit.ts";

/** Result of jq for one document. */
export interface JqResult {
  /** One result a line. */
  readonly text: string;
  /** Reason the expression does not fit the document; null if it does. */
  readonly fault: string | null;
}

/** Applies an expression to documents. */
export interface JqFilter {
  /** May be called before an earlier call has ended. */
  apply(json: string): Promise<JqResult>;
  /** Ends the jq that runs, after what was asked of it. */
  close(): void;
}

// The exit code of jq for an expression that it cannot compile.
const COMPILE_ERROR = 3;

// Words that read other documents, end jq or must stand at the beginning: an expression with one gets a jq process for each document.
const NEEDS_OWN_JQ = /\b(?:inputs?|halt\w*|import|include|module|input_line_number)\b/;

// Nothing but comments: jq takes it as `.`, but not within another program.
const EMPTY = /^\s*(?:#.*\s*)*$/;

const RESULT = '{"r":';
const FAULT = '{"e":';
const END = '{"end":true}';

/**
 * The filter of --jq, run by the jq of this machine: implementations in JavaScript give other results for some expressions, such as
 * `sort_by(-.n)`. Throws CliError if jq is not installed, or the expression is wrong.
 */
export async function createJqFilter(host: Pick<Host, "pipe" | "converse">, expression: string): Promise<JqFilter> {
  const run = async (json: string) => {
    try {
      // The blank, because an expression such as -.n is no option.
      return await host.pipe(["jq", "--compact-output", "--raw-output", ` ${expression}`], json);
    } catch (error) {
      throw new CliError({
        code: "jq_missing",
        message: `--jq: jq cannot be started (${(error as NodeJS.ErrnoException).code ?? "failed"}).`,
        exit: EXIT.notStarted,
        hint: "Install jq: https://jqlang.org/download. With --json the whole document is printed.",
      });
    }
  };
  // Without input nothing is run, but a wrong expression is found.
  const { code, stderr } = await run("");
  if (code === COMPILE_ERROR) throw usageError(`--jq: ${readFault(stderr)}.`);
  if (!NEEDS_OWN_JQ.test(expression) && !EMPTY.test(expression)) return new LastingJq(host, expression);
  return {
    apply: async (json) => {
      const result = await run(json);
      return { text: result.stdout, fault: result.code === 0 ? null : readFault(result.stderr) };
    },
    close: () => {},
  };
}

/** One jq for all documents of a command, one after the other: lists and streams have thousands. */
class LastingJq implements JqFilter {
  readonly #host: Pick<Host, "converse">;
  readonly #program: string;
  #jq: Promise<Conversation> | null = null;
  /** The end of what was asked of it so far. */
  #asked: Promise<unknown> = Promise.resolve();

  constructor(host: Pick<Host, "converse">, expression: string) {
    this.#host = host;
    // The line break ends a comment of the expression.
    this.#program = `(try ((${expression}\n) | {r: .}) catch {e: .}), {end: true}`;
  }

  apply(json: string): Promise<JqResult> {
    // Ctrl-C at a terminal ends jq too, and what happens then is still to be printed.
    const result = this.#asked.then(async () => {
      const first = await this.#ask(json);
      return first.hasEnded ? this.#ask(json) : first;
    });
    this.#asked = result.catch(() => {});
    return result;
  }

  async #ask(json: string): Promise<JqResult & { readonly hasEnded: boolean }> {
    this.#jq ??= this.#host.converse(["jq", "--unbuffered", "--compact-output", this.#program]);
    const jq = await this.#jq;
    jq.write(json);
    const results: string[] = [];
    let fault: string | null = null;
    for (;;) {
      const line = await jq.read();
      if (line === null) {
        this.#jq = null;
        return { text: "", fault: readFault(jq.errors()), hasEnded: true };
      }
      if (line === END) return { text: results.map((one) => `${one}\n`).join(""), fault, hasEnded: false };
      if (line.startsWith(FAULT)) fault = toText(line.slice(FAULT.length, -1)).replace(/[.:]$/, "");
      else results.push(toText(line.slice(RESULT.length, -1)));
    }
  }

  close(): void {
    void this.#asked.then(async () => (await this.#jq)?.end()).catch(() => {});
  }
}

/** A text without quotation marks, anything else as jq has written it: parsing would round large numbers. */
function toText(json: string): string {
  return json.startsWith('"') ? (JSON.parse(json) as string) : json;
}

function readFault(stderr: string): string {
  const [first = ""] = stderr.split(/\r?\n/);
  return first.replace(/^jq: (?:error(?: \(at [^)]*\))?: )?/, "").replace(/[.:]$/, "") || "jq has ended";
}
