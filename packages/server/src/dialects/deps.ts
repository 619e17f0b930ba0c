import type { DeveloperWebhookDeps } from "../developer-webhooks/deps.ts";
import type { DomainDeps } from "../domains/deps.ts";
import type { EmailDeps } from "../emails/deps.ts";
import type { Ids } from "../lib/ids.ts";
import type { Macs } from "../lib/macs.ts";
import type { FetchFile } from "../webhooks/webhooks.ts";

export interface DialectDeps extends EmailDeps, DeveloperWebhookDeps, DomainDeps {
  /** Gets the files that a send names by URL. */
  readonly fetchFile: FetchFile;
  readonly dns: DomainDeps["dns"];
  readonly relays: EmailDeps["relays"] & DomainDeps["relays"];
  readonly ids: Ids;
  readonly macs: Macs;
  readonly config: EmailDeps["config"] & DeveloperWebhookDeps["config"] & DomainDeps["config"];
}
