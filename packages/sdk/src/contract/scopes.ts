/** What a developer key may do (SPEC 5.1). SPEC names the first seven; the rest cover the endpoints it leaves open. */
export const PERMISSIONS = [
  "contacts:read",
  "contacts:write",
  "campaigns:read",
  "campaigns:write",
  "templates:read",
  "automations:read",
  "transactional:send",
  "transactional:read",
  "senders:read",
  "senders:write",
  "suppressions:read",
  "suppressions:write",
  "keys:read",
  "keys:write",
  "jobs:read",
  "jobs:write",
] as const;

export type Permission = (typeof PERMISSIONS)[number];
