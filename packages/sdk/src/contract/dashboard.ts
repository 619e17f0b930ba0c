import { endpoint } from "./endpoint.ts";
import { limits } from "./limits.ts";
import { nameSchema } from "./name.ts";
import { Instant, pageQuery, pageSchema } from "./page.ts";
import { PERMISSIONS, type Permission } from "./scopes.ts";
import * as z from "./zod.ts";

/** Roles of people in the dashboard. */
export const ROLES = ["owner", "marketer", "viewer", "support"] as const;
export type Role = (typeof ROLES)[number];

export const SIGN_IN_LIMITS = limits("dashboard", "The dashboard", {
  linkMinutes: [15, "how long a link to sign in works", "minutes"],
  idleHours: [12, "how long a session lasts without a request", "hours"],
  sessionDays: [14, "how long a session lasts in all", "days"],
});

const MARKETER_WRITES: readonly Permission[] = [
  "contacts:write",
  "campaigns:write",
  "templates:write",
  "automations:write",
  "transactional:send",
  "received:write",
  "lists:write",
  "segments:write",
  "brand:write",
];

const isRead = (permission: Permission): boolean => permission.endsWith(":read");
const isOfKeys = (permission: Permission): boolean => permission.startsWith("keys:");

/** The permissions of each role. An owner has all that the key has by which the session began. */
export const ROLE_PERMISSIONS: Readonly<Record<Role, readonly Permission[]>> = {
  owner: PERMISSIONS,
  marketer: PERMISSIONS.filter((one) => !isOfKeys(one) && (isRead(one) || MARKETER_WRITES.includes(one))),
  viewer: PERMISSIONS.filter((one) => !isOfKeys(one) && isRead(one)),
  support: ["mail_states:read"],
};

/** Ways to sign in: a link of an owner, an API key, a link by mail, a trusted proxy, or the provider of OpenID Connect. */
export const SIGN_IN_WAYS = ["link", "key", "mail", "proxy", "provider"] as const;
export type SignInWay = (typeof SIGN_IN_WAYS)[number];

/** A browser that is signed in to the dashboard. */
export const DashboardSession = z
  .object({
    id: z.string(),
    role: z.enum(ROLES),
    /** The key whose rights it has, as far as the role lets it; it ends when that key is revoked. */
    keyId: z.string(),
    way: z.enum(SIGN_IN_WAYS),
    /** The member who is signed in; null for a session by a key, a link or a proxy. */
    memberId: z.string().nullable(),
    /** The name of the person: that of the member, of the link, or the one that a proxy gave; null if nobody gave one. */
    name: z.string().nullable(),
    /** The address of the member. */
    email: z.string().nullable(),
    createdAt: Instant,
    lastSeenAt: Instant,
    expiresAt: Instant.meta({ description: "When it ends at the latest" }),
  })
  .meta({ id: "DashboardSession" });
export type DashboardSession = z.infer<typeof DashboardSession>;

export const dashboard = {
  link: endpoint({
    method: "POST",
    path: "/api/v1/dashboard/links",
    access: { permission: "keys:write" },
    mailsTo: "nobody",
    summary: "Create a link that signs one browser in to the dashboard",
    description: `It works once, within ${SIGN_IN_LIMITS.linkMinutes} minutes. The session has the permissions of the role that the key has, too, and ends when the key is revoked.`,
    body: z.strictObject({
      role: z
        .enum(ROLES)
        .default("owner")
        .meta({ description: "Rights of the person: everything the key may, campaigns and contacts, only look, or only states of mail" }),
      name: nameSchema("Name of the person, for the list of who is signed in").optional(),
    }),
    status: 201,
    output: z.object({
      url: z.string().meta({ description: "The link, shown only once" }),
      role: z.enum(ROLES),
      name: z.string().nullable(),
      expiresAt: Instant,
    }),
    errors: ["forbidden"],
    confidential: true,
    examples: [
      { summary: "For yourself", body: {} },
      { summary: "For a colleague who only looks", body: { role: "viewer", name: "Grace" } },
    ],
  }),
  sessions: endpoint({
    method: "GET",
    path: "/api/v1/dashboard/sessions",
    access: { permission: "keys:read" },
    summary: "List the browsers that are signed in, newest first",
    query: z.object({ ...pageQuery }),
    output: pageSchema(DashboardSession),
    examples: [{ summary: "All" }],
  }),
  signOut: endpoint({
    method: "DELETE",
    path: "/api/v1/dashboard/sessions/:id",
    access: { permission: "keys:write" },
    mailsTo: "nobody",
    summary: "Sign a browser out",
    output: DashboardSession,
    errors: ["not_found"],
    examples: [{ summary: "Sign out", params: { id: "ses_01jc3v2m9k8q4w6x0y5z7a1b2c" } }],
  }),
  signOutPerson: endpoint({
    method: "DELETE",
    path: "/api/v1/dashboard/sessions/:id/person",
    access: { permission: "keys:write" },
    mailsTo: "nobody",
    summary: "Sign the person of a browser out everywhere",
    description:
      "Ends the sessions of the same member, or of the same name. Sessions by a link or a key without a name count as one person, if key and role are the same.",
    output: z.object({ ended: z.int() }),
    errors: ["not_found"],
    examples: [{ summary: "Sign out", params: { id: "ses_01jc3v2m9k8q4w6x0y5z7a1b2c" } }],
  }),
  signOutAll: endpoint({
    method: "DELETE",
    path: "/api/v1/dashboard/sessions",
    access: { permission: "keys:write" },
    mailsTo: "nobody",
    summary: "Sign all browsers of the workspace out",
    description: "Links that were not used yet stop working, too.",
    output: z.object({ ended: z.int() }),
    examples: [{ summary: "Sign all out" }],
  }),
};
