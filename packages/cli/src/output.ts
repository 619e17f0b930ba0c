import type { Failure } from "./errors.ts";
import type { Host, Out } from "./host.ts";
import { safeJson, safeLines, safeText } from "./safe-text.ts";
import type { Style, Terminal } from "./tty.ts";

/** The reader of stdout went away (`| head`): nothing is wrong, there is just no one left to write to. */
export class ReaderGone extends Error {
  override name = "ReaderGone";
}

/** Where a command's words go: data to stdout, everything else to stderr. */
export interface Output {
  /** True when data is written as JSON: with --json, and whenever stdout is no terminal. */
  readonly json: boolean;
  readonly term: Terminal;
  /** One document: JSON (one line in a pipe), or what `view` makes of it for people. */
  data(value: unknown, view: () => string): Promise<void>;
  /** One JSON document, for people too. */
  document(value: unknown): Promise<void>;
  /** One line of a stream of JSON documents. */
  line(value: unknown): Promise<void>;
  /** Text as it is, made safe when a terminal reads it. */
  text(text: string): Promise<void>;
  /** A remark for people, on stderr; nothing with --quiet. `text` is our own, remote parts must be made safe by the caller. */
  note(text: string): void;
  /** A line on stderr that --quiet does not silence. */
  say(text: string): void;
  /** Explains a failure on stderr: for people, or as a JSON line when `json` was asked for. */
  fail(failure: Failure, asJson: boolean): void;
}

/** A failure in lines for people. */
export function renderFailure(failure: Failure, style: Style): string {
  const { details = [] } = failure;
  const [only] = details;
  // One fault that says the same as the whole is named and not repeated.
  const same = details.length === 1 && only?.message === failure.message;
  const named = same ? (only?.flag ?? only?.path ?? "") : "";
  const lines = [`${style.red(style.bold("error"))} ${named === "" ? "" : `${style.bold(safeText(named))}: `}${safeText(failure.message)}`];
  for (const fault of same ? [] : details) {
    const where = fault.flag ?? fault.path;
    lines.push(where === "" ? `  ${safeText(fault.message)}` : `  ${style.bold(safeText(where))}  ${safeText(fault.message)}`);
  }
  if (failure.hint) lines.push(safeText(failure.hint));
  if (failure.retryAfterMs !== undefined) lines.push(`Try again in ${seconds(failure.retryAfterMs)}.`);
  if (failure.next) lines.push(`${style.dim("try")} ${style.cyan(safeText(failure.next))}`);
  if (failure.requestId) lines.push(style.dim(`code ${safeText(failure.code)}, request ${safeText(failure.requestId)}`));
  return `${lines.join("\n")}\n`;
}

export function outputOf(host: Host, term: Terminal, flags: { json: boolean; quiet: boolean }): Output {
  const json = flags.json || !term.stdoutTTY;
  const indent = term.stdoutTTY ? 2 : 0;
  const ending = (text: string): string => (text === "" || text.endsWith("\n") ? text : `${text}\n`);
  const say = (text: string): void => {
    if (!host.stderr.destroyed) host.stderr.write(ending(text));
  };
  return {
    json,
    term,
    data: (value, view) => writeAll(host.stdout, json ? `${safeJson(value, indent)}\n` : ending(view())),
    document: (value) => writeAll(host.stdout, `${safeJson(value, indent)}\n`),
    line: (value) => writeAll(host.stdout, `${safeJson(value)}\n`),
    text: (text) => writeAll(host.stdout, term.stdoutTTY ? ending(safeLines(text)) : text),
    note: (text) => (flags.quiet ? undefined : say(text)),
    say,
    fail: (failure, asJson) => say(asJson ? safeJson({ error: failure }) : renderFailure(failure, term.err)),
  };
}

function writeAll(stream: Out, text: string): Promise<void> {
  return new Promise((done, failed) => {
    if (stream.destroyed || stream.writableEnded) return failed(new ReaderGone());
    stream.write(text, (error) => {
      if (!error) return done();
      failed((error as NodeJS.ErrnoException).code === "EPIPE" ? new ReaderGone() : error);
    });
  });
}

function seconds(ms: number): string {
  return `${Math.max(1, Math.ceil(ms / 1000))} s`;
}
