import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { acceptingMailer } from "../../test/accepting-mailer.ts";
import { type Answer, browse, signIn } from "../../test/browser-session.ts";
import { type Login, OidcProvider } from "../../test/oidc-provider.ts";
import { readConfig } from "../config.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const ADA: Login = { sub: "1", email: "ada@acme.example", email_verified: true, name: "Ada" };

let provider: OidcProvider;
let world: TestWorld;
beforeAll(async () => {
  provider = await OidcProvider.start();
});
afterAll(() => provider?.[Symbol.asyncDispose]());

const mailer = acceptingMailer();

function flagsOf(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  const { id, secret } = provider.client;
  return {
    "smtp-url": "smtp://127.0.0.1:2525",
    ...{ "oidc-issuer": provider.url, "oidc-client-id": id, "oidc-client-secret": secret },
    ...more,
  };
}

const open = (more: Readonly<Record<string, string>> = {}): Promise<TestWorld> => createWorld({ dev: false, mailer, flags: flagsOf(more) });

beforeEach(async () => {
  Object.assign(provider, { claims: (claims: object) => claims, hidesAddress: false, forges: false });
  mailer.mails.length = 0;
  world = await open();
  return () => world.dispose();
});

const begin = (back?: string, headers = {}): Promise<Answer> =>
  browse(world, "GET", `/dashboard/provider${back === undefined ? "" : `?back=${encodeURIComponent(back)}`}`, { headers });
const comeBack = (url: URL, cookie: string | null): Promise<Answer> =>
  browse(world, "GET", url.pathname + url.search, { ...(cookie !== null && { cookie }) });

/** Signs somebody in at the provider, and comes back with it. */
async function sso(login: Login, back?: string): Promise<Answer> {
  const { location, cookie } = await begin(back);
  return comeBack(provider.logIn(location ?? "", login), cookie);
}

const stateOf = (cookie: string | null): Promise<Answer> => browse(world, "GET", "/dashboard/session", { cookie: cookie ?? "" });

test("somebody who was invited signs in with the invited role, and comes back to the page that was asked for", async () => {
  await world.sdk.members.invite({ email: "ada@acme.example", role: "marketer" });
  const { status, location, cookie } = await sso(ADA, "/dashboard/campaigns?status=DRAFT");
  expect([status, location]).toEqual([302, "/dashboard/campaigns?status=DRAFT"]);
  expect((await stateOf(cookie)).body).toMatchObject({ role: "marketer", email: "ada@acme.example" });
  expect((await world.sdk.dashboard.sessions({})).data).toMatchObject([{ way: "provider", email: "ada@acme.example" }]);
});

test("the request has state, nonce and a challenge, and the browser a cookie that other sites cannot read or set off by a form", async () => {
  const response = await world.fetch(`${world.url}/dashboard/provider`, { redirect: "manual", headers: { host: "mail.acme.example" } });
  const asked = new URL(response.headers.get("location") ?? "").searchParams;
  expect(Object.fromEntries(asked)).toMatchObject({
    response_type: "code",
    scope: "openid email profile",
    redirect_uri: `${world.url}/dashboard/provider/callback`,
    state: expect.stringMatching(/^[\w-]{43}$/),
    nonce: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
  });
  const cookie = response.headers.get("set-cookie") ?? "";
  expect(cookie).toMatch(/; HttpOnly; SameSite=Lax/);
  expect(cookie).not.toContain(asked.get("state"));
});

