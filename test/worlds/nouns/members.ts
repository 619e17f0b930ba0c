import { ROLE_PERMISSIONS, ROLES, type Role } from "@mailsvc/sdk/contract";
import { known, type Noun } from "../noun.ts";
import { MARKS, type Tenant } from "../script.ts";
import type { Thing, Universe } from "../universe.ts";
import { findLastMail } from "./reading.ts";

const LINK = /#mail=([\w-]{43})/;
/** Time after which a browser that asks for nothing is signed out, and then some. */
const IDLE_MS = 12 * 3_600_000;

/** Calls of somebody in a browser, the permission that each needs, and the status of its answer where they have that. */
const CALLS = [
  { method: "GET", path: "/api/v1/contacts", permission: "contacts:read", done: 200 },
  // It is let in, and lacks all that it needs.
  { method: "POST", path: "/api/v1/contacts", permission: "contacts:write", done: 400 },
  { method: "GET", path: "/api/v1/keys", permission: "keys:read", done: 200 },
] as const;

function browse(u: Universe, tenant: Tenant, method: string, path: string, cookie: string | null, body?: object): Promise<Response | null> {
  const { host, origin } = new URL(u.world.url);
  const headers = { host, origin, "content-type": "application/json", ...(cookie !== null && { cookie }) };
  return u.value(() =>
    u.fetchAs(tenant)(u.world.url + path, { method, headers, ...(method === "POST" && { body: JSON.stringify(body ?? {}) }) }),
  );
}

/** Follows the link that was mailed to a person. Their browser has the rights of the role from then on. */
async function signIn(u: Universe, { tenant, label, also }: Pick<Thing, "tenant" | "label" | "also">, role: Role): Promise<boolean> {
  const token = LINK.exec(await findLastMail(u, tenant, also["email"] ?? ""))?.[1];
  if (token === undefined) return false;
  const answer = await browse(u, tenant, "POST", "/dashboard/sign-in", null, { token });
  const cookie = answer?.headers.get("set-cookie")?.split(";")[0];
  // A link that was used, or withdrawn, or is too old lets nobody in.
  if (answer?.status !== 200 || cookie === undefined) return false;
  u.ledger.browsers.set(label, { tenant, cookie, role, seenAt: u.now() });
  await look(u, label);
  // The link lets in nobody who finds it later.
  const second = await browse(u, tenant, "POST", "/dashboard/sign-in", null, { token });
  if (second?.status === 200) u.ledger.note("keys", `The link that was mailed to ${label} has signed in twice.`);
  return true;
}

/** Lets a browser ask for what its person may do and may not do, and notes each answer that should be another one. */
async function look(u: Universe, label: string): Promise<void> {
  const browser = u.ledger.browsers.get(label);
  // Answers that are faults on purpose say nothing of rights.
  if (!browser || u.rewound || u.mayFail) return;
  const { tenant, cookie, seenAt } = browser;
  const role = u.now() - seenAt > IDLE_MS ? null : browser.role;
  for (const { method, path, permission, done } of CALLS) {
    const status = (await browse(u, tenant, method, path, cookie))?.status;
    const wanted = role === null ? 401 : ROLE_PERMISSIONS[role].includes(permission) ? done : 403;
    if (status !== undefined && status !== wanted)
      u.ledger.note(
        "keys",
        `The browser of ${label} (${role ?? "signed out"}) gets ${status} from ${method} ${path} in place of ${wanted}.`,
      );
  }
  u.ledger.browsers.set(label, { ...browser, role, seenAt: u.now() });
}

/** Does something that may end what a browser may do. After a call that was lost nobody knows. */
async function changed(u: Universe, { label }: Thing, made: () => Promise<unknown>, next: (before: Role | null) => Role | null) {
  const outcome = await u.call(made);
  const browser = u.ledger.browsers.get(label);
  if (!browser) return outcome;
  if ("lost" in outcome) u.ledger.browsers.delete(label);
  else if ("value" in outcome) u.ledger.browsers.set(label, { ...browser, role: next(browser.role) });
  await look(u, label);
  return outcome;
}

const isLess = (role: Role, before: Role): boolean => ROLE_PERMISSIONS[before].some((one) => !ROLE_PERMISSIONS[role].includes(one));

/** People who sign in to the dashboard by mail, and what they may do there. */
export const MEMBER_NOUNS = {
  member: {
    make: async ({ universe: u, tenant, pick, label }) => {
      const also = { email: `${label.toLowerCase()}@${tenant}.acme.test` };
      const role = pick.of(...ROLES);
      const invitation = { email: also.email, role, name: `Colleague ${MARKS[tenant]}` };
      const made = known(await u.value(() => u.sdk(tenant).members.invite(invitation)), also);
      if (made) await signIn(u, { tenant, label, also }, role);
      return made;
    },
    verbs: {
      edit: (u, thing, pick) => {
        const role = pick.of(...ROLES);
        // Sessions end that had rights which the new role lacks; others have the new ones at once.
        const next = (before: Role | null): Role | null => (before === null || isLess(role, before) ? null : role);
        return changed(u, thing, () => u.sdk(thing.tenant).members.setRole(thing.id, { role }), next);
      },
      pause: (u, thing) =>
        changed(
          u,
          thing,
          () => u.sdk(thing.tenant).members.signOut(thing.id),
          () => null,
        ),
      // A link that they ask for.
      resume: async (u, thing) => {
        const { tenant, id, also } = thing;
        const asked = await browse(u, tenant, "POST", "/dashboard/sign-in-mail", null, { email: also["email"] });
        const member = await u.value(async () => (await u.sdk(tenant).members.list({ limit: 100 })).data.find((one) => one.id === id));
        return asked?.status === 200 && member ? signIn(u, thing, member.role) : false;
      },
      // Invited once more, as they are or as somebody new.
      duplicate: async (u, thing, pick) => {
        const { tenant, also } = thing;
        const all = await u.value(async () => (await u.sdk(tenant).members.list({ limit: 100 })).data);
        const role = all?.find(({ id }) => id === thing.id)?.role ?? pick.of(...ROLES);
        const invited = await u.call(() => u.sdk(tenant).members.invite({ email: also["email"] ?? "", role }));
        if ("value" in invited) await signIn(u, thing, role);
        return invited;
      },
      delete: (u, thing) =>
        changed(
          u,
          thing,
          () => u.sdk(thing.tenant).members.remove(thing.id),
          () => null,
        ),
    },
  },
} satisfies Record<string, Noun>;
