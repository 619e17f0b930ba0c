import { render, Text, useWindowSize } from "ink";
import { type ReactNode, useEffect, useState } from "react";
import type { Session } from "../types.ts";

const WIDEST = 40;
const NARROWEST = 10;
// Width of the percentage, which follows the bar.
const PERCENT = 6;

/** Waits for a few ms of real time, or until the signal aborts. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

/** A bar that is full when `done` is 1, its percentage, and what follows it, which takes at most `reserved` columns. */
export function ProgressBar({ done, reserved, children }: { done: number; reserved: number; children?: ReactNode }) {
  const { columns } = useWindowSize();
  const width = Math.max(NARROWEST, Math.min(WIDEST, columns - PERCENT - reserved));
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

/** Draws a component again every `ms` milliseconds, because what it shows changes. */
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
