import { safeJson, safeLines, safeText } from "../text/safe-text.ts";
import type { Failure, Host, Out, Output, Style, Terminal } from "../types.ts";
import { CliError } from "./errors.ts";
import { EXIT } from "./exit.ts";
import type { JqFilter } from "./jq.ts";

/** Thrown when the reader of stdout has closed the pipe (`| head`). This is not a failure. */
export class OutputClosed extends Error {
  override name = "OutputClosed";
}

/** Formats a failure for people. */
function renderFailure(failure: Failure, style: Style): string {
  const { details = [] } = failure;
  const [only] = details;
  // A single fault with the same message as the failure is not repeated; its name goes in front of the message.
  const same = details.length === 1 && only?.message === failure.message;
  const named = same ? (only?.flag ?? only?.path ?? "") : "";
  const lines = [`${style.red(style.bold("error"))} ${named === "" ? "" : `${style.bold(safeText(named))}: `}${safeText(failure.message)}`];
  for (const fault of same ? [] : details) {
    const where = fault.flag ?? fault.path;
    lines.push(where === "" ? `  ${safeText(fault.message)}` : `  ${style.bold(safeText(where))}  ${safeText(fault.message)}`);
  }
  if (failure.hint) lines.push(safeText(failure.hint));
  if (failure.retryAfterMs !== undefined) lines.push(`Try again in ${formatSeconds(failure.retryAfterMs)}.`);
  if (failure.next) lines.push(`${style.dim("try")} ${style.cyan(safeText(failure.next))}`);
  if (failure.requestId) lines.push(style.dim(`code ${safeText(failure.code)}, request ${safeText(failure.requestId)}`));
  return `${lines.join("\n")}\n`;
}

export function createOutput(host: Host, term: Terminal, flags: { json: boolean; quiet: boolean; jq?: string | undefined }): Output {
  const json = flags.json || flags.jq !== undefined || !term.stdoutTTY;
  const indent = term.stdoutTTY ? 2 : 0;
  let filter: JqFilter | null = null;
  let hasUnfiltered = false;
  const document = async (value: unknown, width: number): Promise<void> => {
    if (filter === null) return writeAll(host.stdout, `${safeJson(value, width)}\n`);
    const { text, fault } = filter.apply(JSON.stringify(value));
    if (fault === null) return writeAll(host.stdout, term.stdoutTTY ? safeLines(text) : text);
    // The server has done the work already, so its answer and the documents after it are printed. The error is printed once.
    if (!hasUnfiltered)
      fail(
        { code: "jq_failed", message: `--jq does not fit the document, which is printed whole: ${fault}.`, exit: EXIT.unfiltered },
        flags.json,
      );
    hasUnfiltered = true;
    return writeAll(host.stdout, `${safeJson(value, width)}\n`);
  };
  const ending = (text: string): string => (text === "" || text.endsWith("\n") ? text : `${text}\n`);
  const say = (text: string): void => {
    if (!host.stderr.destroyed) host.stderr.write(ending(text));
  };
  const fail = (failure: Failure, asJson: boolean): void => say(asJson ? safeJson({ error: failure }) : renderFailure(failure, term.err));
  return {
    json,
    term,
    get hasUnfiltered() {
      return hasUnfiltered;
    },
    ready: async () => {
      if (flags.jq === undefined) return;
      const { createJqFilter } = await import("./jq.ts");
      filter = await createJqFilter(flags.jq);
    },
    data: (value, view) => (json ? document(value, indent) : writeAll(host.stdout, ending(view()))),
    begin: async (value, view) => {
      if (!json) {
        await writeAll(host.stdout, ending(view()));
        return async (_more, rest) => writeAll(host.stdout, ending(rest()));
      }
      if (filter !== null) return (more) => document({ ...value, ...more }, indent);
      const head = safeJson(value, indent).slice(0, -1).trimEnd();
      await writeAll(host.stdout, head);
      return (more) => writeAll(host.stdout, `${safeJson({ ...value, ...more }, indent).slice(head.length)}\n`);
    },
    document: (value) => document(value, indent),
    line: (value) => document(value, 0),
    text: (text) => writeAll(host.stdout, term.stdoutTTY ? ending(safeLines(text)) : text),
    bytes: (bytes) => writeAll(host.stdout, bytes),
    note: (text) => (flags.quiet ? undefined : say(text)),
    say,
    fail,
  };
}

function writeAll(stream: Out, text: string | Uint8Array): Promise<void> {
  return new Promise((done, failed) => {
    if (stream.destroyed || stream.writableEnded) return failed(new OutputClosed());
    stream.write(text, (error) => {
      if (!error) return done();
      const { code = "failed" } = error as NodeJS.ErrnoException;
      failed(code === "EPIPE" ? new OutputClosed() : unwritableError(code));
    });
  });
}

function unwritableError(code: string): CliError {
  const reason = code === "ENOSPC" ? "no space is left on the device" : code === "EIO" ? "the device or the terminal is gone" : code;
  return new CliError({ code: "output_failed", message: `The output cannot be written: ${reason}.`, exit: EXIT.output });
}

function formatSeconds(ms: number): string {
  return `${Math.max(1, Math.ceil(ms / 1000))} s`;
}
