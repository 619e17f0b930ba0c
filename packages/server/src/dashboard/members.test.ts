import { MEMBER_LIMITS } from "@mailsvc/sdk/contract";
import { beforeEach, describe, expect, test } from "vitest";
import { type AcceptingMailer, acceptingMailer } from "../../test/accepting-mailer.ts";
import { type Answer, browse, signIn } from "../../test/browser-session.ts";
import { ask } from "../../test/scenario.ts";
import { keyFor, secondWorkspace } from "../../test/tenant.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const ADA = "ada@acme.example";

let mailer: AcceptingMailer;
let world: TestWorld;
beforeEach(async () => {
  mailer = acceptingMailer();
  world = await createWorld({ dev: false, mailer, flags: { "smtp-url": "smtp://127.0.0.1:2525" } });
  return () => world.dispose();
});

/** The token of the link in the latest mail to an address. */
async function readToken(to = ADA): Promise<string> {
  await world.settle();
  const mail = mailer.mails.findLast(({ envelopeTo }) => envelopeTo === to);
  return /#mail=([A-Za-z0-9_-]{43})/.exec(mail?.text ?? "")?.[1] ?? "";
}

const use = (token: string, cookie?: string): Promise<Answer> =>
  browse(world, "POST", "/dashboard/sign-in", { body: { token }, ...(cookie && { cookie }) });
const request = (email: string): Promise<Answer> => browse(world, "POST", "/dashboard/sign-in-mail", { body: { email } });
const stateOf = (cookie: string | null): Promise<Answer> => browse(world, "GET", "/dashboard/session", { cookie: cookie ?? "" });

async function join(email: string, role: "owner" | "marketer" | "viewer" | "support", name?: string): Promise<string> {
  await world.sdk.members.invite({ email, role, ...(name && { name }) });
  return (await use(await readToken(email))).cookie ?? "";
}

