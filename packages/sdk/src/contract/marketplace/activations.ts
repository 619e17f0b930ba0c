import { endpoint } from "../endpoint.ts";
import { Instant, MAX_INTEGER, pageQuery, pageSchema } from "../page.ts";
import { AGENT_SCOPES } from "../scopes.ts";
import * as z from "../zod.ts";
import { ScopeGrant } from "./catalog.ts";
import { WebhookError } from "./failures.ts";
import { jsonObject } from "./json.ts";
import { scopeList } from "./listings.ts";
import { SettingsSchema, SettingsValues } from "./settings.ts";
import { ACTIVATION_STATUSES, DEACTIVATION_REASONS, PAUSE_REASONS } from "./states.ts";
import { Slug } from "./text.ts";

const ActivationUpdate = z.object({
  /** The version that asks for it: accepting names it. */
  version: z.int(),
  scopes: z.array(ScopeGrant),
  /** The time at which the brand decided to keep what it accepted before; null while it has not decided. */
  keptAt: Instant.nullable(),
});

/** An activation as its brand sees it. The key is not included; only the builder's webhook receives it. */
export const Activation = z
  .object({
    id: z.string(),
    agentSlug: z.string(),
    agentName: z.string(),
    status: z.enum(ACTIVATION_STATUSES),
    /** Reasons it is paused; empty unless it is. */
    pauseReasons: z.array(z.enum(PAUSE_REASONS)),
    /** The scopes it may use: those that were accepted and that the agent still asks for. */
    scopes: z.array(z.enum(AGENT_SCOPES)),
    /** The version of the listing that was accepted. */
    version: z.int(),
    /** Scopes that a newer version of the listing asks for besides; null if none. */
    update: ActivationUpdate.nullable(),
    /** The settings that the agent has; null for none. */
    settingsSchema: SettingsSchema.nullable(),
    /** Values the brand has set, and the defaults of the rest. */
    settings: SettingsValues,
    /** The first and last characters of its key. */
    keyPreview: z.string(),
    /** Time the agent's webhook acknowledged the key. */
    keyDeliveredAt: Instant.nullable(),
    webhookLastError: WebhookError.nullable(),
    /** Credits it may use in a month; null without its own limit. */
    creditLimit: z.int().nullable(),
    createdAt: Instant,
    pausedAt: Instant.nullable(),
    deactivatedAt: Instant.nullable(),
    deactivationReason: z.enum(DEACTIVATION_REASONS).nullable(),
  })
  .meta({ id: "Activation" });
export type Activation = z.infer<typeof Activation>;

const params = { id: "act_01jc3v2m9k8q4w6x0y5z7a1b2c" };
const read = { permission: "marketplace:read" } as const;
const write = { permission: "marketplace:write" } as const;
const creditLimit = z.int().min(0).max(1_000_000_000).nullable().meta({ description: "Credits it may use in a month; null for no limit" });
const settings = jsonObject(64 * 1024).meta({ description: "Values for the settings that the agent has, by their names" });
const version = z.int().min(1).max(MAX_INTEGER).meta({ description: "The version you have seen, of update.version" });

