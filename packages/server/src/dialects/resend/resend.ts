import type { ContractCalls } from "../../http/contract-calls.ts";
import type { Dialect } from "../../http/dialect.ts";
import type { DialectDeps } from "../deps.ts";
import { adviseForeignKey, lookUpForeignKeys } from "../foreign-keys.ts";
import { buildRoutes, type Operation } from "../operation.ts";
import { renameFields } from "../rename-fields.ts";
import { ABSENT } from "./absent.ts";
import { apiKeyOperations } from "./api-keys.ts";
import { attachmentOperations } from "./attachments.ts";
import { audienceOperations } from "./audiences.ts";
import { automationOperations } from "./automations.ts";
import { listRecipients } from "./broadcast-recipients.ts";
import { broadcastOperations } from "./broadcasts.ts";
import { contactImportOperations } from "./contact-imports.ts";
import { contactPropertyOperations } from "./contact-properties.ts";
import { contactOperations } from "./contacts.ts";
import { customEventOperations } from "./custom-events.ts";
import { domainOperations } from "./domains.ts";
import { emailOperations } from "./emails.ts";
import { describeError } from "./errors.ts";
import { FIELD_NAMES } from "./field-names.ts";
import { UUIDS } from "./ids.ts";
import { logOperations } from "./logs.ts";
import { getMetrics } from "./metrics.ts";
import { receivingOperations } from "./receiving.ts";
import { suppressionOperations } from "./suppressions.ts";
import { templateOperations } from "./templates.ts";
import { topicOperations } from "./topic-operations.ts";
import { webhookEventOperations } from "./webhook-events.ts";
import { webhookOperations } from "./webhooks.ts";

const PREFIX = "/resend";

/** Supported operations of Resend's API. */
export const RESEND_OPERATIONS: readonly Operation[] = [
  ...emailOperations,
  getMetrics,
  ...attachmentOperations,
  ...receivingOperations,
  ...domainOperations,
  ...apiKeyOperations,
  ...audienceOperations,
  ...contactImportOperations,
  ...contactOperations,
  ...topicOperations,
  ...contactPropertyOperations,
  ...templateOperations,
  ...automationOperations,
  ...customEventOperations,
  ...suppressionOperations,
  ...webhookOperations,
  ...webhookEventOperations,
  ...broadcastOperations,
  listRecipients,
  ...logOperations,
];

/** Resend's API: a program of Resend's runs with RESEND_BASE_URL set to this server. */
export function createResend(deps: DialectDeps, contract: ContractCalls, devKey: string | null): Dialect {
  return {
    prefix: PREFIX,
    lookUpKeys: (keys) => lookUpForeignKeys(keys, (key) => key.startsWith("re_"), devKey),
    describeError: (error, headers) => describeError(adviseForeignKey(error, "re_…", devKey), headers),
    operations: buildRoutes(PREFIX, RESEND_OPERATIONS, ABSENT, deps, renameFields(contract, FIELD_NAMES), UUIDS),
  };
}
