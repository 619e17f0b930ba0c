import type { CampaignStats } from "@mailsvc/sdk/contract";
import { Box, render, Text, useWindowSize } from "ink";
import { useEffect, useState } from "react";
import { formatNumber } from "../import/summary.ts";
import { safeText } from "../runtime/safe-text.ts";
import type { Session } from "../types.ts";
import { listStates } from "../views/campaigns.ts";

/** What the display of a campaign shows. */
export interface CampaignProgressProps {
  readonly name: string;
  /** The newest statistics; null before the first answer. */
  stats(): CampaignStats | null;
  /** Mails a second, lately. */
  pace(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

const FRAME_MS = 200;
const WIDEST = 40;
// Width of what stands beside the bar.
const BESIDE = 12;

/** The bar and the live numbers of a campaign that is being sent. */
export function CampaignProgress({ name, stats: getStats, pace, sleep }: CampaignProgressProps) {
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
  const stats = getStats();
  if (stats === null) return <Text dimColor>Waiting for the first numbers</Text>;
  const done = computeDone(stats);
  const width = Math.max(10, Math.min(WIDEST, columns - BESIDE));
  const full = Math.floor(done * width);
  return (
    <Box flexDirection="column">
      <Text wrap="truncate">
        {stats.status === "SENDING" ? "Sending" : stats.status} <Text bold>{safeText(name)}</Text>
        {`  ${formatNumber(stats.recipients.total)} recipients`}
        <Text dimColor>{pace() > 0 ? `  ${formatNumber(Math.round(pace()))} a second` : ""}</Text>
      </Text>
      <Text>
        <Text color="cyan">{"━".repeat(full)}</Text>
        <Text dimColor>{"─".repeat(width - full)}</Text>
        {` ${String(Math.floor(done * 100)).padStart(3)} %`}
      </Text>
      <Text wrap="truncate">
        {listStates(stats).map(([state, n]) => (
          <Text key={state}>
            <Text dimColor>{`${state} `}</Text>
            {`${formatNumber(n)}   `}
          </Text>
        ))}
        <Text dimColor>opened </Text>
        {`${formatNumber(stats.opens.unique)}   `}
        <Text dimColor>clicked </Text>
        {formatNumber(stats.clicks.unique)}
      </Text>
    </Box>
  );
}

/** The share of recipients that had their first attempt. */
export function computeDone({ recipients: { total, queued, sending } }: Pick<CampaignStats, "recipients">): number {
  return total === 0 ? 0 : (total - queued - sending) / total;
}

/** Shows the progress on stderr until the returned function is called. */
export function renderCampaignProgress({ host }: Session, props: Omit<CampaignProgressProps, "sleep">): () => Promise<void> {
  const screen = render(<CampaignProgress {...props} sleep={(ms, ended) => host.sleep(ms, ended)} />, {
    stdout: host.stderr as NodeJS.WriteStream,
    stderr: host.stderr as NodeJS.WriteStream,
    exitOnCtrlC: false,
    patchConsole: false,
  });
  return async () => {
    screen.clear();
    screen.unmount();
    await screen.waitUntilExit();
  };
}
