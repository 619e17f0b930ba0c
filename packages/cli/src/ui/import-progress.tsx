import { Box, render, Static, Text, useWindowSize } from "ink";
import { useEffect, useState } from "react";
import type { Standing } from "../import/importer.ts";
import { number, pace, part } from "../import/summary.ts";
import { safeText } from "../safe-text.ts";
import type { Session } from "../session.ts";

/** What the progress of an import is drawn from. */
export interface ImportProgressProps {
  /** Of the file. */
  name: string;
  /** In bytes; null for a pipe. */
  size: number | null;
  standing: Standing;
  /** What rows can come to, in order. */
  outcomes: readonly string[];
  dryRun: boolean;
  /** When this run began, ms. */
  began: number;
  /** Lines that stay above the bar. */
  lines(): readonly string[];
  now(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

const FRAME_MS = 100;
const WIDEST = 40;
// Beside the bar stands " 100 %  9:59:59 left".
const BESIDE = 24;

/** The bar, the pace and the counts of an import, with the rows that failed above them. */
export function ImportProgress(props: ImportProgressProps) {
  const { name, size, standing, outcomes, dryRun, began, lines, now, sleep } = props;
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
  const done = part(standing, size);
  const { rate, left } = pace(standing, size, began, now());
  const verb = standing.stopping ? "Finishing what is on its way:" : dryRun ? "Checking" : "Importing";
  return (
    <>
      <Static items={[...lines()]}>{(line, i) => <Text key={i}>{line}</Text>}</Static>
      <Box flexDirection="column">
        <Text wrap="truncate">
          {verb} <Text bold>{safeText(name)}</Text>
          {"  "}
          {number(standing.rows)} rows
          <Text dimColor>{rate > 0 ? `  ${number(rate)} a second` : ""}</Text>
        </Text>
        {done === null ? null : (
          <Text>
            <Bar done={done} width={Math.max(10, Math.min(WIDEST, columns - BESIDE))} />
            {` ${String(Math.floor(done * 100)).padStart(3)} %`}
            <Text dimColor>{left !== null && done < 1 ? `  ${clock(left)} left` : ""}</Text>
          </Text>
        )}
        <Counts standing={standing} outcomes={outcomes} />
      </Box>
    </>
  );
}

/** Shows the progress on stderr until the answer is called; then it is gone, and what stood above it stays. */
export function showImport(session: Session, props: Omit<ImportProgressProps, "now" | "sleep">): () => Promise<void> {
  const { host } = session;
  const screen = render(<ImportProgress {...props} now={() => host.now()} sleep={(ms, ended) => host.sleep(ms, ended)} />, {
    stdout: host.stderr as NodeJS.WriteStream,
    stderr: host.stderr as NodeJS.WriteStream,
    // Ctrl-C is a signal here: nothing reads keys.
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

function Counts({ standing, outcomes }: { standing: Standing; outcomes: readonly string[] }) {
  return (
    <Text wrap="truncate">
      {outcomes
        .filter((name) => (standing.counts[name] ?? 0) > 0)
        .map((name) => (
          <Text key={name}>
            <Text dimColor>{name} </Text>
            {number(standing.counts[name] ?? 0)}
            {"   "}
          </Text>
        ))}
      {standing.failed > 0 ? <Text color="red">{`failed ${number(standing.failed)}`}</Text> : null}
    </Text>
  );
}
