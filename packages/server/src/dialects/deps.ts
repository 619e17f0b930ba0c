import type { DeveloperWebhookDeps } from "../developer-webhooks/developer-webhooks.ts";
import type { DomainDeps } from "../domains/domains.ts";
import type { EmailDeps } from "../emails/deps.ts";
import type { Rates } from "../http/rate-limit.ts";
import type { Ids } from "../lib/ids.ts";
import type { Macs } from "../lib/macs.ts";
import type { ApiMessageDeps } from "../submission/submission.ts";
import type { FetchFile } from "../webhooks/webhooks.ts";

export interface DialectDeps extends EmailDeps, DeveloperWebhookDeps, DomainDeps {
  /** Gets the files that a send names by URL. */
  readonly fetchFile: FetchFile;
  readonly dns: DomainDeps["dns"];
  readonly relays: EmailDeps["relays"] & DomainDeps["relays"] & ApiMessageDeps["relays"];
  readonly ids: Ids;
  readonly macs: Macs;
  readonly config: EmailDeps["config"] &
    DeveloperWebhookDeps["config"] &
    DomainDeps["config"] &
    ApiMessageDeps["config"] & { readonly rates: Rates };
}
