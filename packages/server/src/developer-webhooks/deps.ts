import type { EventDeps } from "../events/deps.ts";
import type { Ids } from "../lib/ids.ts";
import type { Limiter } from "../lib/rate.ts";
import type { Mailer } from "../mail/mailer.ts";
import type { WebhookDeps } from "../webhooks/deps.ts";

export interface DeveloperWebhookDeps extends WebhookDeps, EventDeps {
  readonly config: WebhookDeps["config"] & { readonly mailFrom: string };
  readonly ids: Ids;
  /** Rate limits, shared by all servers on one database. */
  readonly limiter: Limiter;
  readonly mailer: Mailer;
  readonly webhooks: WebhookDeps["webhooks"];
}
