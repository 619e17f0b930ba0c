import { ROLE_PERMISSIONS } from "@mailsvc/sdk/contract";
import { beforeEach, describe, expect, test } from "vitest";
import { type Answer, browse as browseIn, HOST } from "../../test/browser-session.ts";
import { replaceOperatorKey } from "../installation/recovery.ts";
import { createWorld, type TestWorld } from "../testing.ts";

let world: TestWorld;
beforeEach(async () => {
  world = await createWorld({ dev: false });
  return () => world.dispose();
});

const browse = (method: string, path: string, asked: Parameters<typeof browseIn>[3] = {}): Promise<Answer> =>
  browseIn(world, method, path, asked);

const makeLink = async (role: "owner" | "marketer" | "viewer" = "owner"): Promise<string> =>
  (await world.sdk.dashboard.link({ role })).url.split("#")[1] ?? "";

async function signIn(role?: "owner" | "marketer" | "viewer", before?: string): Promise<string> {
  const { cookie } = await browse("POST", "/dashboard/sign-in", {
    body: { token: await makeLink(role) },
    ...(before && { cookie: before }),
  });
  return cookie ?? "";
}

describe("signing in", () => {
  test("a link works once and gives a cookie that scripts and other sites cannot use", async () => {
    const token = await makeLink();
    const response = await world.fetch(`${world.url}/dashboard/sign-in`, {
      method: "POST",
      headers: { host: HOST, origin: `http://${HOST}`, "content-type": "application/json" },
      body: JSON.stringify({ token }),
    });
    expect(response.headers.get("set-cookie")).toMatch(/; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict/);
    const again = await browse("POST", "/dashboard/sign-in", { body: { token } });
    expect([again.status, again.cookie]).toEqual([401, null]);
  });

  test("a link is too old after 15 minutes", async () => {
    const token = await makeLink();
    await world.clock.advance("15m");
    expect((await browse("POST", "/dashboard/sign-in", { body: { token } })).status).toBe(401);
  });

  test("an API key signs in with its own permissions; a wrong one does not", async () => {
    const { key } = await world.sdk.keys.create({ name: "reads", permissions: ["transactional:read"] });
    const { status, body } = await browse("POST", "/dashboard/sign-in", { body: { apiKey: key } });
    expect([status, body.permissions]).toEqual([200, ["transactional:read"]]);
    expect((await browse("POST", "/dashboard/sign-in", { body: { apiKey: `${key}x` } })).status).toBe(401);
  });

  test("gives another token than the browser had, and ends that session", async () => {
    const first = await signIn();
    const second = await signIn("viewer", first);
    expect(second).not.toBe(first);
    expect((await browse("GET", "/api/v1/me", { cookie: first })).status).toBe(401);
    expect((await browse("GET", "/api/v1/me", { cookie: second })).status).toBe(200);
  });

  test("a token that somebody has made up is no session", async () => {
    const name = (await signIn()).split("=")[0];
    expect((await browse("GET", "/api/v1/me", { cookie: `${name}=${"A".repeat(43)}` })).status).toBe(401);
  });
});

test("a link leads to the dashboard, whose page takes the token out of the address", async () => {
  const { url } = await world.sdk.dashboard.link({});
  const page = await world.fetch(url, { headers: { accept: "text/html" } });
  expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
});

