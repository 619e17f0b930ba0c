import type { AgentEvent } from "../contract.generated.ts";
import { UsageError } from "../errors.ts";

/** Scopes that an agent can ask for. */
export type Scope = Extract<AgentEvent, { type: "agent.activated" }>["scopes"][number];

const ALL: Record<Scope, true> = {
  "landing_pages:write": true,
  "landing_pages:read": true,
  "lead_magnets:write": true,
  "assets:write": true,
  "brand:read": true,
  "lists:read_metadata": true,
  "agent:consume_credits": true,
  "agent:post_messages": true,
  "agent:read_messages": true,
  "agent:read_runs": true,
  "agent:write_runs": true,
  "agent:wakeups": true,
};

export const ALL_SCOPES = Object.keys(ALL) as Scope[];

/** The real service, which runs inside tests and checks. Throws UsageError if it is not installed. */
export async function loadServer(): Promise<typeof import("@mailsvc/server/testing")> {
  try {
    return await import("@mailsvc/server/testing");
  } catch (cause) {
    if ((cause as { code?: unknown }).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw new UsageError("This runs the real service: npm install --save-dev @mailsvc/server", { cause });
  }
}
