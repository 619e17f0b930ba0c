import { endpoint } from "./endpoint.ts";
import { limits } from "./limits.ts";
import { Instant, pageQuery, pageSchema } from "./page.ts";
import * as z from "./zod.ts";

export const AUDIT_LIMITS = limits("audit", "Changes", {
  value: [500, "value of a field that is kept, as JSON", "characters"],
  fields: [50, "fields of a change"],
});

/** Callers that change something: a key, a person in the dashboard, an agent with its own key, or the operator. */
export const AUDIT_ACTORS = ["key", "person", "agent", "operator"] as const;

/** A field that a change has changed. A value that was not there is null; a long one is cut, and ends in its length. */
export const AuditChange = z.object({ field: z.string(), before: z.unknown(), after: z.unknown() }).meta({ id: "AuditChange" });
export type AuditChange = z.infer<typeof AuditChange>;

export const AuditEntry = z
  .object({
    id: z.string(),
    at: Instant,
    /** The operation, such as `templates.update`. */
    action: z.string(),
    actor: z.object({
      kind: z.enum(AUDIT_ACTORS),
      /** The id of the key, of the member, or of the agent's activation; null for the operator. */
      id: z.string().nullable(),
      /** Its name at the time of the change. */
      name: z.string().nullable(),
    }),
    /** The id of what was changed; null where it has none. */
    object: z.string().nullable(),
    /** Its name, as far as it has one. */
    name: z.string().nullable(),
    /** The fields by name. Secrets are never kept; an action without fields, such as a deletion, has none. */
    changes: z.array(AuditChange),
    /** The request that did it, as in its X-Request-Id. */
    requestId: z.string(),
  })
  .meta({ id: "AuditEntry" });
export type AuditEntry = z.infer<typeof AuditEntry>;

export const audit = {
  list: endpoint({
    method: "GET",
    path: "/api/v1/audit",
    access: { permission: "audit:read" },
    summary: "List changes of settings and content, newest first",
    description:
      "Changes and who made them: keys, webhooks, senders, templates, campaigns, automations, lists, segments, forms, the brand, agents and, for the operator, workspaces, relays and the queue. Contacts, suppressions and mail have their own history in events. Entries are kept for as long as the server's --keep says.",
    query: z.object({
      ...pageQuery,
      action: z
        .string()
        .max(100)
        .optional()
        .meta({
          description: "Only this operation, or all of a noun",
          examples: ["templates.update", "keys"],
        }),
      object: z.string().max(200).optional().meta({ description: "Only changes of the object with this id" }),
      actor: z.string().max(200).optional().meta({ description: "Only changes by this key, person or activation: its id or its name" }),
      since: Instant.optional().meta({ description: "Only changes at this instant or later" }),
      until: Instant.optional().meta({ description: "Only changes before this instant" }),
    }),
    output: pageSchema(AuditEntry),
    examples: [{ summary: "The latest" }, { summary: "Of keys", query: { action: "keys" } }],
  }),
};
