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
  const data = mkdtempSync(join(tmpdir(), "mailsvc-sso-"));
  const server = await serve(readConfig({ flags: { port: "0", data, ...flags }, env: {}, dev: false }), silentLog);
  /** Asks as a browser behind the proxy does, by the name that the proxy gives. */
  const ask = async (path: string, { user, cookie }: { user?: string; cookie?: string | null } = {}) => {
    const response = await fetch(`${server.url}${path}`, {
      headers: { ...(user !== undefined && { [HEADER]: user }), ...(cookie && { cookie }) },
    });
    const body = (await response.json()) as { role?: string; user?: string; error?: { code: string } };
    return { status: response.status, body, cookie: response.headers.get("set-cookie")?.split(";")[0] ?? null };
  };
  return {
    ask,
    [Symbol.asyncDispose]: async () => {
      await server.close();
      rmSync(data, { recursive: true, force: true });
    },
  };
}

test("a trusted proxy signs people in by their names, with the roles that the server gives them", async () => {
  await using server = await startBehind({ "sso-header": HEADER, "sso-proxies": "127.0.0.1", "sso-owners": "ada@acme.example" });
  const ada = await server.ask("/dashboard/session", { user: "Ada@acme.example" });
  expect([ada.status, ada.body.role, ada.body.user]).toEqual([200, "owner", "Ada@acme.example"]);
  const bob = await server.ask("/dashboard/session", { user: "bob@acme.example" });
  expect([bob.status, bob.body.role]).toEqual([200, "viewer"]);
  expect((await server.ask("/dashboard/session")).status).toBe(401);
});

test("a session of single sign-on is of no use to another person, or to nobody", async () => {
  await using server = await startBehind({ "sso-header": HEADER, "sso-proxies": "127.0.0.0/8", "sso-owners": "ada@acme.example" });
  const { cookie } = await server.ask("/dashboard/session", { user: "ada@acme.example" });
  expect((await server.ask("/api/v1/me", { user: "ada@acme.example", cookie })).status).toBe(200);
  for (const user of ["bob@acme.example", ""]) expect((await server.ask("/api/v1/me", { user, cookie })).status, user).toBe(401);
  expect((await server.ask("/api/v1/me", { cookie })).status).toBe(401);
  const bob = await server.ask("/dashboard/session", { user: "bob@acme.example", cookie });
  expect([bob.body.role, bob.body.user]).toEqual(["viewer", "bob@acme.example"]);
});

test.each([
  ["from an address that is not listed", { "sso-header": HEADER, "sso-proxies": "10.0.0.0/8", "sso-owners": "ada@acme.example" }],
  ["where single sign-on is off", {}],
])("the header means nothing %s", async (_, flags) => {
  await using server = await startBehind(flags);
  const { status, cookie } = await server.ask("/dashboard/session", { user: "ada@acme.example" });
  expect([status, cookie]).toEqual([401, null]);
});