describe("an invitation", () => {
  test("is mailed, signs the person in once, and gives the session a name, an address and the role", async () => {
    const invited = await world.sdk.members.invite({ email: ADA, role: "marketer", name: "Ada" });
    expect(invited).toMatchObject({ email: ADA, role: "marketer", name: "Ada", joinedAt: null, sessions: 0 });
    const token = await readToken();
    expect(mailer.mails).toMatchObject([{ envelopeTo: ADA, subject: expect.stringContaining("Invitation") }]);
    expect((await browse(world, "POST", "/dashboard/mailed-link", { body: { token } })).body).toMatchObject({ email: ADA, name: "Ada" });
    const { status, cookie, body } = await use(token);
    expect([status, body.role, body.name, body.email]).toEqual([200, "marketer", "Ada", ADA]);
    expect((await use(token)).status).toBe(401);
    expect((await browse(world, "POST", "/dashboard/mailed-link", { body: { token } })).status).toBe(401);
    expect((await world.sdk.dashboard.sessions({})).data).toMatchObject([{ name: "Ada", email: ADA, way: "mail", memberId: invited.id }]);
    expect((await world.sdk.members.list({})).data).toMatchObject([{ id: invited.id, joinedAt: expect.any(String), sessions: 1 }]);
    expect((await browse(world, "GET", "/api/v1/lists", { cookie: cookie ?? "" })).status).toBe(200);
  });

  test("works for a day and no longer", async () => {
    await world.sdk.members.invite({ email: ADA, role: "viewer" });
    const token = await readToken();
    await world.clock.advance("23h");
    expect((await browse(world, "POST", "/dashboard/mailed-link", { body: { token } })).status).toBe(200);
    await world.clock.advance("1h");
    expect((await use(token)).status).toBe(401);
  });

  test("is sent again on demand, five times an hour, and changes no role by the way", async () => {
    for (let i = 0; i < MEMBER_LIMITS.mailsPerHour; i += 1) {
      await world.sdk.members.invite({ email: ADA.toUpperCase(), role: "viewer" });
      await world.settle();
    }
    expect(mailer.mails).toHaveLength(MEMBER_LIMITS.mailsPerHour);
    await expect(world.sdk.members.invite({ email: ADA, role: "viewer" })).rejects.toMatchObject({ code: "limit_reached" });
    await expect(world.sdk.members.invite({ email: ADA, role: "owner" })).rejects.toMatchObject({ code: "invalid_state" });
    expect((await world.sdk.members.list({})).data).toHaveLength(1);
  });

  test("reaches nobody from a server that captures its mail, which the owner is told", async () => {
    await using captured = await createWorld({ dev: false });
    await expect(captured.sdk.members.invite({ email: ADA, role: "viewer" })).rejects.toMatchObject({ code: "invalid_state" });
    expect((await captured.sdk.members.list({})).data).toEqual([]);
    expect((await browse(captured, "GET", "/dashboard/sign-in-options")).body).toEqual({ mail: false, provider: null });
  });

  test("waits for a mail server that is away for half a day, and a link that was asked for is given up in time", async () => {
    const away = { isAway: false };
    const refused = { outcome: "deferred", error: { message: "connect ECONNREFUSED", smtpCode: null, enhancedCode: null } } as const;
    const server = acceptingMailer(() => (away.isAway ? refused : { outcome: "sent", response: "250 OK" }));
    await using own = await createWorld({ dev: false, mailer: server, flags: { "smtp-url": "smtp://127.0.0.1:2525" } });
    await own.sdk.members.invite({ email: "bob@acme.example", role: "viewer" });
    await own.settle();
    away.isAway = true;
    await own.sdk.members.invite({ email: ADA, role: "viewer" });
    await browse(own, "POST", "/dashboard/sign-in-mail", { body: { email: "bob@acme.example" } });
    await own.clock.advance("12h");
    away.isAway = false;
    const tried = server.mails.length;
    await own.clock.advance("75m");
    expect(server.mails.slice(tried).map(({ envelopeTo }) => envelopeTo)).toEqual([ADA]);
    expect((await own.sdk.jobs.list({})).data).toEqual([]);
  });

  test("can be read in the inbox of dev mode", async () => {
    await using dev = await createWorld();
    await dev.sdk.members.invite({ email: ADA, role: "viewer" });
    const mail = await dev.inbox.waitFor({ to: ADA });
    expect(mail.text).toMatch(/\/dashboard#mail=[A-Za-z0-9_-]{43}/);
  });
});

describe("a link that is asked for", () => {
  test("is mailed to a member, works once and within 15 minutes", async () => {
    await join(ADA, "viewer");
    expect((await request("ADA@ACME.example")).body).toEqual({ sent: true });
    const token = await readToken();
    expect((await use(token)).body.email).toBe(ADA);
    expect((await use(token)).status).toBe(401);
    await request(ADA);
    const late = await readToken();
    await world.clock.advance("15m");
    expect((await use(late)).status).toBe(401);
  });

  test("is not told from one to a stranger, or to somebody who was removed", async () => {
    await join(ADA, "viewer");
    await join("bob@acme.example", "viewer");
    await world.sdk.members.remove("bob@acme.example");
    const sent = mailer.mails.length;
    const answers = [];
    for (const email of [ADA, "bob@acme.example", "nobody@acme.example"]) {
      const { status, body } = await request(email);
      answers.push([status, body]);
    }
    await world.settle();
    expect(new Set(answers.map((answer) => JSON.stringify(answer)))).toEqual(new Set(['[200,{"sent":true}]']));
    expect(mailer.mails.slice(sent).map(({ envelopeTo }) => envelopeTo)).toEqual([ADA]);
  });

  test("does not flood a member, and a network asks for ten at once at most", async () => {
    await world.sdk.members.invite({ email: ADA, role: "viewer" });
    await world.settle();
    const statuses = [];
    for (let i = 0; i < 12; i += 1) {
      statuses.push((await request(ADA)).status);
      await world.settle();
    }
    expect(statuses).toEqual([...Array(10).fill(200), 429, 429]);
    expect(mailer.mails).toHaveLength(MEMBER_LIMITS.mailsPerHour);
  });

  test.each(["http://evil.example", "null"])("is refused to a page of %s, and so is its use", async (origin) => {
    await world.sdk.members.invite({ email: ADA, role: "owner" });
    const token = await readToken();
    for (const [path, body] of [
      ["/dashboard/sign-in-mail", { email: ADA }],
      ["/dashboard/mailed-link", { token }],
      ["/dashboard/sign-in", { token }],
    ] as const)
      expect((await browse(world, "POST", path, { body, origin })).status, path).toBe(403);
    expect((await use(token)).status).toBe(200);
  });
});

describe("a member", () => {
  test("with a lower role is signed out, and signs in again with that role", async () => {
    const cookie = await join(ADA, "marketer");
    await world.sdk.members.setRole(ADA, { role: "owner" });
    expect((await stateOf(cookie)).body.role).toBe("owner");
    await world.sdk.members.setRole(ADA, { role: "support" });
    const shown = await world.sdk.members.get(ADA);
    expect(shown).toMatchObject({ email: ADA, role: "support", sessions: 0 });
    expect(await world.sdk.members.get(shown.id)).toEqual(shown);
    await expect(world.sdk.members.get("nobody@acme.example")).rejects.toMatchObject({ code: "not_found" });
    const [change] = (await world.sdk.audit.list({ action: "members.setRole", limit: 1 })).data;
    expect(change?.changes).toEqual([{ field: "role", before: "owner", after: "support" }]);
    expect((await stateOf(cookie)).status).toBe(401);
    await request(ADA);
    const again = (await use(await readToken())).cookie ?? "";
    expect((await browse(world, "GET", "/api/v1/contacts", { cookie: again })).status).toBe(403);
  });

  test("is signed out everywhere by an owner, with the links that are on their way", async () => {
    const cookies = [await join(ADA, "viewer")];
    await request(ADA);
    cookies.push((await use(await readToken())).cookie ?? "");
    await request(ADA);
    const pending = await readToken();
    expect(await world.sdk.members.signOut(ADA)).toEqual({ ended: 2 });
    for (const cookie of cookies) expect((await stateOf(cookie)).status).toBe(401);
    expect((await use(pending)).status).toBe(401);
  });

  test("signs out everywhere and leaves others with the same role alone", async () => {
    const [ada, bob] = [await join(ADA, "viewer"), await join("bob@acme.example", "viewer")];
    await request(ADA);
    const other = (await use(await readToken())).cookie ?? "";
    await browse(world, "POST", "/dashboard/sign-out", { cookie: ada, body: { everywhere: true } });
    expect([(await stateOf(other)).status, (await stateOf(bob)).status]).toEqual([401, 200]);
  });

  test("who is removed is out at once, also by a link of before, and comes back by an invitation only", async () => {
    const cookie = await join(ADA, "marketer", "Ada");
    await request(ADA);
    const pending = await readToken();
    expect(await world.sdk.members.remove(ADA)).toMatchObject({ email: ADA });
    expect((await stateOf(cookie)).status).toBe(401);
    expect((await use(pending)).status).toBe(401);
    await expect(world.sdk.members.remove(ADA)).rejects.toMatchObject({ code: "not_found" });
    expect(await world.sdk.members.invite({ email: ADA, role: "viewer" })).toMatchObject({ role: "viewer", name: null, joinedAt: null });
  });

  test("who is removed and invited again signs in by the new link only", async () => {
    await world.sdk.members.invite({ email: ADA, role: "owner" });
    const invitation = await readToken();
    await request(ADA);
    const signInLink = await readToken();
    await world.sdk.members.remove(ADA);
    await world.sdk.members.invite({ email: ADA, role: "viewer" });
    const renewed = await readToken();
    for (const token of [invitation, signInLink]) {
      expect((await browse(world, "POST", "/dashboard/mailed-link", { body: { token } })).status).toBe(401);
      expect((await use(token)).status).toBe(401);
    }
    expect((await use(renewed)).body.role).toBe("viewer");
  });

  test("of another workspace is not found, and each workspace has its own mail", async () => {
    const other = await secondWorkspace(world);
    const { id } = await world.sdk.members.invite({ email: ADA, role: "viewer" });
    for (const ref of [id, ADA])
      for (const change of [
        () => other.sdk.members.remove(ref),
        () => other.sdk.members.signOut(ref),
        () => other.sdk.members.setRole(ref, { role: "owner" }),
      ])
        await expect(change()).rejects.toMatchObject({ code: "not_found" });
    await other.sdk.members.invite({ email: ADA, role: "owner" });
    await world.settle();
    const first = (await use(/#mail=(\S+)/.exec(mailer.mails[0]?.text ?? "")?.[1] ?? "")).cookie ?? "";
    expect((await stateOf(first)).body).toMatchObject({
      role: "viewer",
      workspaces: [{ id: world.workspaceId }, { id: other.workspaceId }],
    });
    const there = await browse(world, "POST", "/dashboard/workspace", { cookie: first, body: { workspaceId: other.workspaceId } });
    expect(there.body).toMatchObject({ role: "owner", workspace: { id: other.workspaceId } });
    expect((await stateOf(first)).status).toBe(401);
    const stranger = await join("bob@acme.example", "owner");
    const refused = await browse(world, "POST", "/dashboard/workspace", { cookie: stranger, body: { workspaceId: other.workspaceId } });
    expect(refused.status).toBe(404);
  });
});

describe("the last owner", () => {
  test("is kept by people, and not by an owner key", async () => {
    const [ada, bob] = [await join(ADA, "owner"), await join("bob@acme.example", "owner")];
    const change = (cookie: string, method: string, who: string, body?: object) =>
      browse(world, method, `/api/v1/members/${who}`, { cookie, ...(body && { body }) });
    expect((await change(ada, "DELETE", "bob@acme.example")).status).toBe(200);
    expect((await stateOf(bob)).status).toBe(401);
    for (const [method, body] of [["DELETE"], ["PATCH", { role: "viewer" }]] as const)
      expect((await change(ada, method, ADA, body)).body.error.code).toBe("invalid_state");
    await world.sdk.members.invite({ email: "carl@acme.example", role: "owner" });
    // Who never came may never come.
    expect((await change(ada, "DELETE", ADA)).status).toBe(409);
    expect(await world.sdk.members.remove(ADA)).toMatchObject({ email: ADA });
  });

  test("survives two owners who remove each other at the same moment", async () => {
    const [ada, bob] = [await join(ADA, "owner"), await join("bob@acme.example", "owner")];
    const answers = await Promise.all([
      browse(world, "DELETE", "/api/v1/members/bob@acme.example", { cookie: ada }),
      browse(world, "DELETE", `/api/v1/members/${ADA}`, { cookie: bob }),
    ]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await world.sdk.members.list({})).data).toHaveLength(1);
  });
});

test("a key or person invites, changes and removes nobody who can do more than themselves", async () => {
  await join(ADA, "owner");
  const key = await keyFor(world, "keys:write", "mail_states:read", "contacts:read");
  const answer = (method: string, path: string, body?: object) => ask(world, { method, path, key, ...(body && { body }) });
  expect((await answer("POST", "/api/v1/members", { email: "x@acme.example", role: "owner" })).status).toBe(403);
  expect((await answer("POST", "/api/v1/members", { email: "x@acme.example", role: "viewer" })).status).toBe(403);
  expect((await answer("POST", "/api/v1/members", { email: "x@acme.example", role: "support" })).status).toBe(201);
  expect((await answer("PATCH", "/api/v1/members/x@acme.example", { role: "marketer" })).status).toBe(403);
  for (const [method, path] of [
    ["DELETE", `/api/v1/members/${ADA}`],
    ["DELETE", `/api/v1/members/${ADA}/sessions`],
  ] as const)
    expect((await answer(method, path)).status, path).toBe(403);
  const marketer = await signIn(world, "marketer");
  expect((await browse(world, "GET", "/api/v1/members", { cookie: marketer })).status).toBe(403);
});

test("sessions by links and keys are named, and end by their person", async () => {
  const link = async (name?: string): Promise<string> => {
    const { url } = await world.sdk.dashboard.link({ role: "viewer", ...(name && { name }) });
    return (await use(url.split("#")[1] ?? "")).cookie ?? "";
  };
  const [grace, again, other, nameless] = [await link("Grace"), await link("Grace"), await link("Linus"), await link()];
  const sessions = (await world.sdk.dashboard.sessions({})).data;
  expect(sessions.map(({ name, way }) => [name, way])).toEqual([
    [null, "link"],
    ["Linus", "link"],
    ["Grace", "link"],
    ["Grace", "link"],
  ]);
  expect(await world.sdk.dashboard.signOutPerson(sessions[3]?.id ?? "")).toEqual({ ended: 2 });
  expect(await Promise.all([grace, again, other, nameless].map(async (cookie) => (await stateOf(cookie)).status))).toEqual([
    401, 401, 200, 200,
  ]);
});

test("neither tokens nor accounts are stored or exported readably", async () => {
  await world.sdk.members.invite({ email: ADA, role: "viewer" });
  const token = await readToken();
  const { dashboardLinks, jobs } = world.app.deps.db.read.t;
  const stored = [await world.app.deps.db.read.select().from(dashboardLinks), await world.app.deps.db.read.select().from(jobs)];
  expect(JSON.stringify(stored)).not.toContain(token);
});
