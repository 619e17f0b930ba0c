import { endpoint } from "../endpoint.ts";
import { Instant, pageQuery, pageSchema } from "../page.ts";
import { AGENT_SCOPES } from "../scopes.ts";
import * as z from "../zod.ts";
import { Price } from "./payments.ts";
import { SettingsSchema } from "./settings.ts";

/** A scope, and what it allows. */
export const ScopeGrant = z.object({ scope: z.enum(AGENT_SCOPES), grants: z.string() });

/** A listed agent, as brands see it. */
export const CatalogAgent = z
  .object({
    slug: z.string(),
    name: z.string(),
    description: z.string(),
    /** The scopes it asks for, and what each allows. */
    permissions: z.array(ScopeGrant),
    /** Settings you can make; null for none. */
    settingsSchema: SettingsSchema.nullable(),
    /** Addresses to which an install link may lead back. */
    installRedirects: z.array(z.string()),
    /** Counts the changes of what a brand accepts. */
    version: z.int(),
    /** Builder who offers the agent. */
    builder: z.object({ name: z.string() }),
    /** Price a brand pays to have it on, in cents, without the credits it spends. */
    price: Price,
    listedAt: Instant,
    /** This workspace's current activation of it; null without one. */
    activationId: z.string().nullable(),
  })
  .meta({ id: "CatalogAgent" });
export type CatalogAgent = z.infer<typeof CatalogAgent>;

export const catalog = {
  list: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/catalog",
    access: { permission: "marketplace:read" },
    summary: "List the agents in the catalog, newest first",
    query: z.object({
      ...pageQuery,
      search: z.string().max(100).optional().meta({ description: "Only agents with this text in their name or description" }),
    }),
    output: pageSchema(CatalogAgent),
    examples: [{ summary: "Agents that write", query: { search: "write" } }],
  }),
  get: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/catalog/:slug",
    access: { permission: "marketplace:read" },
    summary: "Show an agent in the catalog, with the scopes it asks for",
    output: CatalogAgent,
    errors: ["not_found"],
    examples: [{ summary: "By slug", params: { slug: "launch-writer" } }],
  }),
};
