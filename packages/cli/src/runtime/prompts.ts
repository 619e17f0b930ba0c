import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { safeText } from "../text/safe-text.ts";
import type { Host, Terminal } from "../types.ts";
import { cancelledError } from "./errors.ts";

/** Prompts for one text until `problem` accepts it. */
export async function ask(
  host: Host,
  term: Terminal,
  label: string,
  problem: (answer: string) => string | undefined | Promise<string | undefined> = () => undefined,
  hidden = false,
): Promise<string> {
  for (;;) {
    const answer = (await readLine(host, `${term.err.cyan("?")} ${term.err.bold(label)} `, hidden)).trim();
    const wrong = answer === "" ? "Enter a value, or press Ctrl-C to cancel." : await problem(answer);
    if (wrong === undefined) return answer;
    host.stderr.write(`  ${term.err.red(safeText(wrong))}\n`);
  }
}

/** Prompts for yes or no; no is the default. */
export async function confirm(host: Host, term: Terminal, question: string): Promise<boolean> {
  const answer = await readLine(host, `${term.err.yellow("?")} ${term.err.bold(safeText(question))} ${term.err.dim("[y/N]")} `, false);
  return /^y(?:es)?$/i.test(answer.trim());
}

/** Prompts on stderr and reads a line from stdin. Ctrl-C and the end of input throw CliError, exit 130. */
function readLine(host: Host, question: string, hidden: boolean): Promise<string> {
  return new Promise((done, failed) => {
    // Readline echoes what is typed; the echo of a secret is discarded.
    const discard = new Writable({ write: (_chunk, _encoding, next) => next() });
    const lines = createInterface({ input: host.stdin, output: hidden ? discard : host.stderr, terminal: true, historySize: 0 });
    let answered = false;
    if (hidden) host.stderr.write(question);
    lines.on("SIGINT", () => lines.close());
    lines.on("close", () => {
      if (hidden || !answered) host.stderr.write("\n");
      if (!answered) failed(cancelledError());
    });
    lines.question(hidden ? "" : question, (answer) => {
      answered = true;
      lines.close();
      done(answer);
    });
  });
}
