import { Readable } from "node:stream";
import { ROLE_PERMISSIONS, type Role } from "@mailsvc/sdk/contract";
import { MARKS, type Pick } from "../script.ts";
import { Server } from "../server.ts";
import type { Universe } from "../universe.ts";
import type { Disturbance } from "./disturbance.ts";

const PERSON = "ada@acme.test";
const PROXY = "127.0.0.1";
const HEADER = "x-forwarded-user";

/** The calls of a person, the permission that each needs, and the status of its answer where they have that. */
const CALLS = [
  { method: "GET", path: "/api/v1/contacts", permission: "contacts:read", done: 200 },
  { method: "POST", path: "/api/v1/contacts", permission: "contacts:write", done: 201 },
  { method: "POST", path: "/api/v1/keys", permission: "keys:write", done: 201 },
  // The address that it is from was never verified.
  { method: "POST", path: "/api/v1/send", permission: "transactional:send", done: 400 },
] as const;

/**
 * A person works in the dashboard behind a proxy that names them, and a change of the server's flags gives them another role, and the first
 * one again. Their session must have the rights of each at once.
 */
export const changeRole: Disturbance = async (u, _thing, pick) => {
  await u.settle();
  const [first, second] = pick.of<readonly Role[]>(["owner", "viewer"], ["viewer", "owner"], ["owner", "marketer"], ["marketer", "viewer"]);
  let cookie: string | null = null;
  await u.relocate(async (_places, place) => {
    for (const [turn, role] of [first, second, first].entries()) {
      const server = await startFor(u, role as Role, pick);
      cookie ??= await signIn(server);
      if (cookie === null) u.ledger.note("keys", "A person whom the proxy names is not signed in.");
      else await work(u, server, { role: role as Role, cookie, turn, pick });
      await server.world.dispose();
    }
    return place;
  });
  return cookie !== null;
};

/** A server in production, whose flags give the person a role. */
function startFor(u: Universe, role: Role, pick: Pick): Promise<Server> {
  const owners = role === "owner" ? { "sso-owners": PERSON } : { "sso-owners": "nobody@acme.test", "sso-role": role };
  return Server.start({
    place: u.place,
    // Two servers with one seed would make the same ids.
    seed: pick.int(1, 2_000_000_000),
    now: u.now(),
    peer: u.peer,
    flags: { "sso-header": HEADER, "sso-proxies": PROXY, ...owners },
    log: () => {},
    dev: false,
  });
}

/** Asks as the browser of the person does, through the proxy. */
async function ask({ world }: Server, method: string, path: string, { cookie, body = "" }: { cookie?: string; body?: string }) {
  const headers = { [HEADER]: PERSON, host: new URL(world.url).host, origin: world.url, "content-type": "application/json" };
  const request = new Request(world.url + path, {
    method,
    headers: { ...headers, ...(cookie && { cookie }) },
    ...(body !== "" && { body }),
  });
  // The connection by which it comes.
  const connection = Object.assign(Readable.from([Buffer.from(body)]), { headers, socket: { remoteAddress: PROXY } });
  Object.assign(request, { runtime: { node: { req: connection } } });
  return (await world.app.http.routed()).fetch(request);
}

/** The cookie that the dashboard sets; null where it signs nobody in. */
async function signIn(server: Server): Promise<string | null> {
  const response = await ask(server, "GET", "/dashboard/session", {});
  return response.headers.get("set-cookie")?.split(";")[0] ?? null;
}

interface Working {
  readonly role: Role;
  readonly cookie: string;
  readonly turn: number;
  readonly pick: Pick;
}

async function work(u: Universe, server: Server, { role, cookie, turn, pick }: Working): Promise<void> {
  const bodies: Readonly<Record<string, object>> = {
    "/api/v1/contacts": { email: `fine-${pick.int(1000, 9_999_999)}@people.test`, firstName: `New ${MARKS.a}` },
    "/api/v1/send": { from: "boss@nowhere.test", to: "fine-0@people.test", subject: `Hello ${MARKS.a}`, text: "Hello" },
    "/api/v1/keys": { name: "shop", permissions: ["contacts:read"] },
  };
  for (const { method, path, permission, done } of CALLS) {
    const body = method === "POST" ? JSON.stringify(bodies[path]) : "";
    const { status } = await ask(server, method, path, { cookie, body });
    const wanted = ROLE_PERMISSIONS[role].includes(permission) ? done : 403;
    if (status !== wanted)
      u.ledger.note("keys", `A ${role} gets ${status} from ${method} ${path} in place of ${wanted}, after ${turn} changes of the role.`);
  }
}
