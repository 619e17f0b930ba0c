import { z } from "zod";
import { EmailAddress } from "./address.ts";
import { endpoint } from "./endpoint.ts";
import { Instant, pageOf, pageQuery } from "./page.ts";

export const SUPPRESSION_REASONS = ["bounce", "complaint", "unsubscribe", "manual"] as const;

export const Suppression = z
  .object({
    id: z.string(),
    email: z.string(),
    reason: z.enum(SUPPRESSION_REASONS),
    /** `all` stops every mail; `marketing` lets transactional mail through. */
    scope: z.enum(["all", "marketing"]),
    /** The email whose bounce or complaint caused it. */
    emailId: z.string().nullable(),
    createdAt: Instant,
  })
  .meta({ id: "Suppression" });
export type Suppression = z.infer<typeof Suppression>;

export const suppressions = {
  list: endpoint({
    method: "GET",
    path: "/api/v1/suppressions",
    access: { permission: "suppressions:read" },
    summary: "List suppressed addresses, newest first",
    query: z.object({
      ...pageQuery,
      email: EmailAddress.optional().meta({ description: "Only this address" }),
      reason: z.enum(SUPPRESSION_REASONS).optional().meta({ description: "Only this reason" }),
    }),
    output: pageOf(Suppression),
    examples: [{ summary: "Who bounced", query: { reason: "bounce" } }],
  }),
  create: endpoint({
    method: "POST",
    path: "/api/v1/suppressions",
    access: { permission: "suppressions:write" },
    summary: "Suppress an address; an existing entry is kept, and widened to scope all if asked",
    body: z.strictObject({
      email: EmailAddress,
      scope: z.enum(["all", "marketing"]).default("all").meta({ description: "all, or marketing only" }),
    }),
    status: 201,
    output: Suppression,
    examples: [{ summary: "Never write to them again", body: { email: "ada@example.com" } }],
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/api/v1/suppressions/:id",
    access: { permission: "suppressions:write" },
    summary: "Lift a suppression, by its id or by the address",
    output: Suppression,
    errors: ["not_found"],
    examples: [{ summary: "By address", params: { id: "ada@example.com" } }],
  }),
};