export const activations = {
  list: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/activations",
    access: read,
    summary: "List the agents this workspace has turned on, newest first",
    query: z.object({
      ...pageQuery,
      status: z.enum(ACTIVATION_STATUSES).optional().meta({ description: "Only activations in this state" }),
      agentSlug: Slug.optional().meta({ description: "Only activations of this agent" }),
    }),
    output: pageSchema(Activation),
    examples: [{ summary: "Active agents", query: { status: "active" } }],
  }),
  create: endpoint({
    method: "POST",
    path: "/api/v1/marketplace/activations",
    access: write,
    mailsTo: "unknown",
    summary: "Turn an agent on",
    description:
      "Names the scopes the brand accepts, which must be all that the agent asks for. Scopes it does not ask for are not granted. The agent gets its own key, through its webhook.",
    body: z.strictObject({
      agentSlug: Slug.meta({ description: "Slug of the agent in the catalog, or of a draft of your own, to try it" }),
      acceptedPermissions: scopeList.meta({ description: "The scopes you accept: those the catalog shows for the agent" }),
      creditLimit: creditLimit.optional(),
      settings: settings.default({}),
    }),
    status: 201,
    output: Activation,
    errors: ["not_found", "already_active", "plan_limit_reached"],
    examples: [
      {
        summary: "Accept what it asks for",
        body: { agentSlug: "launch-writer", acceptedPermissions: ["brand:read", "agent:post_messages", "agent:write_runs"] },
      },
    ],
  }),
  get: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/activations/:id",
    access: read,
    summary: "Show one activation",
    output: Activation,
    errors: ["not_found"],
    examples: [{ summary: "By id", params }],
  }),
  update: endpoint({
    method: "PATCH",
    path: "/api/v1/marketplace/activations/:id",
    access: write,
    mailsTo: "unknown",
    summary: "Change the settings of an agent, or limit what it may spend",
    description: "`settings` replaces all settings; those left out get their defaults. The agent is told with agent.settings_changed.",
    body: z.strictObject({ creditLimit: creditLimit.optional(), settings: settings.optional() }),
    output: Activation,
    errors: ["not_found", "invalid_state"],
    examples: [{ summary: "500 credits a month", params, body: { creditLimit: 500 } }],
  }),
  accept: endpoint({
    method: "POST",
    path: "/api/v1/marketplace/activations/:id/accept",
    access: write,
    mailsTo: "unknown",
    summary: "Accept what a newer version of an agent asks for",
    description:
      "Grants all scopes of this version, in effect at once, and tells the agent with agent.scopes_changed. Name the version that you have seen: if the listing has changed since, nothing is granted and the answer is 409. Accepting it again changes nothing.",
    body: z.strictObject({ version }),
    output: Activation,
    errors: ["not_found", "invalid_state"],
    examples: [{ summary: "Accept the version you have seen", params, body: { version: 1 } }],
  }),
  keep: endpoint({
    method: "POST",
    path: "/api/v1/marketplace/activations/:id/keep",
    access: write,
    mailsTo: "nobody",
    summary: "Keep what you accepted before",
    description:
      "The agent goes on with the scopes it has, and you are not asked for these again. You can still accept them. If the listing has changed since the version that you name, the answer is 409.",
    body: z.strictObject({ version }),
    output: Activation,
    errors: ["not_found", "invalid_state"],
    examples: [{ summary: "Decide against it", params, body: { version: 1 } }],
  }),
  pause: endpoint({
    method: "POST",
    path: "/api/v1/marketplace/activations/:id/pause",
    access: write,
    mailsTo: "nobody",
    summary: "Pause an agent",
    description: "Its key is refused from now on, with `activation_paused`. Pausing a paused agent changes nothing.",
    output: Activation,
    errors: ["not_found", "invalid_state"],
    examples: [{ summary: "Pause", params }],
  }),
  resume: endpoint({
    method: "POST",
    path: "/api/v1/marketplace/activations/:id/resume",
    access: write,
    mailsTo: "unknown",
    summary: "Resume a paused agent",
    description:
      "Clears user_paused and webhook_failure. plan_downgrade is cleared by a plan that covers the agent: until then it stays in pauseReasons, and the agent stays paused. Once no reason is left, the same key works again. Events that could not be delivered are tried again.",
    output: Activation,
    errors: ["not_found", "invalid_state", "pause_not_clearable"],
    examples: [{ summary: "Resume", params }],
  }),
  deactivate: endpoint({
    method: "POST",
    path: "/api/v1/marketplace/activations/:id/deactivate",
    access: write,
    mailsTo: "nobody",
    summary: "Turn an agent off for good",
    description: "Its key is revoked for good and its runs are cancelled. Deactivating it again changes nothing.",
    output: Activation,
    errors: ["not_found"],
    irreversible: true,
    examples: [{ summary: "Deactivate", params }],
  }),
};