describe("nobody is signed in", () => {
  const expectProblem = (answer: Answer, problem: string): void => {
    expect([answer.status, answer.location]).toEqual([302, `/dashboard#problem=${problem}`]);
    expect(answer.cookie ?? "").not.toMatch(/^mailsvc-session/);
  };
  beforeEach(() => world.sdk.members.invite({ email: "ada@acme.example", role: "owner" }).then(() => {}));

  test("who was not invited", async () => expectProblem(await sso({ ...ADA, email: "bob@acme.example" }), "not-invited"));

  test.each([
    { sub: "1", email: "ada@acme.example", email_verified: false },
    { sub: "1", email: "ada@acme.example" },
    { sub: "1" },
    { sub: "1", email: "not an address", email_verified: true },
  ])("whose address the provider does not vouch for: %j", async (login) => expectProblem(await sso(login), "not-verified"));

  test("with the answer to a sign-in that another browser began, or none", async () => {
    const [mine, theirs] = [await begin(), await begin()];
    expectProblem(await comeBack(provider.logIn(theirs.location ?? "", ADA), mine.cookie), "failed");
    expectProblem(await comeBack(provider.logIn(theirs.location ?? "", ADA), null), "too-late");
    expectProblem(
      await comeBack(
        provider.logIn(theirs.location ?? "", ADA),
        (theirs.cookie ?? "").replace(/.$/, (end) => (end === "A" ? "Q" : "A")),
      ),
      "too-late",
    );
  });

  test("with a code that was used", async () => {
    const { location, cookie } = await begin();
    const url = provider.logIn(location ?? "", ADA);
    expect((await comeBack(url, cookie)).cookie).toMatch(/^mailsvc-session/);
    expectProblem(await comeBack(url, cookie), "failed");
  });

  test.each([
    ["another nonce", { nonce: "x" }],
    ["another audience", { aud: "somebody-else" }],
    ["another issuer", { iss: "http://evil.example" }],
    ["a time that is over", { exp: 1 }],
  ])("with a token of %s", async (_, forged) => {
    provider.claims = (claims) => ({ ...claims, ...forged });
    expectProblem(await sso(ADA), "failed");
  });

  test("with a token that another key has signed", async () => {
    provider.forges = true;
    expectProblem(await sso(ADA), "failed");
  });

  test("when the provider says that the login was broken off", async () => {
    const { location, cookie } = await begin();
    const state = new URL(location ?? "").searchParams.get("state") ?? "";
    expectProblem(
      await browse(world, "GET", `/dashboard/provider/callback?error=access_denied&state=${state}`, { cookie: cookie ?? "" }),
      "failed",
    );
  });

  test("whose address has got another account at the provider", async () => {
    expect((await sso(ADA)).cookie).toMatch(/^mailsvc-session/);
    expectProblem(await sso({ ...ADA, sub: "2" }), "other-account");
    await world.sdk.members.remove("ada@acme.example");
    expectProblem(await sso(ADA), "not-invited");
    await world.sdk.members.invite({ email: "ada@acme.example", role: "viewer" });
    expect((await stateOf((await sso({ ...ADA, sub: "2" })).cookie)).body.role).toBe("viewer");
  });

  test("who has changed the address at the provider, until that one is invited", async () => {
    expect((await sso(ADA)).cookie).toMatch(/^mailsvc-session/);
    expectProblem(await sso({ ...ADA, email: "boss@acme.example" }), "not-invited");
  });
});

test.each(["https://evil.example/", "//evil.example", "/\\evil.example", "/dashboardx", "javascript:alert(1)", "/p/page"])(
  "nobody is led to %s",
  async (back) => {
    await world.sdk.members.invite({ email: "ada@acme.example", role: "viewer" });
    expect((await sso(ADA, back)).location).toBe("/dashboard");
  },
);

test("a page of another site signs nobody in", async () => {
  const { location, cookie } = await begin(undefined, { "sec-fetch-site": "cross-site" });
  expect([location, cookie]).toEqual(["/dashboard", null]);
});

test("the address is asked for where the token does not have it", async () => {
  provider.hidesAddress = true;
  await world.sdk.members.invite({ email: "ada@acme.example", role: "viewer" });
  expect((await stateOf((await sso(ADA)).cookie)).body.email).toBe("ada@acme.example");
});

