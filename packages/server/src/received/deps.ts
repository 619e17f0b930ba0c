import type { EmailDeps } from "../emails/deps.ts";
import type { DomainRecords } from "../lib/domain-records.ts";
import type { AgentDeps } from "../marketplace/agent-access.ts";

export interface ReceivedDeps extends EmailDeps, Pick<AgentDeps, "runClock" | "deliverySignal" | "webhooks" | "seal" | "staging"> {
  readonly dns: Pick<DomainRecords, "txt" | "mx" | "addresses">;
  readonly config: EmailDeps["config"] &
    AgentDeps["config"] & {
      readonly inboundDomain: string | null;
    };
}
