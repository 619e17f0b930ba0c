import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { startServer } from "./dev-server.ts";

const script = fileURLToPath(new URL("../examples/quickstart/quickstart.ts", import.meta.url));
const run = (env: Record<string, string>) =>
  promisify(execFile)(process.execPath, [script], { env: { PATH: process.env["PATH"], ...env } });

test("the quickstart sends an email and shows its events", async () => {
  await using server = await startServer();
  const { stdout } = await run({ MAILSVC_URL: server.url, MAILSVC_API_KEY: server.apiKey });
  expect(stdout).toMatch(/^accepted {3}em_\w{26}\ndelivered {2}mail_\w{26} "Welcome to Acme" to ada\+\d+@example\.com\n/);
  expect([...stdout.matchAll(/email\.\w+/g)].map(String)).toEqual(["email.queued", "email.sent", "email.delivered"]);
});

test("the quickstart says what is wrong when there is no server", async () => {
  const { stderr, code } = await run({ MAILSVC_URL: "http://127.0.0.1:9", MAILSVC_API_KEY: "ms_live_x" }).catch((error) => error);
  expect(code).toBe(1);
  expect(stderr).toMatch(/127\.0\.0\.1:9|connect/i);
});
