import { expect, test } from "vitest";
import { AccessTokens, type PostForm, type StoredTokens, TokenError, type TokenRequest } from "./access-tokens.ts";

const request: TokenRequest = {
  tokenUrl: "https://login.example.com/token",
  clientId: "app",
  clientSecret: "s3cret",
  refreshToken: null,
  scope: "mail",
};
const hour = 3_600_000;
const turn = () => new Promise<void>((done) => setImmediate(done));

/** A token server that gives `t1`, `t2`, …; it answers when the test lets it. */
const setUp = (changes: Partial<TokenRequest> = {}, answer?: (n: number) => { status: number; text: string }) => {
  let now = 0;
  const forms: Record<string, string>[] = [];
  const written: string[] = [];
  const store = { broken: false, isLeased: false, shares: false, access: null as StoredTokens["access"] };
  const postForm: PostForm = async (_url, form) => {
    forms.push(Object.fromEntries(form));
    return answer?.(forms.length) ?? { status: 200, text: JSON.stringify({ access_token: `t${forms.length}`, expires_in: 3600 }) };
  };
  const start = () =>
    new AccessTokens({
      request: { ...request, ...changes },
      postForm,
      real: { now: () => now, sleep: turn },
      store: {
        begin: async () => {
          if (store.isLeased) return null;
          store.isLeased = true;
          return { refreshToken: written.at(-1) ?? null, access: store.access && { ...store.access, renewIn: 1, endsIn: hour } };
        },
        end: async (given) => {
          if (given !== null && store.broken) throw new Error("The disk is full.");
          store.isLeased = false;
          if (given === null) return;
          written.push(given.refreshToken ?? "");
          if (store.shares) store.access = given.access;
        },
      },
    });
  return { tokens: start(), start, forms, written, store, pass: (ms: number) => (now += ms) };
};

test("client credentials are the grant without a refresh token, and the token is kept", async () => {
  const { tokens, forms } = setUp();
  expect([await tokens.get(), await tokens.get()]).toEqual(["t1", "t1"]);
  expect(forms).toEqual([{ grant_type: "client_credentials", client_id: "app", client_secret: "s3cret", scope: "mail" }]);
});

test("all who ask for a token at the same time get the same one", async () => {
  const { tokens, forms } = setUp();
  expect(new Set(await Promise.all(Array.from({ length: 20 }, () => tokens.get())))).toEqual(new Set(["t1"]));
  expect(forms).toHaveLength(1);
});

test("a token is renewed before it ends, and nobody waits for that", async () => {
  const { tokens, forms, pass } = setUp();
  await tokens.get();
  pass(hour - 4 * 60_000);
  expect(await tokens.get()).toBe("t1");
  await turn();
  expect(await tokens.get()).toBe("t2");
  expect(forms).toHaveLength(2);
});

test("a token that has ended is not given out", async () => {
  const { tokens, pass } = setUp();
  await tokens.get();
  pass(hour);
  expect(await tokens.get()).toBe("t2");
});

test("a token that the mail server refused is renewed once for all who had it", async () => {
  const { tokens, forms } = setUp();
  const first = await tokens.get();
  expect(await Promise.all([tokens.get(first), tokens.get(first)])).toEqual(["t2", "t2"]);
  expect(await tokens.get(first)).toBe("t2");
  expect(forms).toHaveLength(2);
});

/** A token server that replaces the refresh token each time. */
const rotating = (n: number) => ({
  status: 200,
  text: JSON.stringify({ access_token: `t${n}`, expires_in: 3600, refresh_token: `r${n}` }),
});

test("a refresh token that replaces the one before is used from then on, and stored", async () => {
  const { tokens, forms, written, pass } = setUp({ refreshToken: "r0" }, rotating);
  await tokens.get();
  pass(hour);
  await tokens.get();
  expect(forms.map((form) => [form.grant_type, form.refresh_token])).toEqual([
    ["refresh_token", "r0"],
    ["refresh_token", "r1"],
  ]);
  expect(written).toEqual(["r1", "r2"]);
});

