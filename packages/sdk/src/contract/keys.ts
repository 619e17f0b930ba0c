import { endpoint } from "./endpoint.ts";
import { limits } from "./limits.ts";
import { nameSchema } from "./name.ts";
import { Instant, pageQuery, pageSchema } from "./page.ts";
import { RelayCheck } from "./relays.ts";
import { PERMISSIONS } from "./scopes.ts";
import { Workspace } from "./workspaces.ts";
import * as z from "./zod.ts";

export const KEY_LIMITS = limits("keys", "Limits of API keys", {
  senders: [50, "addresses and domains that one may send from"],
  networks: [50, "networks that one may be used from"],
});

export const Key = z
  .object({
    id: z.string(),
    name: z.string(),
    permissions: z.array(z.enum(PERMISSIONS)),
    /** The owner key has every permission, including future ones. */
    owner: z.boolean(),
    /** Mail of a test key is captured instead of sent. */
    test: z.boolean(),
    /** The start and end of the key, to tell keys apart: `ms_live_ab…wxyz`, `ms_test_ab…wxyz`, or `ms_dev_ab…wxyz` in dev mode. */
    preview: z.string(),
    /** By the server's clock: it works, its time is over, or it was revoked. */
    state: z.enum(["active", "expired", "revoked"]),
    createdAt: Instant,
    revokedAt: Instant.nullable(),
    /** The last request or login with the key, to the minute; null before the first one. */
    lastUsedAt: Instant.nullable(),
    /** The instant from which the key is refused; null for none. */
    expiresAt: Instant.nullable(),
    /** Addresses and domains that the key may send from; null for all senders of the workspace. */
    senders: z.array(z.string()).nullable(),
    /** Networks that the key may be used from; null for all. */
    networks: z.array(z.string()).nullable(),
  })
  .meta({ id: "Key" });
export type Key = z.infer<typeof Key>;

export const Me = z.object({
  workspace: Workspace,
  key: Key,
  server: z.object({
    version: z.string(),
    dev: z.boolean(),
    mailer: z.string(),
    capturesMail: z.boolean().meta({ description: "No mail leaves: there is no relay, and all of it is captured" }),
    mailerFault: z.string().nullable().meta({ description: "Why delivery is paused, if it is" }),
    pausedAt: Instant.nullable().meta({ description: "Since when an operator has paused all sending, if so" }),
    unhandledJobs: z.int().meta({ description: "Jobs that wait because this version does not know their kind, counted up to 10,000" }),
    marketplace: z.boolean().meta({
      description:
        "Agents are offered here, so the dashboard and searches show them: a listing exists, the server is told so, or it is in dev mode",
    }),
    now: Instant,
  }),
});

export const me = {
  get: endpoint({
    method: "GET",
    path: "/api/v1/me",
    access: "key",
    operatorRight: "details",
    summary: "Show the current workspace, key and server",
    output: Me,
    examples: [{ summary: "Who am I" }],
  }),
  checkRelays: endpoint({
    method: "GET",
    path: "/api/v1/me/relays",
    access: "key",
    operatorRight: "details",
    summary: "Connect to the relays that mail of this workspace may take, and log in",
    description:
      "Sends nothing. Each relay has 20 seconds to answer. Checks of a relay within ten seconds share one connection and its result. Without a relay, the list is empty. Where the server has several workspaces, only its operator is told addresses.",
    // The bucket of writes: each call may connect to servers of others.
    bucket: "write",
    waitSeconds: 20,
    output: z.object({
      ok: z.boolean().meta({ description: "False if a relay cannot be reached or refuses the login" }),
      data: z.array(RelayCheck),
    }),
    examples: [{ summary: "Check them" }],
  }),
};

export const keys = {
  list: endpoint({
    method: "GET",
    path: "/api/v1/keys",
    access: { permission: "keys:read" },
    summary: "List API keys, newest first",
    query: z.object({ ...pageQuery, revoked: z.stringbool().optional().meta({ description: "Only revoked keys, or only live ones" }) }),
    output: pageSchema(Key),
    examples: [{ summary: "The live keys", query: { revoked: "false" } }],
  }),
  get: endpoint({
    method: "GET",
    path: "/api/v1/keys/:id",
    access: { permission: "keys:read" },
    summary: "Get one API key",
    output: Key,
    errors: ["not_found"],
    examples: [{ summary: "One key", params: { id: "key_01jc3v2m9k8q4w6x0y5z7a1b2c" } }],
  }),
  create: endpoint({
    method: "POST",
    path: "/api/v1/keys",
    access: { permission: "keys:write" },
    mailsTo: "nobody",
    summary: "Create an API key",
    description:
      "The key is shown only in this response. A key can grant only permissions it has itself, and one that is limited creates no keys. Limits cannot be changed later.",
    body: z.strictObject({
      name: nameSchema("What the key is for"),
      permissions: z.array(z.enum(PERMISSIONS)).min(1).max(PERMISSIONS.length).meta({ description: "Permissions of the key" }),
      test: z.boolean().optional().meta({
        description: "A test key: its mail is captured instead of sent, and it can change nothing else",
      }),
      expiresAt: Instant.optional().meta({ description: "Instant from which the key is refused" }),
      senders: z
        .array(z.string().min(1).max(320))
        .min(1)
        .max(KEY_LIMITS.senders)
        .optional()
        .meta({
          description: "Addresses and domains that the key may send from; it can have transactional:send and permissions to read",
          examples: [["receipts@acme.example"]],
        }),
      networks: z
        .array(z.string().min(1).max(50))
        .min(1)
        .max(KEY_LIMITS.networks)
        .optional()
        .meta({
          description: "Networks that the key may be used from, as addresses or CIDR; behind a proxy, --trust-proxy must name it",
          examples: [["203.0.113.0/24"]],
        }),
    }),
    status: 201,
    output: Key.extend({ key: z.string().meta({ description: "The API key, shown only once" }) }),
    errors: ["forbidden"],
    confidential: true,
    examples: [
      { summary: "A key for one service", body: { name: "shop", permissions: ["transactional:send"] } },
      {
        summary: "A test key for a staging system",
        body: { name: "staging", permissions: ["transactional:send", "transactional:read"], test: true },
      },
      {
        summary: "A key for receipts from one network",
        body: { name: "till", permissions: ["transactional:send"], senders: ["receipts@acme.example"], networks: ["203.0.113.0/24"] },
      },
    ],
  }),
  update: endpoint({
    method: "PATCH",
    path: "/api/v1/keys/:id",
    access: { permission: "keys:write" },
    mailsTo: "nobody",
    summary: "Rename an API key",
    description: "What it may do stays as it is. A key cannot rename one that can do more than itself.",
    body: z.strictObject({ name: nameSchema("What the key is for") }),
    output: Key,
    errors: ["not_found", "forbidden"],
    examples: [{ summary: "Rename", params: { id: "key_01jc3v2m9k8q4w6x0y5z7a1b2c" }, body: { name: "shop in production" } }],
  }),
  revoke: endpoint({
    method: "DELETE",
    path: "/api/v1/keys/:id",
    access: { permission: "keys:write" },
    mailsTo: "nobody",
    summary: "Revoke an API key permanently",
    description:
      "Revoking it again changes nothing. A key cannot revoke one that can do more than itself. The last live owner key of a workspace cannot be revoked.",
    output: Key,
    errors: ["not_found", "forbidden", "invalid_state"],
    examples: [{ summary: "Revoke", params: { id: "key_01jc3v2m9k8q4w6x0y5z7a1b2c" } }],
  }),
};
