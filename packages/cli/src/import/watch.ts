import type { Session } from "../session.ts";
import type { Reject } from "./batches.ts";
import type { Standing } from "./importer.ts";
import type { Kind } from "./kind.ts";
import type { Source } from "./source.ts";
import { faultLines, number, pace, progressLine } from "./summary.ts";

/** What people see while an import runs. */
export interface Watch {
  rejects(rejects: readonly Reject[]): void;
  end(): Promise<void>;
}

const EVERY_MS = 10_000;
const LOOK_MS = 500;
// More are not read by anybody; all of them are in the file that --errors-file names.
const SHOWN = 50;

/** Begins to show an import: a bar on a terminal, a line now and then elsewhere; and in both, rows that fail. */
export async function watchImport(session: Session, kind: Kind, source: Source, standing: Standing, dryRun: boolean): Promise<Watch> {
  const { host, out, term } = session;
  const began = host.now();
  const lines: string[] = [];
  let shown = 0;
  let say = (line: string): void => out.say(line);
  let close: () => Promise<void>;
  if (wantsScreen(session)) {
    const { showImport } = await import("../ui/import-progress.tsx");
    say = (line) => lines.push(line);
    const props = { name: source.name, size: source.size, standing, outcomes: kind.outcomes, dryRun, began, lines: () => lines };
    close = showImport(session, props);
  } else close = plainly(session, source, standing, began);
  const stopping = (): void => {
    standing.stopping = true;
    if (!wantsScreen(session)) out.note("Stopping after the batches that are on their way.");
  };
  session.signal.addEventListener("abort", stopping, { once: true });
  return {
    rejects: (rejects) => {
      for (const line of rejects.flatMap((reject) => faultLines(reject, term.err))) {
        if (shown < SHOWN) say(line);
        shown += 1;
      }
    },
    end: async () => {
      session.signal.removeEventListener("abort", stopping);
      await close();
      if (shown > SHOWN)
        out.say(term.err.dim(`… and ${number(shown - SHOWN)} more; --errors-file FILE keeps the rows with what is wrong with them.`));
    },
  };
}

function wantsScreen({ host, term, globals }: Session): boolean {
  return term.stderrTTY && !globals.quiet && !globals.json && host.env["TERM"] !== "dumb" && !host.env["CI"];
}

/** Lines at intervals, for a log. */
function plainly(session: Session, source: Source, standing: Standing, began: number): () => Promise<void> {
  const { host, out, globals } = session;
  const ended = new AbortController();
  const run = async (): Promise<void> => {
    for (let last = began; !ended.signal.aborted; ) {
      await host.sleep(LOOK_MS, ended.signal);
      const now = host.now();
      if (ended.signal.aborted || now - last < EVERY_MS) continue;
      last = now;
      out.note(progressLine(source.name, standing, source.size, pace(standing, source.size, began, now).rate));
    }
  };
  const running = globals.quiet ? Promise.resolve() : run();
  return async () => {
    ended.abort();
    await running;
  };
}
