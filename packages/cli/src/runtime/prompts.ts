import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import type { Host, Terminal } from "../types.ts";
import { cancelledError } from "./errors.ts";
import { safeText } from "./safe-text.ts";

/** Asks for one text, again until `problem` finds nothing wrong with it. */
export async function ask(
  host: Host,
  term: Terminal,
  label: string,
  problem: (answer: string) => string | undefined | Promise<string | undefined> = () => undefined,
  hidden = false,
): Promise<string> {
  for (;;) {
    const answer = (await readLine(host, `${term.err.cyan("?")} ${term.err.bold(label)} `, hidden)).trim();
    const wrong = answer === "" ? "An answer is needed; Ctrl-C gives up." : await problem(answer);
    if (wrong === undefined) return answer;
    host.stderr.write(`  ${term.err.red(safeText(wrong))}\n`);
  }
}

/** Asks yes or no; no is the default. */
export async function confirm(host: Host, term: Terminal, question: string): Promise<boolean> {
  const answer = await readLine(host, `${term.err.yellow("?")} ${term.err.bold(safeText(question))} ${term.err.dim("[y/N]")} `, false);
  return /^y(?:es)?$/i.test(answer.trim());
}

/** Asks on stderr and reads a line from stdin. Ctrl-C and the end of input cancel: CliError, exit 130. */
function readLine(host: Host, question: string, hidden: boolean): Promise<string> {
  return new Promise((done, failed) => {
    // Readline echoes what is typed; a secret is echoed into nothing.
    const nowhere = new Writable({ write: (_chunk, _encoding, next) => next() });
    const lines = createInterface({ input: host.stdin, output: hidden ? nowhere : host.stderr, terminal: true, historySize: 0 });
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
