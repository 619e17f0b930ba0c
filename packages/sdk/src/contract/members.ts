import { EmailAddress } from "./address.ts";
import { ROLES } from "./dashboard.ts";
import { endpoint } from "./endpoint.ts";
import { limits } from "./limits.ts";
import { nameSchema } from "./name.ts";
import { Instant, pageQuery, pageSchema } from "./page.ts";
import * as z from "./zod.ts";

export const MEMBER_LIMITS = limits("members", "Members", {
  invitationHours: [24, "how long the link in an invitation works", "hours"],
  mailsPerHour: [5, "mails with links that a member gets in an hour"],
});

/** A person who may sign in to a workspace. */
export const Member = z
  .object({
    id: z.string(),
    email: z.string(),
    name: z.string().nullable(),
    role: z.enum(ROLES),
    /** The person, or the name of the key, that has invited them. */
    invitedBy: z.string(),
    createdAt: Instant,
    /** The first sign-in; null until then. */
    joinedAt: Instant.nullable(),
    lastSignInAt: Instant.nullable(),
    /** Browsers in which they are signed in. */
    sessions: z.int(),
  })
  .meta({ id: "Member" });
export type Member = z.infer<typeof Member>;

const roleField = z.enum(ROLES).meta({ description: "Role of the person: owner, marketer, viewer or support" });
const nameField = nameSchema("The name that colleagues see").optional();
const ada = { member: "ada@acme.example" };

export const members = {
  list: endpoint({
    method: "GET",
    path: "/api/v1/members",
    access: { permission: "keys:read" },
    summary: "List members, newest first",
    query: z.object({ ...pageQuery }),
    output: pageSchema(Member),
    examples: [{ summary: "All" }],
  }),
  get: endpoint({
    method: "GET",
    path: "/api/v1/members/:member",
    access: { permission: "keys:read" },
    summary: "Get one member, by address or id",
    output: Member,
    errors: ["not_found"],
    examples: [{ summary: "By address", params: ada }],
  }),
  invite: endpoint({
    method: "POST",
    path: "/api/v1/members",
    access: { permission: "keys:write" },
    mailsTo: "one",
    summary: "Invite a person to the dashboard",
    description: `They get a mail with a link that works once, within ${MEMBER_LIMITS.invitationHours} hours. Later they ask for links, or use single sign-on. Inviting them again with the same role sends the mail again. A key can give only permissions it has itself.`,
    body: z.strictObject({
      email: EmailAddress.meta({ description: "Address of the person, which is how they sign in" }),
      role: roleField,
      name: nameField,
    }),
    status: 201,
    output: Member,
    errors: ["forbidden", "invalid_state", "limit_reached"],
    examples: [{ summary: "A colleague who writes campaigns", body: { email: ada.member, role: "marketer", name: "Ada" } }],
  }),
  setRole: endpoint({
    method: "PATCH",
    path: "/api/v1/members/:member",
    access: { permission: "keys:write" },
    mailsTo: "nobody",
    summary: "Change the role of a member",
    description: "With a role that may do less, their sessions end. A person cannot take the role of the last owner; an owner key can.",
    body: z.strictObject({ role: roleField }),
    output: Member,
    errors: ["not_found", "forbidden", "invalid_state"],
    examples: [{ summary: "Make somebody an owner", params: ada, body: { role: "owner" } }],
  }),
  remove: endpoint({
    method: "DELETE",
    path: "/api/v1/members/:member",
    access: { permission: "keys:write" },
    mailsTo: "nobody",
    summary: "Remove a member, and end their sessions",
    description:
      "Links that were mailed to them stop working, and single sign-on lets them in no more until they are invited again. A person cannot remove the last owner; an owner key can.",
    output: Member,
    errors: ["not_found", "forbidden", "invalid_state"],
    examples: [{ summary: "Remove somebody who has left", params: ada }],
  }),
  signOut: endpoint({
    method: "DELETE",
    path: "/api/v1/members/:member/sessions",
    access: { permission: "keys:write" },
    mailsTo: "nobody",
    summary: "Sign a member out of all browsers",
    description: "Unused links that were mailed to them stop working, too. They stay a member.",
    output: z.object({ ended: z.int() }),
    errors: ["not_found", "forbidden"],
    examples: [{ summary: "A lost laptop", params: ada }],
  }),
};
