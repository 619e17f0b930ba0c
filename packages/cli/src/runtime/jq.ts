import type { Host } from "../types.ts";
import { CliError, usageError } from "./errors.ts";
import { EXIT } from "./exit.ts";

/** Applies an expression to a JSON text; returns one result a line. Throws CliError for a text that it does not fit. */
export type JqFilter = (json: string) => Promise<string>;

// The exit code of jq for an expression that it cannot compile.
const COMPILE_ERROR = 3;

/**
 * The filter of --jq, run by the jq of this machine: implementations in JavaScript give other results for some expressions, such as
 * `sort_by(-.n)`. Throws CliError if jq is not installed, or the expression is wrong.
 */
export async function createJqFilter(host: Pick<Host, "pipe">, expression: string): Promise<JqFilter> {
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
  if (code === COMPILE_ERROR) throw wrong(stderr);
  return async (json) => {
    const result = await run(json);
    if (result.code !== 0) throw wrong(result.stderr);
    return result.stdout;
  };
}

function wrong(stderr: string): CliError {
  const [first = ""] = stderr.split("\n");
  return usageError(`--jq: ${first.replace(/^jq: (?:error(?: \(at [^)]*\))?: )?/, "").replace(/[.:]$/, "")}.`);
}
