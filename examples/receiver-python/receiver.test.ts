import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { checkReceiver } from "@mailsvc/agent-kit/conformance";
import { expect, onTestFinished, test } from "vitest";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const file = fileURLToPath(new URL("receiver.py", import.meta.url));

test("passes every case", async () => {
  const env = { ...process.env, AGENT_WEBHOOK_SECRET: SECRET, PORT: "0" };
  const receiver = spawn("python3", [file], { env, stdio: ["ignore", "ignore", "pipe"] });
  onTestFinished(() => void receiver.kill());
  const url = await new Promise<string>((found, failed) => {
    let said = "";
    receiver.stderr.on("data", (data) => {
      said += data;
      const [address] = /http:\S+/.exec(said) ?? [];
      if (address) found(address);
    });
    receiver.once("error", failed);
    receiver.once("exit", () => failed(new Error(said)));
  });
  const { results, passed } = await checkReceiver({ url, secret: SECRET });
  expect(results.filter((result) => !result.passed)).toEqual([]);
  expect(passed).toBeGreaterThan(80);
});