describe("the operator", () => {
  const become = (cookie: string, operatorKey: string, origin?: string) =>
    browse("POST", "/dashboard/operator", { cookie, body: { operatorKey }, ...(origin && { origin }) });

  test("is an owner who gives the operator key, under another token", async () => {
    const owner = await signIn();
    expect((await browse("GET", "/api/v1/queue", { cookie: owner })).status).toBe(403);
    const { status, cookie, body } = await become(owner, world.operatorKey);
    expect([status, body.operator]).toEqual([200, true]);
    expect(cookie).not.toBe(owner);
    expect((await browse("GET", "/api/v1/me", { cookie: owner })).status).toBe(401);
    expect((await browse("GET", "/api/v1/queue", { cookie: cookie ?? "" })).status).toBe(200);
    const paused = await browse("POST", "/api/v1/queue/pause", { cookie: cookie ?? "", body: {}, origin: "http://evil.example" });
    expect(paused.status).toBe(403);
    expect((await browse("POST", "/api/v1/queue/pause", { cookie: cookie ?? "", body: {} })).status).toBe(200);
  });

  test("is nobody else: no other role, no other key, no page of another site, and no one without a session", async () => {
    const owner = await signIn();
    for (const role of ["marketer", "viewer"] as const) {
      const { status, cookie } = await become(await signIn(role), world.operatorKey);
      expect([status, cookie]).toEqual([403, null]);
    }
    expect((await become(owner, world.apiKey)).status).toBe(401);
    expect((await become(owner, world.operatorKey, "http://evil.example")).status).toBe(403);
    expect((await browse("POST", "/dashboard/operator", { body: { operatorKey: world.operatorKey } })).status).toBe(401);
    expect((await browse("GET", "/api/v1/queue")).status).toBe(401);
  });

  test("stops being it when the operator key is another one, and stays signed in", async () => {
    const cookie = (await become(await signIn(), world.operatorKey)).cookie ?? "";
    await replaceOperatorKey(world.app.deps.db, world.app.deps.random);
    expect((await browse("GET", "/api/v1/queue", { cookie })).status).toBe(403);
    expect((await browse("GET", "/dashboard/session", { cookie })).body.operator).toBe(false);
    expect((await browse("GET", "/api/v1/me", { cookie })).status).toBe(200);
  });
});

describe("a session", () => {
  test.each(["http://evil.example", "null"])("takes no write from %s", async (origin) => {
    const cookie = await signIn();
    const refused = await browse("POST", "/api/v1/lists", { cookie, origin, body: { name: "News" } });
    expect([refused.status, refused.body.error?.code]).toEqual([403, "forbidden"]);
    expect((await browse("POST", "/dashboard/sign-out", { cookie, origin, body: {} })).status).toBe(403);
    expect((await browse("POST", "/api/v1/lists", { cookie, body: { name: "News" } })).status).toBe(201);
  });

  test("takes no write without an origin", async () => {
    const cookie = await signIn();
    const response = await world.fetch(`${world.url}/api/v1/lists`, {
      method: "POST",
      headers: { host: HOST, cookie, "content-type": "application/json" },
      body: JSON.stringify({ name: "News" }),
    });
    expect(response.status).toBe(403);
  });

  test("sees its own workspace only, also when it names another one", async () => {
    const cookie = await signIn();
    const { workspaceId } = world;
    const response = await world.fetch(`${world.url}/api/v1/me`, { headers: { host: HOST, cookie, "x-mailsvc-workspace": "ws_other" } });
    expect(await response.json()).toMatchObject({ workspace: { id: workspaceId } });
    const without = await world.fetch(`${world.url}/api/v1/me`, { headers: { host: HOST, "x-mailsvc-workspace": workspaceId } });
    expect(without.status).toBe(401);
  });

  test("ends after 12 hours without a request, and after 14 days in any case", async () => {
    const idle = await signIn();
    await world.clock.advance("12h");
    expect((await browse("GET", "/api/v1/me", { cookie: idle })).status).toBe(401);
    const busy = await signIn();
    for (let hours = 0; hours < 14 * 24 - 6; hours += 6) {
      await world.clock.advance("6h");
      expect((await browse("GET", "/api/v1/me", { cookie: busy })).status).toBe(200);
    }
    await world.clock.advance("6h");
    expect((await browse("GET", "/api/v1/me", { cookie: busy })).status).toBe(401);
  });

  test("ends with its key", async () => {
    const made = await world.sdk.keys.create({ name: "reads", permissions: ["transactional:read"] });
    const { cookie } = await browse("POST", "/dashboard/sign-in", { body: { apiKey: made.key } });
    expect((await browse("GET", "/api/v1/emails", { cookie: cookie ?? "" })).status).toBe(200);
    await world.sdk.keys.revoke(made.id);
    expect((await browse("GET", "/api/v1/emails", { cookie: cookie ?? "" })).status).toBe(401);
  });

  test("signs out here, or everywhere the same person is", async () => {
    const [one, two, viewer] = [await signIn(), await signIn(), await signIn("viewer")];
    await browse("POST", "/dashboard/sign-out", { cookie: one, body: {} });
    expect((await browse("GET", "/api/v1/me", { cookie: one })).status).toBe(401);
    expect((await browse("GET", "/api/v1/me", { cookie: two })).status).toBe(200);
    const three = await signIn();
    await browse("POST", "/dashboard/sign-out", { cookie: three, body: { everywhere: true } });
    expect((await browse("GET", "/api/v1/me", { cookie: two })).status).toBe(401);
    expect((await browse("GET", "/api/v1/me", { cookie: viewer })).status).toBe(200);
    expect(await world.sdk.dashboard.signOutAll()).toEqual({ ended: 1 });
    expect((await browse("GET", "/api/v1/me", { cookie: viewer })).status).toBe(401);
  });

  test("is stored as a hash only", async () => {
    const token = (await signIn()).split("=")[1] ?? "";
    const { dashboardSessions, dashboardLinks } = world.app.deps.db.read.t;
    const rows = await world.app.deps.db.read.select().from(dashboardSessions);
    expect(rows).toHaveLength(1);
    expect(JSON.stringify([rows, await world.app.deps.db.read.select().from(dashboardLinks)])).not.toContain(token);
  });
});