test("another process uses the refresh token that this one got", async () => {
  const { tokens, start, forms, pass } = setUp({ refreshToken: "r0" }, rotating);
  const other = start();
  await tokens.get();
  await other.get();
  pass(hour);
  await tokens.get();
  expect(forms.map((form) => form.refresh_token)).toEqual(["r0", "r1", "r2"]);
});

test("processes that need a token at once ask for one, and share it", async () => {
  const { tokens, start, forms, store } = setUp({ refreshToken: "r0" }, rotating);
  store.shares = true;
  const others = Array.from({ length: 5 }, start);
  expect(new Set(await Promise.all([tokens, ...others].map((one) => one.get())))).toEqual(new Set(["t1"]));
  expect(await tokens.get("t1")).toBe("t2");
  expect(await others[0]?.get("t1")).toBe("t2");
  expect(forms.map((form) => form.refresh_token)).toEqual(["r0", "r1"]);
});

test("who waits too long for another process says so", async () => {
  const { tokens, store, pass } = setUp({ refreshToken: "r0" }, rotating);
  store.isLeased = true;
  const waiting = tokens.get();
  pass(60_000);
  await expect(waiting).rejects.toThrow("Another process has been waiting for the token server login.example.com too long.");
});

test("a refresh token that could not be stored is used, and stored, with the next one", async () => {
  const { tokens, forms, written, store, pass } = setUp({ refreshToken: "r0" }, rotating);
  store.broken = true;
  await expect(tokens.get()).rejects.toThrow("The disk is full.");
  expect(await tokens.get()).toBe("t1");
  store.broken = false;
  pass(hour);
  expect(await tokens.get()).toBe("t2");
  expect(forms.map((form) => form.refresh_token)).toEqual(["r0", "r1"]);
  expect(written).toEqual(["r1", "r2"]);
});

test.each([
  [
    "what the token server says",
    { status: 401, text: '{"error":"invalid_client","error_description":"AADSTS7000215: s3cret is wrong"}' },
    "invalid_client: AADSTS7000215: … is wrong",
  ],
  ["its status when it says nothing readable", { status: 502, text: "<html>s3cret" }, "HTTP 502"],
  ["an answer without a token", { status: 200, text: "{}" }, "HTTP 200"],
])("a failure tells %s, and no secret", async (_, answer, said) => {
  const { tokens } = setUp({}, () => answer);
  const error = await tokens.get().catch((e: unknown) => e);
  expect(error).toBeInstanceOf(TokenError);
  expect((error as Error).message).toBe(`The token server login.example.com gave no access token: ${said}`);
});

test("after a failure each who asks gets the answer to a request of their own, one a second", async () => {
  let now = 0;
  const asked: number[] = [];
  const faults = ["invalid_client", "invalid_scope"];
  const tokens = new AccessTokens({
    request,
    postForm: async () => {
      const fault = faults[asked.push(now) - 1];
      return fault ? { status: 401, text: JSON.stringify({ error: fault }) } : { status: 200, text: '{"access_token":"t"}' };
    },
    real: { now: () => now, sleep: async (ms) => void (now += ms) },
  });
  await expect(tokens.get()).rejects.toThrow("invalid_client");
  now += 300;
  for (const outcome of await Promise.allSettled(Array.from({ length: 20 }, () => tokens.get())))
    expect(outcome).toMatchObject({ status: "rejected", reason: { message: expect.stringContaining("invalid_scope") } });
  expect(await tokens.get()).toBe("t");
  expect(asked).toEqual([0, 1000, 2000]);
});

test("a token server that cannot be reached is named", async () => {
  const tokens = new AccessTokens({
    request,
    postForm: () => Promise.reject(Object.assign(new TypeError("fetch failed"), { cause: { code: "ECONNREFUSED" } })),
    real: { now: () => 0, sleep: turn },
  });
  await expect(tokens.get()).rejects.toThrow("The token server login.example.com cannot be reached (ECONNREFUSED).");
});
