/** Permissions of developer keys. */
export const PERMISSIONS = [
  "contacts:read",
  "contacts:write",
  "campaigns:read",
  "campaigns:write",
  "templates:read",
  "templates:write",
  "automations:read",
  "automations:write",
  "transactional:send",
  "transactional:read",
  "mail_states:read",
  "received:read",
  "received:write",
  "senders:read",
  "senders:write",
  "suppressions:read",
  "suppressions:write",
  "providers:read",
  "providers:write",
  "people:read",
  "people:write",
  "lists:read",
  "lists:write",
  "segments:read",
  "segments:write",
  "events:read",
  "events:write",
  "webhooks:read",
  "webhooks:write",
  "keys:read",
  "keys:write",
  "audit:read",
  "jobs:read",
  "jobs:write",
  "listings:read",
  "listings:write",
  "marketplace:read",
  "marketplace:write",
  "brand:read",
  "brand:write",
  "billing:read",
  "billing:write",
] as const;

export type Permission = (typeof PERMISSIONS)[number];

/**
 * Scopes of agent keys, which the brand grants when it activates the agent. An agent key has access to nothing
 * else: no scope covers contacts, sends or campaigns.
 */
export const AGENT_SCOPES = [
  "landing_pages:write",
  "landing_pages:read",
  "lead_magnets:write",
  "assets:write",
  "brand:read",
  "lists:read_metadata",
  "agent:consume_credits",
  "agent:post_messages",
  "agent:read_messages",
  "agent:read_runs",
  "agent:write_runs",
  "agent:wakeups",
] as const;

export type AgentScope = (typeof AGENT_SCOPES)[number];

/** A description of each scope, shown to a brand before it grants it. */
export const AGENT_SCOPE_GRANTS: Readonly<Record<AgentScope, string>> = {
  "landing_pages:write": "Create and update landing pages",
  "landing_pages:read": "Read the statistics of landing pages",
  "lead_magnets:write": "Upload lead magnets",
  "assets:write": "Save images to the asset library",
  "brand:read": "Read brand colors, logo and voice",
  "lists:read_metadata": "Read the names and sizes of lists; no people, no addresses",
  "agent:consume_credits": "Spend credits on billable actions",
  "agent:post_messages": "Post messages and ask for approvals",
  "agent:read_messages": "Read the messages of its inbox",
  "agent:read_runs": "Read the history of its runs",
  "agent:write_runs": "Start, log and complete runs",
  "agent:wakeups": "Schedule wakeups",
};
