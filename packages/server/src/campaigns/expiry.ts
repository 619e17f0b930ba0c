import { ApiError } from "../lib/api-error.ts";
import { DAY } from "../lib/units.ts";
import type { CampaignRow } from "./campaigns.ts";
import type { CampaignDeps } from "./deps.ts";

type ExpiryDeps = Pick<CampaignDeps, "config" | "clock">;

/** After how many days this server deletes these records, if some of a campaign may be deleted already; else null. */
export function findExpiry(
  { config, clock }: ExpiryDeps,
  { startedAt }: Pick<CampaignRow, "startedAt">,
  records: readonly (keyof CampaignDeps["config"]["keepDays"])[],
): number | null {
  const days = Math.min(...records.map((kind) => config.keepDays[kind] ?? Number.POSITIVE_INFINITY));
  return startedAt !== null && startedAt < clock.now() - days * DAY ? days : null;
}

/** Throws ApiError invalid_state for a campaign of which it may not be known any more who got it. */
export function assertRecipientsKept(deps: ExpiryDeps, campaign: Pick<CampaignRow, "startedAt" | "status">): void {
  // Mail of a campaign that is being sent is never deleted.
  const days = campaign.status === "SENDING" || campaign.status === "PAUSED" ? null : findExpiry(deps, campaign, ["emails"]);
  if (days !== null)
    throw new ApiError(
      "invalid_state",
      `The campaign to send again started over ${days} days ago, and this server deletes mail after that time (--keep), so who got it is not known any more.`,
      { hint: "Duplicate the campaign and send it to a list or a segment: mailsvc campaigns duplicate" },
    );
}
