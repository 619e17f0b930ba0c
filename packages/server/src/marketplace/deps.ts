import type { Queue } from "../queue/queue.ts";
import type { WebhookDeps } from "../webhooks/webhooks.ts";
import type { ActivationDeps } from "./activations/activations.ts";
import type { AgentWebhookDeps } from "./agent-webhooks/deps.ts";
import type { BrandDeps } from "./brand/brand.ts";
import type { CatalogDeps } from "./catalog/catalog.ts";
import type { FileDeps } from "./files/staging.ts";
import type { PageDeps } from "./landing-pages/pages.ts";
import type { ListingDeps } from "./listings/listings.ts";
import type { MessageDeps } from "./messages/messages.ts";
import type { PaymentDeps } from "./payments/payments.ts";
import type { PlanDeps } from "./plans/plans.ts";
import type { RunDeps } from "./runs/runs.ts";
import type { WakeupDeps } from "./wakeups/wakeups.ts";

export interface MarketplaceDeps
  extends ActivationDeps,
    AgentWebhookDeps,
    BrandDeps,
    CatalogDeps,
    FileDeps,
    PageDeps,
    ListingDeps,
    MessageDeps,
    PaymentDeps,
    PlanDeps,
    RunDeps,
    WakeupDeps {
  readonly config: AgentWebhookDeps["config"] & FileDeps["config"] & PageDeps["config"];
  readonly queue: Queue;
  readonly webhooks: WebhookDeps["webhooks"];
}