describe("people of the provider's domains", () => {
  beforeEach(async () => {
    await world.dispose();
    world = await open({ "oidc-domains": "acme.example,bücher.example", "oidc-role": "viewer" });
    return () => world.dispose();
  });

  test("become members with the role of the flags, those of other domains do not", async () => {
    expect((await stateOf((await sso(ADA)).cookie)).body).toMatchObject({ role: "viewer", name: "Ada" });
    expect((await world.sdk.members.list({})).data).toMatchObject([{ email: "ada@acme.example", role: "viewer" }]);
    for (const email of ["eve@sub.acme.example", "eve@notacme.example", "eve@acme.example.evil.test"])
      expect((await sso({ sub: "9", email, email_verified: true })).location, email).toBe("/dashboard#problem=not-invited");
  });

  test("who are removed stay out, though their domain is allowed", async () => {
    const { cookie } = await sso(ADA);
    await world.sdk.members.remove("ada@acme.example");
    expect((await stateOf(cookie)).status).toBe(401);
    expect((await sso(ADA)).location).toBe("/dashboard#problem=not-invited");
  });

  test("get no link that goes round the provider", async () => {
    await world.sdk.members.invite({ email: "ada@acme.example", role: "owner" });
    await world.settle();
    await browse(world, "POST", "/dashboard/sign-in-mail", { body: { email: "ada@acme.example" } });
    await world.settle();
    expect(mailer.mails).toHaveLength(2);
    for (const { text } of mailer.mails) expect(text).not.toContain("#mail=");
  });
});

test("a session of before ends when the browser comes back as somebody else", async () => {
  await world.sdk.members.invite({ email: "ada@acme.example", role: "viewer" });
  const before = await signIn(world);
  const { location, cookie } = await begin();
  const after = await comeBack(provider.logIn(location ?? "", ADA), `${cookie}; ${before}`);
  expect((await stateOf(after.cookie)).body.role).toBe("viewer");
  expect((await stateOf(before)).status).toBe(401);
});

test("without a provider there is none", async () => {
  await using none = await createWorld({ dev: false });
  expect((await browse(none, "GET", "/dashboard/sign-in-options")).body.provider).toBeNull();
});

test.each([
  [{ "oidc-issuer": "https://id.acme.example" }, "--oidc-issuer and --oidc-client-id belong together"],
  [{ "oidc-role": "viewer" }, "--oidc-role needs --oidc-issuer"],
  [{ "oidc-issuer": "http://id.acme.example", "oidc-client-id": "x" }, "must begin with https://"],
  [{ "oidc-issuer": "id.acme.example", "oidc-client-id": "x" }, "must be an address"],
  [{ "oidc-issuer": "https://id.example?x=1", "oidc-client-id": "x" }, "no query"],
  [{ "oidc-issuer": "https://id.example", "oidc-client-id": "x", "oidc-domains": "acme.example" }, "--oidc-domains needs --oidc-role"],
  [{ "oidc-issuer": "https://id.example", "oidc-client-id": "x", "oidc-role": "viewer" }, "is about people of --oidc-domains"],
  [{ "oidc-issuer": "https://id.example", "oidc-client-id": "x", "oidc-domains": "a b", "oidc-role": "viewer" }, 'not "a b"'],
  [{ "oidc-issuer": "https://id.example", "oidc-client-id": "x", "oidc-domains": "a.example", "oidc-role": "boss" }, 'not "boss"'],
  [
    { "oidc-issuer": "https://id.example", "oidc-client-id": "x", "oidc-client-secret-file": "/nowhere/secret" },
    "--oidc-client-secret-file",
  ],
  [
    { "oidc-issuer": "https://id.example", "oidc-client-id": "x", "oidc-client-secret": "x", "oidc-client-secret-file": "/dev/null" },
    "not both",
  ],
])("flags that would mean something else are refused: %j", (flags, message) => {
  expect(() => readConfig({ flags, env: {}, dev: false })).toThrow(message);
});
