import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { checkAgent } from "@mailsvc/agent-kit/conformance";
import { expect, onTestFinished, test } from "vitest";
import { freePort } from "../../test/support/free-port.ts";

const file = fileURLToPath(new URL("receiver.py", import.meta.url));

/** Starts the agent and waits until it listens. */
async function start(env: Readonly<Record<string, string>>): Promise<ChildProcess> {
  const agent = spawn("python3", [file], { env: { ...process.env, ...env }, stdio: ["ignore", "ignore", "pipe"] });
  onTestFinished(() => void agent.kill("SIGKILL"));
  await new Promise<void>((listening, failed) => {
    let said = "";
    agent.stderr.on("data", (data) => {
      said += data;
      if (said.includes("The webhook is at")) listening();
    });
    agent.once("error", failed);
    agent.once("exit", () => failed(new Error(said)));
  });
  return agent;
}

test("passes every case, of requests and of state", async () => {
  const folder = mkdtempSync(join(tmpdir(), "receiver-python-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const port = String(await freePort());
  const report = await checkAgent({
    url: `http://127.0.0.1:${port}/`,
    quietMs: 500,
    start: async (variables) => {
      const agent = await start({ ...variables, PORT: port, AGENT_DATA: join(folder, "agent.db") });
      return {
        kill: async () => {
          agent.kill("SIGKILL");
          await once(agent, "exit");
        },
      };
    },
  });
  expect(report.results.filter(({ failure }) => failure)).toEqual([]);
  // It works on no runs: there is nothing to stop.
  expect(report.results.filter(({ skipped }) => skipped).map(({ id }) => id)).toEqual([
    "state-paused",
    "state-deactivated",
    "state-heartbeat",
    "state-paused-restart",
    "state-deactivated-restart",
    "state-run-failed",
    "state-run-failed-restart",
  ]);
  expect(report.passed).toBeGreaterThan(90);
});
