import { endpoint } from "./endpoint.ts";
import { nameSchema } from "./name.ts";
import { Instant, pageQuery, pageSchema } from "./page.ts";
import { RelayChoice } from "./relay-name.ts";
import * as z from "./zod.ts";

export const Workspace = z
  .object({
    id: z.string(),
    name: z.string(),
    /** The relay of its mail, where no sender or campaign names another one; null for the server's default. */
    relay: z.string().nullable(),
    /** True when mail without a replyTo of its own gets an address whose replies are received. */
    replies: z.boolean(),
    createdAt: Instant,
  })
  .meta({ id: "Workspace" });
export type Workspace = z.infer<typeof Workspace>;

/** A row of a workspace in one of the server's tables. */
export const WorkspaceRow = z
  .object({
    table: z.string(),
    /** Its columns. Instants are milliseconds since 1970, bytes are in base64. */
    row: z.record(z.string(), z.unknown()),
  })
  .meta({ id: "WorkspaceRow" });
export type WorkspaceRow = z.infer<typeof WorkspaceRow>;

const EXAMPLE = { id: "ws_01jc3v2m9k8q4w6x0y5z7a1b2c" };

const Name = nameSchema("Who the workspace belongs to");

const Replies = z.boolean().meta({ description: "Receive the replies to all mail that has no replyTo of its own, as if it had auto" });

export const workspaces = {
  list: endpoint({
    method: "GET",
    path: "/api/v1/workspaces",
    access: "operator",
    summary: "List workspaces, newest first",
    query: z.object(pageQuery),
    output: pageSchema(Workspace),
    examples: [{ summary: "The newest ones" }],
  }),
  create: endpoint({
    method: "POST",
    path: "/api/v1/workspaces",
    access: "operator",
    summary: "Create a workspace",
    description:
      "A workspace has its own keys, senders, contacts, mail, listings and activations; no other workspace can see them. Only its listings appear in the catalog of every workspace. The owner key is in this answer and nowhere else.",
    body: z.strictObject({ name: Name }),
    status: 201,
    output: Workspace.extend({ apiKey: z.string().meta({ description: "The owner key of the workspace, shown this once" }) }),
    confidential: true,
    examples: [{ summary: "A workspace for a customer", body: { name: "Acme" } }],
  }),
  update: endpoint({
    method: "PATCH",
    path: "/api/v1/workspaces/:id",
    access: "operator",
    summary: "Rename a workspace, name the relay of its mail, or receive the replies to it",
    body: z.strictObject({ name: Name.optional(), relay: RelayChoice.optional(), replies: Replies.optional() }),
    output: Workspace,
    errors: ["not_found"],
    examples: [
      { summary: "Another name", params: EXAMPLE, body: { name: "Acme Inc." } },
      { summary: "Its own relay", params: EXAMPLE, body: { relay: "ses" } },
      { summary: "Replies received", params: EXAMPLE, body: { replies: true } },
    ],
  }),
  export: endpoint({
    method: "GET",
    path: "/api/v1/workspaces/:id/export",
    access: "operator",
    summary: "Export all data of a workspace, table by table",
    description:
      "Everything stored of a workspace, except keys, secrets and their hashes, sessions, stored responses, and captured test mail. Files are in parts, in base64. Continue with `pagination.nextCursor` until it is null: a page may be short, or empty, before the last one.",
    query: z.object({
      ...pageQuery,
      limit: pageQuery.limit.default(100),
      cursor: z.string().max(4000).optional().meta({ description: "Continue after this cursor (pagination.nextCursor)" }),
    }),
    output: pageSchema(WorkspaceRow),
    errors: ["not_found"],
    examples: [{ summary: "Before it is deleted", params: EXAMPLE, query: { limit: 3 } }],
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/api/v1/workspaces/:id",
    access: "operator",
    summary: "Delete a workspace with everything in it",
    description:
      "Cannot be undone. Its keys and sessions end with this call, and nothing of it is sent any more; its rows are deleted in the background. The first workspace of a server stays, and so does one whose agents are active in other workspaces: cancel its listings first. Its agents' activations in other workspaces stay there as they ended.",
    output: Workspace,
    errors: ["not_found", "invalid_state"],
    examples: [{ summary: "A customer who has left", params: EXAMPLE }],
  }),
};
