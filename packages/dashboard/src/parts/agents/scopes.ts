import type { AgentScope } from "@mailsvc/sdk/contract";

/** Rights of each scope, in the contract's words. A copy, because the contract would bring its schemas along; a test compares them. */
export const SCOPE_GRANTS: Readonly<Record<AgentScope, string>> = {
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
