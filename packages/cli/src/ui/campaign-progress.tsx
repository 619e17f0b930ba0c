import type { CampaignStats } from "@mailsvc/sdk/contract";
import { Box, Text } from "ink";
import { safeText } from "../text/safe-text.ts";
import { formatNumber } from "../text/units.ts";
import type { Session } from "../types.ts";
import { listStates } from "../views/campaigns.ts";
import { ProgressBar, renderOnStderr, type Sleep, useFrames } from "./progress-bar.tsx";

interface CampaignProgressProps {
  readonly name: string;
  /** The newest statistics; null before the first answer. */
  stats(): CampaignStats | null;
  /** Mails a second, lately. */
  pace(): number;
  readonly sleep: Sleep;
}

const FRAME_MS = 200;

/** The bar and the live numbers of a campaign that is being sent. */
export function CampaignProgress({ name, stats: getStats, pace, sleep }: CampaignProgressProps) {
  useFrames(FRAME_MS, sleep);
  const stats = getStats();
  if (stats === null) return <Text dimColor>Waiting for the first numbers</Text>;
  return (
    <Box flexDirection="column">
      <Text wrap="truncate">
        {stats.status === "SENDING" ? "Sending" : stats.status} <Text bold>{safeText(name)}</Text>
        {`  ${formatNumber(stats.recipients.total)} recipients`}
        <Text dimColor>{pace() > 0 ? `  ${formatNumber(Math.round(pace()))} a second` : ""}</Text>
      </Text>
      <ProgressBar done={computeDone(stats)} reserved={0} />
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
function computeDone({ recipients: { total, queued, sending } }: Pick<CampaignStats, "recipients">): number {
  return total === 0 ? 0 : (total - queued - sending) / total;
}

/** Shows the progress on stderr until the returned function is called. */
export function renderCampaignProgress(session: Session, props: Omit<CampaignProgressProps, "sleep">): () => Promise<void> {
  const { host } = session;
  return renderOnStderr(session, <CampaignProgress {...props} sleep={(ms, ended) => host.sleep(ms, ended)} />);
}
