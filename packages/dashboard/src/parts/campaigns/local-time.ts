import type { CampaignDetail } from "@mailsvc/sdk/contract";
import { api } from "../../api/client.ts";
import type { When } from "./send-time.tsx";

/** Sets or removes the reader's local time of a campaign, as a person has chosen, and returns the campaign as it is then. Throws RequestError. */
export async function setLocalTime(campaign: CampaignDetail, when: When): Promise<CampaignDetail> {
  const { id, localTime, revision } = campaign;
  const local = when.kind === "local" ? { at: when.at, fallback: when.timeZone, field: localTime?.field ?? "timeZone" } : null;
  if (local === null && localTime === null) return campaign;
  return api.campaigns.update(id, { localTime: local, revision });
}
