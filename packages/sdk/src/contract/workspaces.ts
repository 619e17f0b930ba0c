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
      { summary: "Another name", params: { id: "ws_01jc3v2m9k8q4w6x0y5z7a1b2c" }, body: { name: "Acme Inc." } },
      { summary: "Its own relay", params: { id: "ws_01jc3v2m9k8q4w6x0y5z7a1b2c" }, body: { relay: "ses" } },
      { summary: "Replies received", params: { id: "ws_01jc3v2m9k8q4w6x0y5z7a1b2c" }, body: { replies: true } },
    ],
  }),
};
