import type { Reject } from "@mailsvc/sdk/contact-files";
import { formatNumber } from "../text/units.ts";
import type { Session } from "../types.ts";
import type { ImportState } from "./importer.ts";
import type { ImportKind } from "./kind.ts";
import type { Source } from "./source.ts";
import { estimatePace, formatProgress, formatReject } from "./summary.ts";

/** The display of a running import. */
interface ProgressView {
  rejects(rejects: readonly Reject[]): void;
  end(): Promise<void>;
}

const LOG_INTERVAL_MS = 10_000;
const POLL_MS = 500;
// Printed errors are limited to a readable number; --errors-file gets all of them.
const MAX_SHOWN = 50;

/** Starts to show progress: a bar on a terminal, a line every 10 s elsewhere, and in both the rows that failed. */
export async function showProgress(
  session: Session,
  kind: ImportKind,
  source: Source,
  state: ImportState,
  dryRun: boolean,
): Promise<ProgressView> {
  const { host, out, term } = session;
  const began = host.now();
  const lines: string[] = [];
  let shown = 0;
  let say = (line: string): void => out.say(line);
  let close: () => Promise<void>;
  if (wantsScreen(session)) {
    const { renderImportProgress } = await import("../ui/import-progress.tsx");
    say = (line) => lines.push(line);
    const props = { name: source.name, size: source.size, state, outcomes: kind.outcomes, dryRun, began, lines: () => lines };
    close = renderImportProgress(session, props);
  } else close = logProgress(session, source, state, began);
  const stopping = (): void => {
    state.stopping = true;
    if (!wantsScreen(session)) out.note("Stopping after the requests in flight.");
  };
  session.signal.addEventListener("abort", stopping, { once: true });
  return {
    rejects: (rejects) => {
      for (const line of rejects.flatMap((reject) => formatReject(reject, term.err))) {
        if (shown < MAX_SHOWN) say(line);
        shown += 1;
      }
    },
    end: async () => {
      session.signal.removeEventListener("abort", stopping);
      await close();
      if (shown > MAX_SHOWN)
        out.say(term.err.dim(`… and ${formatNumber(shown - MAX_SHOWN)} more. --errors-file FILE writes all of them with their reasons.`));
    },
  };
}

function wantsScreen({ host, term, globals }: Session): boolean {
  return term.stderrTTY && !globals.quiet && !globals.json && host.env["TERM"] !== "dumb" && !host.env["CI"];
}

/** Writes a line at intervals, for a log. */
function logProgress(session: Session, source: Source, state: ImportState, began: number): () => Promise<void> {
  const { host, out, globals } = session;
  const ended = new AbortController();
  const run = async (): Promise<void> => {
    for (let last = began; !ended.signal.aborted; ) {
      await host.sleep(POLL_MS, ended.signal);
      const now = host.now();
      if (ended.signal.aborted || now - last < LOG_INTERVAL_MS) continue;
      last = now;
      out.note(formatProgress(source.name, state, source.size, estimatePace(state, source.size, began, now).rate));
    }
  };
  const running = globals.quiet ? Promise.resolve() : run();
  return async () => {
    ended.abort();
    await running;
  };
}
