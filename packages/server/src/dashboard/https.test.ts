import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readConfig } from "../config.ts";
import { silentLog } from "../lib/log.ts";
import { type RunningServer, serve } from "../serve.ts";

const data = mkdtempSync(join(tmpdir(), "mailsvc-https-"));
let server: RunningServer;
beforeAll(async () => {
  server = await serve(
    readConfig({ flags: { port: "0", data, "public-url": "https://mail.acme.example" }, env: {}, dev: false }),
    silentLog,
  );
});
afterAll(async () => {
  await server?.close();
  rmSync(data, { recursive: true, force: true });
});

/** Signs in as a page does that the browser has from `origin`. fetch sets no Host. */
function signIn(origin: string): Promise<{ status: number; cookie: string; text: string }> {
  const body = JSON.stringify({ apiKey: server.apiKey });
  return new Promise((resolve, reject) => {
    const sent = request(`${server.url}/dashboard/sign-in`, {
      method: "POST",
      headers: { host: new URL(origin).host, origin, "content-type": "application/json", "content-length": String(body.length) },
    });
    sent.on("error", reject);
    sent.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, cookie: response.headers["set-cookie"]?.[0] ?? "", text }));
    });
    sent.end(body);
  });
}

test("behind a proxy with TLS, the cookie is for https and the host alone", async () => {
  const { status, cookie } = await signIn("https://mail.acme.example");
  expect([status, cookie]).toEqual([200, expect.stringMatching(/^__Host-mailsvc-session=.*; Secure$/)]);
});

test("on the machine itself, the cookie is for http", async () => {
  const { status, cookie } = await signIn(server.url);
  expect([status, cookie]).toEqual([200, expect.not.stringContaining("Secure")]);
});

test.each(["http://mail.acme.example", "http://192.168.1.20:2526"])(
  "a page from %s is told where to sign in, for the browser would drop the cookie",
  async (origin) => {
    const { status, cookie, text } = await signIn(origin);
    expect([status, cookie]).toEqual([403, ""]);
    expect(text).toContain("Open https://mail.acme.example/dashboard");
  },
);
