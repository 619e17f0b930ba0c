import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { checkReceiver } from "@mailsvc/agent-kit/conformance";
import { expect, onTestFinished, test } from "vitest";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const file = fileURLToPath(new URL("receiver.sh", import.meta.url));
/** Starts the script for each connection, as inetd does. */
async function serve(events: string): Promise<string> {
  const env = { ...process.env, AGENT_WEBHOOK_SECRET: SECRET, EVENTS: events };
  const server = createServer((socket) => {
    const receiver = spawn("sh", [file], { env, stdio: ["pipe", "pipe", "inherit"] });
    socket.on("error", () => {}).pipe(receiver.stdin.on("error", () => {}));
    receiver.stdout.pipe(socket);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

test("passes the cases of signatures and events, and stores an event once", async () => {
  const events = mkdtempSync(join(tmpdir(), "receiver-shell-"));
  onTestFinished(() => rmSync(events, { recursive: true, force: true }));
  const url = await serve(events);

  const refused = await checkReceiver({ url, secret: SECRET, only: "signature-" });
  expect(refused.results.filter((result) => !result.passed)).toEqual([]);
  // The only event stored is the one that shows that a valid request is accepted.
  expect(readdirSync(events)).toHaveLength(1);

  const accepted = await checkReceiver({ url, secret: SECRET, only: "event-" });
  expect(accepted.results.filter((result) => !result.passed)).toEqual([]);
  const stored = readdirSync(events).length;
  expect(stored).toBeGreaterThan(10);

  const repeated = await checkReceiver({ url, secret: SECRET, only: "order-parallel" });
  expect(repeated.failed).toBe(0);
  // Its own event, and that of the request before the cases.
  expect(readdirSync(events)).toHaveLength(stored + 2);
});
