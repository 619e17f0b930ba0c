import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { TERMINAL } from "./harness.ts";
import { startCliWithServer } from "./world.ts";

const server = fileURLToPath(new URL("../../server/src/", import.meta.url));

test("every command that an explanation names exists, with its flags", async () => {
  const { mailsvc } = await startCliWithServer();
  const files = globSync("{**/explain.ts,explain/*.ts,lib/explanation.ts}", { cwd: server }).filter((file) => !file.endsWith(".test.ts"));
  const commands = new Set(
    files.flatMap((file) =>
      [...readFileSync(`${server}${file}`, "utf8").matchAll(/[`"]mailsvc ([^`"]+)[`"]/g)].map(([, line = ""]) => line),
    ),
  );
  expect(commands.size).toBeGreaterThan(20);
  for (const line of commands) {
    const words = line.split(" ").filter((word) => /^[a-z-]+$/.test(word) && !word.startsWith("-"));
    const help = await mailsvc([...words.slice(0, 2), "--help"], { tty: TERMINAL });
    expect(help.code, line).toBe(0);
    expect(help.stdout, line).toContain(`mailsvc ${words.slice(0, 2).join(" ")}`);
    for (const [flag] of line.matchAll(/--[a-z-]+/g)) expect(help.stdout, line).toContain(flag);
  }
});

test("in a pipe an explanation is JSON, and an agent asks about itself with its own key", async () => {
  const { mailsvc } = await startCliWithServer();
  const sent = await mailsvc(["send", "--from", "a@acme.example", "--to", "ada@example.com", "--subject", "Hi", "--text", "x"]);
  expect((await mailsvc(["why", sent.json.id])).json).toMatchObject({ id: sent.json.id, kind: "email", timeline: [{ what: "Accepted" }] });
  const missing = await mailsvc(["why", "em_nothing"]);
  expect([missing.code, missing.stderr]).toEqual([6, expect.stringContaining("There is no email")]);
  expect((await mailsvc(["agent", "why", "--help"])).stdout).toContain("activation or one of its runs");
});
