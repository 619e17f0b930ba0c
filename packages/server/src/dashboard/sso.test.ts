import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readConfig } from "../config.ts";
import { silentLog } from "../lib/log.ts";
import { serve } from "../serve.ts";

const HEADER = "x-forwarded-user";

/** A server behind a proxy that names people; requests of the test come from 127.0.0.1. */
async function startBehind(flags: Readonly<Record<string, string>>) {
  const data = flags.data ?? mkdtempSync(join(tmpdir(), "mailsvc-sso-"));
  const server = await serve(readConfig({ flags: { port: "0", data, ...flags }, env: {}, dev: false }), silentLog);
  /** Asks as a browser behind the proxy does, by the name that the proxy gives. */
  const ask = async (path: string, { user, cookie, body: sent }: { user?: string; cookie?: string | null; body?: object } = {}) => {
    const response = await fetch(`${server.url}${path}`, {
      headers: {
        ...(user !== undefined && { [HEADER]: user }),
        ...(cookie && { cookie }),
        ...(sent && { "content-type": "application/json", origin: server.url }),
      },
      ...(sent && { method: "POST", body: JSON.stringify(sent) }),
    });
    const body = (await response.json()) as { role?: string; name?: string; error?: { code: string } };
    return { status: response.status, body, cookie: response.headers.get("set-cookie")?.split(";")[0] ?? null };
  };
  return {
    ask,
    port: new URL(server.url).port,
    [Symbol.asyncDispose]: async () => {
      await server.close();
      if (flags.data === undefined) rmSync(data, { recursive: true, force: true });
    },
  };
}

test("a trusted proxy signs people in by their names, with the roles that the server gives them", async () => {
  await using server = await startBehind({ "sso-header": HEADER, "sso-proxies": "127.0.0.1", "sso-owners": "ada@acme.example" });
  const ada = await server.ask("/dashboard/session", { user: "Ada@acme.example" });
  expect([ada.status, ada.body.role, ada.body.name]).toEqual([200, "owner", "Ada@acme.example"]);
  const bob = await server.ask("/dashboard/session", { user: "bob@acme.example" });
  expect([bob.status, bob.body.role]).toEqual([200, "viewer"]);
  expect((await server.ask("/dashboard/session")).status).toBe(401);
});

test("people whom a proxy names can write, by a header of any case", async () => {
  await using server = await startBehind({
    "sso-header": "X-Forwarded-User",
    "sso-proxies": "127.0.0.1",
    "sso-owners": "ada@acme.example",
  });
  const { cookie } = await server.ask("/dashboard/session", { user: "ada@acme.example" });
  const body = { email: "grace@example.com" };
  expect((await server.ask("/api/v1/contacts", { user: "ada@acme.example", cookie, body })).status).toBe(201);
});

test("an owner whom the flags do not name any more has the other role at once", async () => {
  const data = mkdtempSync(join(tmpdir(), "mailsvc-sso-"));
  const [flags, user] = [{ data, "sso-header": HEADER, "sso-proxies": "127.0.0.1" }, "bob@acme.example"];
  let cookie: string | null;
  let port: string;
  {
    await using before = await startBehind({ ...flags, "sso-owners": user });
    ({ cookie } = await before.ask("/dashboard/session", { user }));
    expect((await before.ask("/api/v1/contacts", { user, cookie, body: { email: "grace@example.com" } })).status).toBe(201);
    port = before.port;
  }
  // On the same port: the cookie is for it.
  await using after = await startBehind({ ...flags, port, "sso-owners": "ada@acme.example" });
  expect((await after.ask("/dashboard/session", { user, cookie })).body.role).toBe("viewer");
  expect((await after.ask("/api/v1/contacts", { user, cookie, body: { email: "ada@example.com" } })).status).toBe(403);
  rmSync(data, { recursive: true, force: true });
});

test("a session of single sign-on is of no use to another person, or to nobody", async () => {
  await using server = await startBehind({ "sso-header": HEADER, "sso-proxies": "127.0.0.0/8", "sso-owners": "ada@acme.example" });
  const { cookie } = await server.ask("/dashboard/session", { user: "ada@acme.example" });
  expect((await server.ask("/api/v1/me", { user: "ada@acme.example", cookie })).status).toBe(200);
  for (const user of ["bob@acme.example", ""]) expect((await server.ask("/api/v1/me", { user, cookie })).status, user).toBe(401);
  expect((await server.ask("/api/v1/me", { cookie })).status).toBe(401);
  const bob = await server.ask("/dashboard/session", { user: "bob@acme.example", cookie });
  expect([bob.body.role, bob.body.name]).toEqual(["viewer", "bob@acme.example"]);
});

test.each([
  ["from an address that is not listed", { "sso-header": HEADER, "sso-proxies": "10.0.0.0/8", "sso-owners": "ada@acme.example" }],
  ["where single sign-on is off", {}],
])("the header means nothing %s", async (_, flags) => {
  await using server = await startBehind(flags);
  const { status, cookie } = await server.ask("/dashboard/session", { user: "ada@acme.example" });
  expect([status, cookie]).toEqual([401, null]);
});

const PROXY = { "sso-header": HEADER, "sso-proxies": "127.0.0.1" };

test.each([
  [{ "sso-owners": "ada@acme.example" }, "--sso-owners needs --sso-header and --sso-proxies"],
  [{ "sso-role": "owner" }, "--sso-role needs --sso-header and --sso-proxies"],
  [{ ...PROXY, "sso-header": "Authorization" }, "--sso-header cannot be Authorization"],
  [{ ...PROXY, "sso-proxies": "0.0.0.0/0" }, 'cannot be "0.0.0.0/0"'],
  [{ ...PROXY, "sso-proxies": "10.0.0.2,::/0" }, 'cannot be "::/0"'],
  // Octal, and so the address 8.0.0.2, for some programs.
  [{ ...PROXY, "sso-proxies": "010.0.0.2" }, '"010.0.0.2" is none'],
  [{ ...PROXY, "sso-proxies": "10" }, '"10" is none'],
  [{ ...PROXY, "sso-proxies": "," }, "--sso-proxies takes IP addresses and networks"],
])("flags that would mean something else are refused: %j", (flags, message) => {
  expect(() => readConfig({ flags, env: {}, dev: false })).toThrow(message);
});
