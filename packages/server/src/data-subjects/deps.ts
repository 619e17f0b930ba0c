import type { AutomationDeps } from "../automations/deps.ts";
import type { CampaignDeps } from "../campaigns/deps.ts";
import type { ContactDeps } from "../contacts/deps.ts";
import type { TrackingDeps } from "../tracking/deps.ts";

export interface DataSubjectDeps extends AutomationDeps, CampaignDeps, ContactDeps {
  readonly tracker: TrackingDeps["tracker"];
  readonly config: CampaignDeps["config"];
}
