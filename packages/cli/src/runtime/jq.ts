import { usageError } from "./errors.ts";

/** Result of jq for some documents. */
interface JqResult {
  /** One result a line. */
  readonly text: string;
  /** Reason the expression does not fit a document; null if it does. */
  readonly fault: string | null;
}

/** Applies an expression to a document. */
export interface JqFilter {
  apply(json: string): JqResult;
}

// The exit code of jq for an expression that it cannot compile.
const COMPILE_ERROR = 3;

// Words that read other documents, end jq or must stand at the beginning: an expression with one cannot stand within another program.
const STANDS_ALONE = /\b(?:inputs?|halt\w*|import|include|module|input_line_number)\b/;

// Nothing but comments: jq refuses it within another program.
const EMPTY = /^\s*(?:#.*\s*)*$/;

const RESULT = '{"r":';

/** The filter of --jq: jq itself, compiled to WebAssembly. Throws CliError if the expression is wrong. */
export async function createJqFilter(given: string): Promise<JqFilter> {
  // Loaded now only: it is larger than the rest of this program.
  const { loadJq } = await import("jq-wasm/inline");
  const jq = await loadJq();
  const expression = EMPTY.test(given) ? "." : given;
  const run = (json: string, source: string, flags: string[]): ReturnType<typeof jq.raw> => {
    const before = process.exitCode;
    const result = letSignalsEnd(() => jq.raw(json, source, flags));
    // It leaves its own exit code in the process.
    process.exitCode = before;
    return result;
  };
  // Without input nothing is run, but a wrong expression is found.
  const { exitCode, stderr } = run("", expression, ["-c"]);
  if (exitCode === COMPILE_ERROR) throw usageError(`--jq: ${readFault(stderr)}.`);
  const alone = STANDS_ALONE.test(expression);
  // The line break ends a comment of the expression.
  const program = alone ? expression : `(${expression}\n) | {r: .}`;
  return {
    apply: (json) => {
      const result = run(json, program, alone ? ["-c", "-r"] : ["-c"]);
      const fault = result.exitCode === 0 ? null : readFault(result.stderr);
      const lines = result.stdout === "" ? [] : result.stdout.split("\n");
      return { text: lines.map((line) => `${alone ? line : toText(line.slice(RESULT.length, -1))}\n`).join(""), fault };
    },
  };
}

/**
 * Does what may take for ever, such as `last(range(1e12))`. Listeners of this program would wait until it is done; without them a signal ends
 * the process at once.
 */
function letSignalsEnd<T>(work: () => T): T {
  const kept = (["SIGINT", "SIGTERM", "SIGHUP"] as const).map((signal) => [signal, process.rawListeners(signal)] as const);
  for (const [signal] of kept) process.removeAllListeners(signal);
  try {
    return work();
  } finally {
    for (const [signal, listeners] of kept) for (const listener of listeners) process.on(signal, listener as () => void);
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
