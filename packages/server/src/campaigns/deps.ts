import type { EmailDeps } from "../emails/deps.ts";
import type { UnsubscribeDeps } from "../unsubscribe/deps.ts";

/** What campaigns need. */
export interface CampaignDeps extends EmailDeps {
  /** Contacts that become recipients of a campaign in one transaction. */
  readonly recipientsAtOnce: number;
  readonly config: EmailDeps["config"] & {
    readonly lateCampaigns: "send" | "hold";
    /** How many days mail and events are kept; null forever. */
    readonly keepDays: { readonly emails: number | null; readonly events: number | null };
  };
}

/** What showing a mail in a browser needs. */
export type ViewDeps = CampaignDeps & UnsubscribeDeps;
