import { contract, type Endpoint } from "@mailsvc/sdk/contract";
import type { FieldNames } from "../rename-fields.ts";

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
