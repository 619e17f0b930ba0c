import type { AutomationDeps } from "./automations/automations.ts";
import type { CampaignDeps } from "./campaigns/campaigns.ts";
import type { Config } from "./config.ts";
import type { ContactDeps } from "./contacts/deps.ts";
import type { DashboardDeps } from "./dashboard/deps.ts";
import type { DataSubjectDeps } from "./data-subjects/data-subjects.ts";
import type { DeliveryDeps } from "./delivery/deps.ts";
import type { DevDeps } from "./dev/world.ts";
import type { DeveloperWebhookDeps } from "./developer-webhooks/developer-webhooks.ts";
import type { DialectDeps } from "./dialects/deps.ts";
import type { DomainDeps } from "./domains/domains.ts";
import type { EmailDeps } from "./emails/deps.ts";
import type { EventStreamDeps, EventTailDeps } from "./events/deps.ts";
import type { ExplainDeps } from "./explain/explain.ts";
import type { HealthDeps, MetricsDeps } from "./health/metrics.ts";
import type { HttpDeps } from "./http/deps.ts";
import type { InboundDeps } from "./inbound/deps.ts";
import type { ReturnPath } from "./inbound/return-path.ts";
import type { InboxDeps } from "./inbox/inbox.ts";
import type { InstallationDeps } from "./installation/installation.ts";
import type { KeyRotation } from "./installation/key-rotation.ts";
import type { JobDeps } from "./jobs/jobs.ts";
import type { KeyCache, KeyWatch } from "./keys/key-cache.ts";
import type { KeyUse } from "./keys/key-use.ts";
import type { KeyDeps } from "./keys/keys.ts";
import type { DomainRecords } from "./lib/domain-records.ts";
import type { ListDeps } from "./lists/lists.ts";
import type { ActivationDeps } from "./marketplace/activations/activations.ts";
import type { MarketplaceDeps } from "./marketplace/deps.ts";
import type { ListingDeps } from "./marketplace/listings/listings.ts";
import type { MailMetricsDeps } from "./metrics/deps.ts";
import type { Queue } from "./queue/queue.ts";
import type { ReceivedDeps } from "./received/received.ts";
import type { RelayDeps } from "./relays/admin.ts";
import type { RelayRegistry } from "./relays/registry.ts";
import type { RequestDeps, RequestLog, RequestStore } from "./requests/requests.ts";
import type { RetentionDeps } from "./retention/retention.ts";
import type { SegmentDeps } from "./segments/deps.ts";
import type { SenderDeps } from "./senders/senders.ts";
import type { SubmissionDeps } from "./submission/deps.ts";
import type { SuppressionDeps } from "./suppressions/deps.ts";
import type { TemplateDeps } from "./templates/deps.ts";
import type { TrackingDeps } from "./tracking/deps.ts";
import type { UnsubscribeDeps } from "./unsubscribe/unsubscribe.ts";
import type { Webhooks } from "./webhooks/endpoint.ts";
import type { WebhookDeps } from "./webhooks/webhooks.ts";
import type { WorkspaceDeps } from "./workspaces/workspaces.ts";

/**
 * All dependencies of the product: those that each module declares in its own `deps.ts`. Created in one place (`app.ts`) and
 * passed down; no module holds global state. Only files that compose modules may name this type.
 */
export interface Deps
  extends AutomationDeps,
    CampaignDeps,
    ContactDeps,
    DashboardDeps,
    DataSubjectDeps,
    DeliveryDeps,
    DevDeps,
    DeveloperWebhookDeps,
    DialectDeps,
    DomainDeps,
    EmailDeps,
    EventStreamDeps,
    EventTailDeps,
    ExplainDeps,
    HealthDeps,
    MetricsDeps,
    HttpDeps,
    InboundDeps,
    InboxDeps,
    InstallationDeps,
    JobDeps,
    KeyDeps,
    ListDeps,
    MailMetricsDeps,
    MarketplaceDeps,
    ReceivedDeps,
    RelayDeps,
    RequestDeps,
    RetentionDeps,
    SegmentDeps,
    SenderDeps,
    SubmissionDeps,
    SuppressionDeps,
    TemplateDeps,
    TrackingDeps,
    UnsubscribeDeps,
    WebhookDeps,
    WorkspaceDeps {
  // Modules declare the part of these that they use.
  readonly dns: DomainRecords;
  readonly config: Config;
  readonly keyCache: KeyCache;
  readonly keyWatch: KeyWatch;
  readonly keyUse: KeyUse;
  readonly keyRotation: KeyRotation;
  readonly queue: Queue;
  readonly relays: RelayRegistry;
  readonly requestLog: RequestLog | null;
  readonly requestStore: RequestStore | null;
  readonly returnPath: ReturnPath;
  readonly webhooks: Webhooks;
}

/** Reactions of modules to changes in the modules below them. */
export type Hooks = Pick<ContactDeps, "contactHooks"> &
  Pick<SuppressionDeps, "suppressionHooks"> &
  Pick<EmailDeps, "partAnswers" | "renderHooks" | "templateHooks"> &
  Pick<DeliveryDeps, "mailTransforms" | "deliveryHooks"> &
  Pick<ListingDeps, "listingHooks"> &
  Pick<ActivationDeps, "activationHooks"> &
  Pick<MailMetricsDeps, "rateHooks"> &
  Pick<MarketplaceDeps, "proposalHooks">;
