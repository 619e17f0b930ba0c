import type { Campaign, CampaignStatus, VariantName } from "@mailsvc/sdk/contract";

/** The names of variants. */
export const VARIANTS: readonly VariantName[] = ["A", "B", "C", "D", "E"];

const WORDS: Readonly<Record<CampaignStatus, string>> = {
  DRAFT: "draft",
  SCHEDULED: "scheduled",
  SENDING: "sending",
  SENT: "sent",
  PAUSED: "paused",
  CANCELLED: "cancelled",
};

/** The states of campaigns, for a filter. */
export const CAMPAIGN_STATES = (Object.keys(WORDS) as CampaignStatus[]).map((value) => ({ value, text: WORDS[value] }));

type State = Pick<Campaign, "status" | "startedAt">;

/** The state in a word: a paused campaign that has not started is held. */
export function nameState({ status, startedAt }: State): string {
  return status === "PAUSED" && startedAt === null ? "held" : WORDS[status];
}

/** True if it can be deleted. A started campaign is kept, as the record of its recipients. */
export function isDeletable({ status, startedAt }: State): boolean {
  return startedAt === null && status !== "SENDING" && status !== "SENT";
}

/** True if it waits for its time or was paused before it, so it can become a draft again. */
export function isWaiting({ status, startedAt }: State): boolean {
  return status === "SCHEDULED" || (status === "PAUSED" && startedAt === null);
}
