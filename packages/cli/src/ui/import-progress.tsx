import { Box, Static, Text } from "ink";
import type { ImportState } from "../import/importer.ts";
import { computeFraction, estimatePace } from "../import/summary.ts";
import { safeText } from "../text/safe-text.ts";
import { formatNumber } from "../text/units.ts";
import type { Session } from "../types.ts";
import { ProgressBar, renderOnStderr, type Sleep, useFrames } from "./progress-bar.tsx";

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
  sleep: Sleep;
}

const FRAME_MS = 100;
// Width of "  9:59:59 left", and some columns more.
const RESERVED = 18;

/** The bar, rate and counts of an import, with the rows that failed above them. */
export function ImportProgress(props: ImportProgressProps) {
  const { name, size, state, outcomes, dryRun, began, lines, now, sleep } = props;
  useFrames(FRAME_MS, sleep);
  const done = computeFraction(state, size);
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
          <ProgressBar done={done} reserved={RESERVED}>
            <Text dimColor>{left !== null && done < 1 ? `  ${clock(left)} left` : ""}</Text>
          </ProgressBar>
        )}
        <Counts state={state} outcomes={outcomes} />
      </Box>
    </>
  );
}

/** Shows the progress on stderr. The returned function removes it; the lines above it stay. */
export function renderImportProgress(session: Session, props: Omit<ImportProgressProps, "now" | "sleep">): () => Promise<void> {
  const { host } = session;
  return renderOnStderr(session, <ImportProgress {...props} now={() => host.now()} sleep={(ms, ended) => host.sleep(ms, ended)} />);
}

function clock(seconds: number): string {
  const two = (n: number): string => String(n).padStart(2, "0");
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
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
