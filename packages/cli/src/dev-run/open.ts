import type { Flags } from "../runtime/action.ts";
import { CliError, usageError } from "../runtime/errors.ts";
import { EXIT, type Exit } from "../runtime/exit.ts";
import { safeText } from "../text/safe-text.ts";
import type { Session } from "../types.ts";

/** `mailsvc dev --open FILE`: shows a recording on a page of this machine until Ctrl-C. Throws CliError for what is no recording. */
export async function showRecording(
  session: Session,
  file: string,
  { flags, argv }: { flags: Flags; argv: readonly string[] },
): Promise<Exit> {
  if (argv.length > 0) throw usageError("--open shows a recording and runs no command.");
  const { serveRecording, silentLog } = await import("@mailsvc/server");
  const port = Number(flags["port"] ?? 0);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw usageError("--port must be a whole number from 0 to 65535.");
  const shown = await serveRecording(file, { host: "127.0.0.1", port }, silentLog).catch((error) => {
    throw toOpenError(error, file);
  });
  const { out, signal, term } = session;
  try {
    await out.data({ url: shown.url, file }, () => `${term.out.green("Recording")} at ${term.out.bold(shown.url)}`);
    out.note(term.err.dim("Press Ctrl-C to stop."));
    await new Promise<void>((done) => {
      if (signal.aborted) return done();
      signal.addEventListener("abort", () => done(), { once: true });
    });
    return EXIT.ok;
  } finally {
    await shown.close();
  }
}

function toOpenError(error: unknown, file: string): unknown {
  const { name, code, message } = error as NodeJS.ErrnoException;
  if (name === "RecordingError") return new CliError({ code: "recording_unreadable", message, exit: EXIT.validation });
  if (code === "ENOENT")
    return usageError(`There is no file ${safeText(file)}.`, { hint: "A command that fails says where its recording is." });
  if (name === "ListenError" || code !== undefined) return usageError(`${safeText(file)} cannot be shown: ${message}`);
  return error;
}
