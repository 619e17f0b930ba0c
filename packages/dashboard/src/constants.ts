import type { AgentEventState, Asset, EmailFilterStatus, Permission, Role } from "@mailsvc/sdk/contract";
import { sayStatus } from "./parts/status.tsx";

// The contract's own list would bring its schemas with it. The type checker compares the two.
const STATUSES: Readonly<Record<EmailFilterStatus, true>> = {
  queued: true,
  scheduled: true,
  sending: true,
  sent: true,
  delivered: true,
  deferred: true,
  bounced: true,
  complained: true,
  failed: true,
  suppressed: true,
  skipped: true,
  cancelled: true,
};

/** The states by which emails can be filtered. */
export const EMAIL_FILTER_STATUSES = Object.keys(STATUSES);

const DELIVERY: Readonly<Record<AgentEventState, true>> = {
  pending: true,
  queued: true,
  delivered: true,
  dead: true,
  superseded: true,
  cancelled: true,
};

/** The states of deliveries to webhooks. */
export const DELIVERY_STATES = Object.keys(DELIVERY).map((value) => ({ value, text: sayStatus(value) }));

/** Kinds of events, and single ones that people look for. */
export const EVENT_PATTERNS = [
  { value: "email.*", text: "Emails" },
  { value: "email.bounced,email.complained", text: "Bounces and complaints" },
  { value: "email.failed", text: "Failed emails" },
  { value: "email.opened,email.clicked", text: "Opens and clicks" },
  { value: "contact.*", text: "Contacts" },
  { value: "list.*", text: "Lists" },
  { value: "segment.*", text: "Segments" },
  { value: "suppression.*", text: "Suppressions" },
  { value: "campaign.*", text: "Campaigns" },
  { value: "automation.*", text: "Automations" },
  { value: "webhook.*", text: "Webhooks" },
];

const ALL_PERMISSIONS: Readonly<Record<Permission, true>> = {
  "contacts:read": true,
  "contacts:write": true,
  "campaigns:read": true,
  "campaigns:write": true,
  "templates:read": true,
  "templates:write": true,
  "automations:read": true,
  "automations:write": true,
  "transactional:send": true,
  "transactional:read": true,
  "mail_states:read": true,
  "received:read": true,
  "received:write": true,
  "senders:read": true,
  "senders:write": true,
  "suppressions:read": true,
  "suppressions:write": true,
  "providers:read": true,
  "providers:write": true,
  "people:read": true,
  "people:write": true,
  "lists:read": true,
  "lists:write": true,
  "segments:read": true,
  "segments:write": true,
  "events:read": true,
  "events:write": true,
  "webhooks:read": true,
  "webhooks:write": true,
  "keys:read": true,
  "keys:write": true,
  "audit:read": true,
  "jobs:read": true,
  "jobs:write": true,
  "listings:read": true,
  "listings:write": true,
  "marketplace:read": true,
  "marketplace:write": true,
  "brand:read": true,
  "brand:write": true,
  "billing:read": true,
  "billing:write": true,
};

/** The permissions that an API key can have. */
export const PERMISSIONS = Object.keys(ALL_PERMISSIONS) as readonly Permission[];

/** The roles of people, and what each may do. */
export const ROLES: Readonly<Record<Role, string>> = {
  owner: "Owner: everything, also people and keys",
  marketer: "Marketer: campaigns, contacts and content",
  viewer: "Viewer: reads everything but people and keys",
  support: "Support: sees whether mail arrived, and nothing else",
};

/** Emails that the server looks at for a page of a search, as the contract says of \`GET /api/v1/emails\`. */
export const EMAILS_EXAMINED = 1000;

const PICTURES: Readonly<Record<Asset["contentType"], true>> = {
  "image/png": true,
  "image/jpeg": true,
  "image/gif": true,
  "image/webp": true,
};

/** Media types of pictures that the library takes. */
export const PICTURE_TYPES = Object.keys(PICTURES);
