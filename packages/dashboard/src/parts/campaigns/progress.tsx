/** @jsxImportSource preact */
import type { Campaign, CampaignStats } from "@mailsvc/sdk/contract";
import { api } from "../../api/client.ts";
import { formatCount, count as plural } from "../plural.ts";
import { NUMBERS_MS, useEvents, useResource } from "../resource.ts";
import { formatShare } from "../share.ts";
import { learnTime, Time } from "../time.tsx";

/** The statistics of a campaign, as they change. */
export function useCampaignStats(id: string, interval: "hour" | "day", inputs: readonly unknown[] = []) {
  const stats = useResource(
    async (signal) => {
      const answer = await api.campaigns.stats(id, { interval }, { signal });
      learnTime(answer.computedAt);
      return answer;
    },
    [id, interval, ...inputs],
  );
  useEvents(({ campaignId }) => campaignId === id, stats.reload, NUMBERS_MS);
  return stats;
}

/** Counts the recipients that were attempted, and all of them. */
export function countDone({ recipients, audience }: CampaignStats): { readonly done: number; readonly total: number } {
  const { queued, sending, total } = recipients;
  return { done: total - queued - sending, total: Math.max(total, audience ?? 0) };
}

/** Progress of a campaign in a row of the list. */
export function Progress({ campaign }: { readonly campaign: Campaign }) {
  const { startedAt, scheduledAt, status } = campaign;
  if (startedAt !== null) return <Started campaign={campaign} />;
  if (status === "SCHEDULED" && scheduledAt !== null)
    return (
      <span class="soft">
        starts <Time at={scheduledAt} />
      </span>
    );
  return <span class="soft">{status === "PAUSED" ? "needs your decision" : status === "CANCELLED" ? "nothing was sent" : "not sent"}</span>;
}

function Started({ campaign: { id, status, trackOpens } }: { readonly campaign: Campaign }) {
  const { data } = useCampaignStats(id, "day", [status]);
  if (data === null) return null;
  const { done, total } = countDone(data);
  if (status === "SENDING" || status === "PAUSED") return <Bar done={done} total={total} />;
  const { delivered, sent, complained } = data.recipients;
  return (
    <span class="soft">
      sent to {plural(delivered + sent + complained, "person", "people")}
      {trackOpens ? ` · ${formatShare(data.rates.open.rate)} opened` : ""}
    </span>
  );
}

/** A bar that fills, and its numbers. */
export function Bar({ done, total }: { readonly done: number; readonly total: number }) {
  return (
    <span class="done-bar">
      <progress aria-label="Progress" max={Math.max(total, 1)} value={done} />
      <span class="soft">
        {formatCount(done)} of {formatCount(total)}
      </span>
    </span>
  );
}
