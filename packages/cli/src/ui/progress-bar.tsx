import { render, Text, useWindowSize } from "ink";
import { type ReactNode, useEffect, useState } from "react";
import type { Session } from "../types.ts";

const WIDEST = 40;
const NARROWEST = 10;
// Width of the percentage, which follows the bar.
const PERCENT = 6;

/** Waits for some ms of real time, or until the signal aborts. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

/** A bar that is full when `done` is 1, its percentage, and what stands beside it, which takes at most `beside` columns. */
export function ProgressBar({ done, beside, children }: { done: number; beside: number; children?: ReactNode }) {
  const { columns } = useWindowSize();
  const width = Math.max(NARROWEST, Math.min(WIDEST, columns - PERCENT - beside));
  const full = Math.floor(done * width);
  return (
    <Text>
      <Text color="cyan">{"━".repeat(full)}</Text>
      <Text dimColor>{"─".repeat(width - full)}</Text>
      {` ${String(Math.floor(done * 100)).padStart(3)} %`}
      {children}
    </Text>
  );
}

/** Draws a component again every so many ms: what it shows changes behind its back. */
export function useFrames(ms: number, sleep: Sleep): void {
  const [, turn] = useState(0);
  useEffect(() => {
    const ended = new AbortController();
    const run = async (): Promise<void> => {
      while (!ended.signal.aborted) {
        await sleep(ms, ended.signal);
        if (!ended.signal.aborted) turn((n) => n + 1);
      }
    };
    void run();
    return () => ended.abort();
  }, [ms, sleep]);
}

/** Shows a component on stderr. The returned function removes it; lines printed above it stay. */
export function renderOnStderr({ host }: Session, node: ReactNode): () => Promise<void> {
  const stderr = host.stderr as NodeJS.WriteStream;
  // Ctrl-C arrives as a signal, because nothing here reads keys.
  const screen = render(node, { stdout: stderr, stderr, exitOnCtrlC: false, patchConsole: false });
  return async () => {
    screen.clear();
    screen.unmount();
    await screen.waitUntilExit();
  };
}
