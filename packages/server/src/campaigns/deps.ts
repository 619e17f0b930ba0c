import type { EmailDeps } from "../emails/deps.ts";
import type { UnsubscribeDeps } from "../unsubscribe/deps.ts";

export interface CampaignDeps extends EmailDeps {
  /** Contacts that become recipients of a campaign in one transaction. */
  readonly recipientsAtOnce: number;
  readonly config: EmailDeps["config"] & {
    readonly lateCampaigns: "send" | "hold";
    /** Days that mail and events are kept; null forever. */
    readonly keepDays: { readonly emails: number | null; readonly events: number | null };
  };
}

/** Dependencies of showing a mail in a browser. */
export type ViewDeps = CampaignDeps & UnsubscribeDeps;
