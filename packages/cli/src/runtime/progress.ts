import type { Host, Progress, Terminal } from "../types.ts";

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
// Shorter waits show no spinner, so that nothing flickers.
const DELAY_MS = 400;
const FRAME_MS = 80;

/** Starts a spinner on stderr that appears after 0.4 s. Shows nothing when stderr is not a terminal, or with --quiet. */
export function startProgress(host: Host, term: Terminal, quiet: boolean, label: string): Progress {
  if (quiet || !term.stderrTTY || host.env["TERM"] === "dumb" || host.env["CI"]) return { update: () => {}, stop: () => {} };
  let text = label;
  let frame = 0;
  let shown = false;
  const ended = new AbortController();
  const turn = async (): Promise<void> => {
    await host.sleep(DELAY_MS, ended.signal);
    while (!ended.signal.aborted) {
      shown = true;
      host.stderr.write(`\r\u001b[2K${term.err.cyan(FRAMES[frame++ % FRAMES.length] ?? "")} ${text}`);
      await host.sleep(FRAME_MS, ended.signal);
    }
  };
  void turn();
  return {
    update: (next) => {
      text = next;
    },
    stop: () => {
      if (ended.signal.aborted) return;
      ended.abort();
      if (shown) host.stderr.write("\r\u001b[2K");
    },
  };
}
