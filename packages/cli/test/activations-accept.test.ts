import { expect, test } from "vitest";
import { withAgent } from "../../server/test/agent-at-work.ts";
import { startCliWithServer } from "./world.ts";

const tty = { tty: { stdout: true, stderr: true }, env: { NO_COLOR: "1" }, columns: 160 };

test("what an agent asks for besides is shown with the command that accepts it, and accepted or decided against", async () => {
  const { world, mailsvc } = await startCliWithServer();
  await using made = await withAgent(world, ["brand:read"]);
  const id = made.agent.activationId;
  await world.builder.sdk.listings.update("writer", { permissions: ["brand:read", "agent:wakeups"] });
  const shown = (await mailsvc(["activations", "get", id], tty)).stdout;
  expect(shown).toMatch(/asks for more +agent:wakeups \(Schedule wakeups\)/);
  expect(shown).toContain(`mailsvc activations accept ${id} --version 2`);
  const late = await mailsvc(["activations", "accept", id, "--version", "1"], tty);
  expect([late.code, late.stderr]).toEqual([7, expect.stringContaining("its version is 2, not 1")]);
  expect((await mailsvc(["activations", "keep", id, "--version", "2"], tty)).stdout).toMatch(/decided against +2026/);
  expect((await mailsvc(["activations", "accept", id, "--version", "2"])).json).toMatchObject({ scopes: ["brand:read", "agent:wakeups"] });
});
