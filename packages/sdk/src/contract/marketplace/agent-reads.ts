import { endpoint } from "../endpoint.ts";
import { Instant, pageQuery, pageSchema } from "../page.ts";
import * as z from "../zod.ts";
import { AGENT_BASE } from "./agent-base.ts";
import { Brand } from "./brand.ts";

/** A list as agents see it, without people or addresses. */
export const ListMetadata = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    /** Its confirmed members. */
    contactCount: z.int(),
    createdAt: Instant,
    updatedAt: Instant,
  })
  .meta({ id: "ListMetadata" });
export type ListMetadata = z.infer<typeof ListMetadata>;

const activationId = "act_01jc3v2m9k8q4w6x0y5z7a1b2c";

export const agentBrand = {
  get: endpoint({
    method: "GET",
    path: `${AGENT_BASE}/brand`,
    access: { scope: "brand:read" },
    summary: "Show the brand's colors, logo and voice",
    etag: true,
    output: Brand,
    errors: ["not_found"],
    examples: [{ summary: "The brand", params: { activationId } }],
  }),
};

const access = { scope: "lists:read_metadata" } as const;

export const agentLists = {
  list: endpoint({
    method: "GET",
    path: `${AGENT_BASE}/lists`,
    access,
    summary: "List the names and sizes of the brand's lists, newest first",
    query: z.object(pageQuery),
    output: pageSchema(ListMetadata),
    errors: ["not_found"],
    examples: [{ summary: "All", params: { activationId } }],
  }),
  get: endpoint({
    method: "GET",
    path: `${AGENT_BASE}/lists/:id`,
    access,
    summary: "Show the name and size of one list",
    output: ListMetadata,
    errors: ["not_found"],
    examples: [{ summary: "By id", params: { activationId, id: "list_01jc3v2m9k8q4w6x0y5z7a1b2c" } }],
  }),
};
