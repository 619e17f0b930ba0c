import { Box, render, Static, Text, useWindowSize } from "ink";
import { useEffect, useState } from "react";
import type { ImportState } from "../import/importer.ts";
import { estimatePace, formatNumber, getFraction } from "../import/summary.ts";
import { safeText } from "../runtime/safe-text.ts";
import type { Session } from "../types.ts";

/** The state that the progress display shows. */
export interface ImportProgressProps {
  /** Name of the file. */
  name: string;
  /** Size in bytes; null for a pipe. */
  size: number | null;
  state: ImportState;
  /** Names of the possible outcomes of a row, in display order. */
  outcomes: readonly string[];
  dryRun: boolean;
  /** Start of this run, ms since 1970. */
  began: number;
  /** Lines printed above the bar, which stay on the screen. */
  lines(): readonly string[];
  now(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

const FRAME_MS = 100;
const WIDEST = 40;
// Width of " 100 %  9:59:59 left", which follows the bar.
const BESIDE = 24;

/** The bar, rate and counts of an import, with the rows that failed above them. */
export function ImportProgress(props: ImportProgressProps) {
  const { name, size, state, outcomes, dryRun, began, lines, now, sleep } = props;
  const [, turn] = useState(0);
  const { columns } = useWindowSize();
  useEffect(() => {
    const ended = new AbortController();
    const run = async (): Promise<void> => {
      while (!ended.signal.aborted) {
        await sleep(FRAME_MS, ended.signal);
        if (!ended.signal.aborted) turn((n) => n + 1);
      }
    };
    void run();
    return () => ended.abort();
  }, [sleep]);
  const done = getFraction(state, size);
  const { rate, left } = estimatePace(state, size, began, now());
  const verb = state.stopping ? "Finishing the requests in flight:" : dryRun ? "Checking" : "Importing";
  return (
    <>
      <Static items={[...lines()]}>{(line, i) => <Text key={i}>{line}</Text>}</Static>
      <Box flexDirection="column">
        <Text wrap="truncate">
          {verb} <Text bold>{safeText(name)}</Text>
          {"  "}
          {formatNumber(state.rows)} rows
          <Text dimColor>{rate > 0 ? `  ${formatNumber(rate)} a second` : ""}</Text>
        </Text>
        {done === null ? null : (
          <Text>
            <Bar done={done} width={Math.max(10, Math.min(WIDEST, columns - BESIDE))} />
            {` ${String(Math.floor(done * 100)).padStart(3)} %`}
            <Text dimColor>{left !== null && done < 1 ? `  ${clock(left)} left` : ""}</Text>
          </Text>
        )}
        <Counts state={state} outcomes={outcomes} />
      </Box>
    </>
  );
}

/** Shows the progress on stderr. The returned function removes it; the lines above it stay. */
export function renderImportProgress(session: Session, props: Omit<ImportProgressProps, "now" | "sleep">): () => Promise<void> {
  const { host } = session;
  const screen = render(<ImportProgress {...props} now={() => host.now()} sleep={(ms, ended) => host.sleep(ms, ended)} />, {
    stdout: host.stderr as NodeJS.WriteStream,
    stderr: host.stderr as NodeJS.WriteStream,
    // Ctrl-C arrives as a signal, because nothing here reads keys.
    exitOnCtrlC: false,
    patchConsole: false,
  });
  return async () => {
    screen.clear();
    screen.unmount();
    await screen.waitUntilExit();
  };
}

function clock(seconds: number): string {
  const two = (n: number): string => String(n).padStart(2, "0");
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

function Bar({ done, width }: { done: number; width: number }) {
  const full = Math.floor(done * width);
  return (
    <Text>
      <Text color="cyan">{"━".repeat(full)}</Text>
      <Text dimColor>{"─".repeat(width - full)}</Text>
    </Text>
  );
}

function Counts({ state, outcomes }: { state: ImportState; outcomes: readonly string[] }) {
  return (
    <Text wrap="truncate">
      {outcomes
        .filter((name) => (state.counts[name] ?? 0) > 0)
        .map((name) => (
          <Text key={name}>
            <Text dimColor>{name} </Text>
            {formatNumber(state.counts[name] ?? 0)}
            {"   "}
          </Text>
        ))}
      {state.failed > 0 ? <Text color="red">{`failed ${formatNumber(state.failed)}`}</Text> : null}
    </Text>
  );
}