describe("a role", () => {
  test("of a marketer writes contacts and campaigns, and neither sees nor makes keys", async () => {
    const cookie = await signIn("marketer");
    expect((await browse("POST", "/api/v1/lists", { cookie, body: { name: "News" } })).status).toBe(201);
    for (const path of ["/api/v1/keys", "/api/v1/dashboard/sessions"])
      expect((await browse("GET", path, { cookie })).status, path).toBe(403);
    expect((await browse("POST", "/api/v1/keys", { cookie, body: { name: "x", permissions: ["keys:read"] } })).status).toBe(403);
    expect((await browse("POST", "/api/v1/dashboard/links", { cookie, body: { role: "owner" } })).status).toBe(403);
  });

  test("of a viewer only reads", async () => {
    const cookie = await signIn("viewer");
    expect((await browse("GET", "/api/v1/lists", { cookie })).status).toBe(200);
    expect((await browse("POST", "/api/v1/lists", { cookie, body: { name: "News" } })).status).toBe(403);
    expect((await browse("GET", "/api/v1/keys", { cookie })).status).toBe(403);
  });

  test.each(["owner", "marketer", "viewer"] as const)("of an %s is told what it may do, not what its key may", async (role) => {
    const { key } = await world.sdk.me.get();
    expect(key.owner).toBe(true);
    const answer = await browse("GET", "/api/v1/me", { cookie: await signIn(role) });
    expect(answer.body.key).toEqual(role === "owner" ? key : { ...key, owner: false, permissions: ROLE_PERMISSIONS[role] });
  });

  test("gives no more than the key has by which the link was made", async () => {
    const { key } = await world.sdk.keys.create({ name: "links", permissions: ["keys:write", "lists:read"] });
    const link = await world.fetch(`${world.url}/api/v1/dashboard/links`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: "{}",
    });
    const { url } = (await link.json()) as { url: string };
    const { body } = await browse("POST", "/dashboard/sign-in", { body: { token: url.split("#")[1] } });
    expect([...(body.permissions ?? [])].sort()).toEqual(["keys:write", "lists:read"]);
  });
});
