import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { talkSmtp } from "../../test/smtp-client.ts";
import { readConfig } from "../config.ts";
import { silentLog } from "../lib/log.ts";
import { type RunningServer, serve } from "../serve.ts";

let folder: string;
let server: RunningServer;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "mailsvc-logins-"));
  const flags = { port: "0", data: folder, mcp: "write", "smtp-port": "0", "trust-sender": "acme.example", "trust-proxy": "127.0.0.1" };
  server = await serve(readConfig({ flags, env: {}, dev: false }), silentLog);
});
afterEach(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

type Outcome = "in" | "refused" | "limited";

/** Tries a login; without a secret, one that is wrong. `from` is the client that a reverse proxy saw. */
type Door = (secret?: string, from?: string) => Promise<Outcome>;

const OUTCOMES: Readonly<Record<number, Outcome>> = { 200: "in", 202: "in", 401: "refused", 429: "limited" };

async function ask(path: string, init: RequestInit, from: string | undefined): Promise<Outcome> {
  const headers = { ...init.headers, ...(from !== undefined && { "x-forwarded-for": from }) };
  const { status } = await fetch(`${server.url}${path}`, { ...init, headers });
  return OUTCOMES[status] ?? expect.fail(`${path} answered ${status}`);
}

const byKey =
  (path: string, wrong: string): Door =>
  (secret = wrong, from) =>
    ask(path, { headers: { authorization: `Bearer ${secret}` } }, from);

const bySignIn =
  (field: "apiKey" | "token"): Door =>
  (secret = "wrong", from) =>
    ask(
      "/dashboard/sign-in",
      { method: "POST", headers: { "content-type": "application/json", origin: server.url }, body: JSON.stringify({ [field]: secret }) },
      from,
    );

const cookieOf = (token: string): { cookie: string } => ({ cookie: `mailsvc-session-${new URL(server.url).port}=${token}` });

const HTTP_DOORS: Readonly<Record<string, Door>> = {
  "the API": byKey("/api/v1/me", "ms_live_wrong"),
  "Resend's API": byKey("/resend/domains", "re_wrong"),
  "/mcp": (secret = "ms_live_wrong", from) =>
    ask(
      "/mcp",
      {
        method: "POST",
        headers: {
          authorization: `Bearer ${secret}`,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
        },
        body: JSON.stringify({
          ...{ jsonrpc: "2.0", id: 1, method: "initialize" },
          params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
        }),
      },
      from,
    ),
  "the dashboard's sign-in": bySignIn("apiKey"),
};

// Doors that take other secrets than an API key.
const OTHER_DOORS: Readonly<Record<string, Door>> = {
  "the operator's API": byKey("/api/v1/workspaces", "ms_op_wrong"),
  "SendGrid's API": (secret = "SG.wrong", from) =>
    ask("/sendgrid/v3/mail/send", { method: "POST", headers: { authorization: `Bearer ${secret}` } }, from),
  "a sign-in link": bySignIn("token"),
  "a session's cookie": (secret = randomBytes(32).toString("base64url"), from) => ask("/api/v1/me", { headers: cookieOf(secret) }, from),
  "an ended session's way to become the operator": (secret = randomBytes(32).toString("base64url"), from) =>
    ask(
      "/dashboard/operator",
      {
        method: "POST",
        headers: { ...cookieOf(secret), "content-type": "application/json", origin: server.url },
        body: JSON.stringify({ operatorKey: "ms_op_wrong" }),
      },
      from,
    ),
};

const smtp: Door = async (secret = "ms_live_wrong") => {
  const login = `AUTH PLAIN ${Buffer.from(`\0app\0${secret}`).toString("base64")}`;
  const reply = (await talkSmtp(Number(new URL(server.smtpUrl ?? "").port), ["EHLO app", login])).at(-1) ?? "";
  return reply.startsWith("235 ") ? "in" : reply.startsWith("421 ") ? "limited" : "refused";
};

/** Fails at each entry point in turn until one limits; returns the number of failures. More are allowed over time: 5 a second. */
async function failUntilLimited(doors: readonly Door[], from?: string): Promise<{ failures: number; most: number }> {
  const since = performance.now();
  for (let failures = 0; ; failures += 1)
    if ((await doors[failures % doors.length]?.(undefined, from)) === "limited")
      return { failures, most: 300 + Math.ceil((5 * (performance.now() - since)) / 1000) };
}

test("failed logins of an address count together, whatever the door, and a valid key still opens each", async () => {
  const doors = { ...HTTP_DOORS, ...OTHER_DOORS, smtp };
  const { failures, most } = await failUntilLimited(Object.values(doors));
  // If one entry point did not count, there would be a tenth more; if one counted twice, fewer.
  expect(failures).toBeGreaterThanOrEqual(300);
  expect(failures).toBeLessThanOrEqual(most);
  for (const [name, door] of Object.entries(doors)) {
    // A slow machine has a failure left again.
    let outcome = await door();
    while (outcome === "refused") outcome = await door();
    expect([name, outcome]).toEqual([name, "limited"]);
  }
  for (const [name, door] of Object.entries({ ...HTTP_DOORS, smtp })) expect([name, await door(server.apiKey ?? "")]).toEqual([name, "in"]);
  expect(await byKey("/api/v1/workspaces", "")(server.operatorKey ?? "")).toBe("in");
});

test("behind a reverse proxy its client counts, and of IPv6 the /64 network", async () => {
  const doors = Object.values({ ...HTTP_DOORS, ...OTHER_DOORS });
  const { failures, most } = await failUntilLimited(doors, "203.0.113.9, 2001:db8:0:7::1");
  expect(failures).toBeLessThanOrEqual(most);
  for (const door of doors) {
    let outcome = await door(undefined, "2001:db8:0:7:ffff::2");
    while (outcome === "refused") outcome = await door(undefined, "2001:db8:0:7:ffff::2");
    expect(outcome).toBe("limited");
    expect(await door(undefined, "2001:db8:0:8::1")).toBe("refused");
    expect(await door(undefined, "203.0.113.9")).toBe("refused");
  }
  expect(await smtp()).toBe("refused");
});
