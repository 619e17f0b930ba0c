import type { CampaignDeps } from "../campaigns/deps.ts";
import type { ContactDeps } from "../contacts/deps.ts";
import type { TrackingDeps } from "../tracking/deps.ts";

/** What export and erasure need. */
export interface DataSubjectDeps extends CampaignDeps, ContactDeps {
  readonly tracker: TrackingDeps["tracker"];
  readonly config: CampaignDeps["config"];
}
