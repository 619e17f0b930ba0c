import { type Contract, endpoint } from "../endpoint.ts";
import { agentExplanations } from "../explanations.ts";
import { Instant } from "../page.ts";
import { AGENT_SCOPES } from "../scopes.ts";
import * as z from "../zod.ts";
import { AGENT_BASE } from "./agent-base.ts";
import { agentCredits } from "./agent-credits.ts";
import { agentMessages } from "./agent-messages.ts";
import { agentBrand, agentLists } from "./agent-reads.ts";
import { agentRuns } from "./agent-runs.ts";
import { agentWakeups } from "./agent-wakeups.ts";
import { WebhookError } from "./failures.ts";
import { agentAssets, agentLeadMagnets } from "./files.ts";
import { agentLandingPages } from "./landing-pages.ts";
import { SettingsValues } from "./settings.ts";
import { ACTIVATION_STATUSES, PAUSE_REASONS } from "./states.ts";

/** An activation as its agent sees it. */
export const AgentSelf = z
  .object({
    activationId: z.string(),
    agentSlug: z.string(),
    organizationName: z.string(),
    status: z.enum(ACTIVATION_STATUSES),
    pauseReasons: z.array(z.enum(PAUSE_REASONS)),
    scopes: z.array(z.enum(AGENT_SCOPES)),
    settings: SettingsValues,
    keyPreview: z.string(),
    createdAt: Instant,
    webhookLastError: WebhookError.nullable(),
  })
  .meta({ id: "AgentSelf" });
export type AgentSelf = z.infer<typeof AgentSelf>;

const self = {
  get: endpoint({
    method: "GET",
    path: AGENT_BASE,
    access: "agent",
    summary: "Show the activation the key belongs to",
    output: AgentSelf,
    errors: ["not_found"],
    examples: [{ summary: "Check the key", params: { activationId: "act_01jc3v2m9k8q4w6x0y5z7a1b2c" } }],
  }),
};

/** Every endpoint an agent can call with the key of its activation, by noun and verb. */
export const agentContract = {
  self,
  messages: agentMessages,
  runs: agentRuns,
  credits: agentCredits,
  wakeups: agentWakeups,
  landingPages: agentLandingPages,
  leadMagnets: agentLeadMagnets,
  assets: agentAssets,
  brand: agentBrand,
  lists: agentLists,
  explanations: agentExplanations,
} as const satisfies Contract;
export type AgentContract = typeof agentContract;

/** The same endpoints under nouns that do not collide with those for developers: `agent.self`, `agent.runs`. */
export const agentNouns: Contract = Object.fromEntries(Object.entries(agentContract).map(([noun, verbs]) => [`agent.${noun}`, verbs]));
