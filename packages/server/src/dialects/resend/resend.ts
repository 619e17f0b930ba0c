import { contract, type Endpoint } from "@mailsvc/sdk/contract";
import type { ContractCalls } from "../../http/contract-calls.ts";
import type { Dialect } from "../../http/dialect.ts";
import type { DialectDeps } from "../deps.ts";
import { adviseForeignKey, lookUpForeignKeys } from "../foreign-keys.ts";
import { type AbsentOperation, buildRoutes, type Operation } from "../operation.ts";
import { type FieldNames, renameFields } from "../rename-fields.ts";
import { apiKeyOperations } from "./api-keys.ts";
import { audienceOperations } from "./audiences.ts";
import { automationOperations } from "./automations.ts";
import { listRecipients } from "./broadcast-audience.ts";
import { broadcastOperations } from "./broadcasts.ts";
import { contactImportOperations } from "./contact-imports.ts";
import { contactPropertyOperations } from "./contact-properties.ts";
import { contactOperations } from "./contacts.ts";
import { customEventOperations } from "./custom-events.ts";
import { domainOperations } from "./domains.ts";
import { emailOperations } from "./emails.ts";
import { describeError } from "./errors.ts";
import { UUIDS } from "./ids.ts";
import { logOperations } from "./logs.ts";
import { getMetrics } from "./metrics.ts";
import { attachmentOperations, receivingOperations } from "./receiving.ts";
import { suppressionOperations } from "./suppressions.ts";
import { templateOperations } from "./templates.ts";
import { topicOperations } from "./topic-operations.ts";
import { webhookEventOperations, webhookOperations } from "./webhooks.ts";

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

const TEMPLATE: FieldNames = { slug: "alias", "variables.name": "key", "variables.default": "fallback_value" };
const BROADCAST: FieldNames = { subjectLine: "subject", listId: "segment_id", segmentId: "topic_id", fromEmail: "from", fromName: "from" };
const CONTACT: FieldNames = { customFields: "properties", status: "unsubscribed" };
const WEBHOOK: FieldNames = { url: "endpoint" };

/** The fields with another name at Resend. Fields that are missing here differ at most in spelling: replyTo is reply_to. */
export const FIELD_NAMES: ReadonlyMap<Endpoint, FieldNames> = new Map<Endpoint, FieldNames>([
  [contract.emails.sendTemplate, { slug: "template.id", variables: "template.variables" }],
  [contract.templates.create, TEMPLATE],
  [contract.templates.update, TEMPLATE],
  [contract.campaigns.create, BROADCAST],
  [contract.campaigns.update, BROADCAST],
  [contract.contacts.upsert, CONTACT],
  [contract.contacts.update, CONTACT],
  [contract.senders.create, { domain: "name" }],
  [contract.keys.create, { permissions: "permission" }],
  [contract.webhooks.create, WEBHOOK],
  [contract.webhooks.update, WEBHOOK],
  [contract.events.track, { name: "event", contact: "contact_id", properties: "payload" }],
]);

type Call = readonly [AbsentOperation["method"], AbsentOperation["path"]];

/** Operations of Resend's API that are not here, and the way to do the same. Commands name operations of the contract. */
export const ABSENT: readonly AbsentOperation[] = [
  ...list("An address for others to see one email is not here. A person can look at it in the dashboard: mailsvc open.", [
    ["POST", "/emails/:id/share"],
  ]),
  ...list("Numbers of all mail: GET /emails/metrics, or mailsvc metrics get.", [["GET", "/usage"]]),
  ...list("Domains belong to the workspace that verifies them first: mailsvc senders create, mailsvc senders verify ID.", [
    ["POST", "/domains/claim"],
    ["GET", "/domains/:id/claim"],
    ["POST", "/domains/:id/claim/verify"],
  ]),
  ...list("Other programs get a key instead of a grant: mailsvc keys create, mailsvc keys revoke ID.", [
    ["GET", "/oauth/grants"],
    ["DELETE", "/oauth/grants/:id"],
  ]),
  ...list("Received mail has conversations and answers: mailsvc received list, mailsvc received reply ID.", [
    ["POST", "/inboxes"],
    ["GET", "/inboxes"],
    ["GET", "/inboxes/:id"],
    ["PATCH", "/inboxes/:id"],
    ["DELETE", "/inboxes/:id"],
    ["GET", "/inboxes/:id/agent"],
    ["PATCH", "/inboxes/:id/agent"],
    ["POST", "/inboxes/:id/:part"],
    ["GET", "/inboxes/:id/:part"],
    ["GET", "/inboxes/:id/:part/:other"],
    ["PATCH", "/inboxes/:id/:part/:other"],
    ["DELETE", "/inboxes/:id/:part/:other"],
    ["POST", "/inboxes/:id/drafts/:other/send"],
    ["GET", "/inboxes/:id/threads/:other/emails"],
    ["GET", "/inboxes/:id/threads/:other/emails/:email"],
    ["POST", "/inboxes/:id/threads/:other/emails/:email/reply"],
    ["POST", "/inboxes/:id/threads/:other/emails/:email/forward"],
    ["POST", "/inboxes/:id/threads/:other/labels"],
    ["PUT", "/inboxes/:id/threads/:other/labels"],
    ["DELETE", "/inboxes/:id/threads/:other/labels/:label"],
  ]),
];

function list(instead: string, calls: readonly Call[]): AbsentOperation[] {
  return calls.map(([method, path]) => ({ method, path, instead }));
}
