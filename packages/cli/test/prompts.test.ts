import { describe, expect, test } from "vitest";
import { cli, TERMINAL } from "./harness.ts";
import { startCliWithServer } from "./world.ts";

const PLAIN = { NO_COLOR: "1" };

describe("missing input", () => {
  test("without a terminal all missing flags are listed and nothing is asked", async () => {
    const { mailsvc } = await startCliWithServer();
    const failed = await mailsvc(["send"]);
    expect(failed.code).toBe(2);
    expect(failed.stderr).toContain("--to, --from, --subject, --text are required.");
  });

  test("with --json nothing is asked either, and the list is data", async () => {
    const { mailsvc } = await startCliWithServer();
    const failed = await mailsvc(["keys", "create", "--json"], { tty: TERMINAL });
    expect(JSON.parse(failed.stderr).error.details.map((d: { flag: string }) => d.flag)).toEqual(["--name", "--permission"]);
  });

  test("at a terminal it is asked for, and again when the answer will not do", async () => {
    const { mailsvc } = await startCliWithServer();
    const sent = await mailsvc(["send", "--subject", "S", "--text", "t"], {
      tty: TERMINAL,
      env: PLAIN,
      answers: ["nonsense", "ada@example.com", "hello@acme.example"],
    });
    expect(sent.stderr).toContain('"nonsense" has no @.');
    expect(sent.stdout).toMatch(/^queued em_/);
    expect(sent.code).toBe(0);
  });

  test("in CI a terminal is not taken for a person", async () => {
    const failed = await cli(["send"], { tty: TERMINAL, env: { ...PLAIN, CI: "true", MAILSVC_API_KEY: "ms_live_0123456789abcdef" } });
    expect(failed.code).toBe(2);
  });
});

describe("what cannot be undone", () => {
  test("needs --yes without a terminal", async () => {
    const { mailsvc } = await startCliWithServer();
    const { id } = (await mailsvc(["contacts", "create", "--email", "a@x.example"])).json;
    const refused = await mailsvc(["contacts", "delete", id]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("Add --yes");
    expect((await mailsvc(["contacts", "list"])).json.data).toHaveLength(1);
    expect((await mailsvc(["contacts", "delete", id, "--yes"])).code).toBe(0);
    expect((await mailsvc(["contacts", "list"])).json.data).toHaveLength(0);
  });

  test("is asked at a terminal; anything but yes is a no, exit 130", async () => {
    const { mailsvc } = await startCliWithServer();
    const { id } = (await mailsvc(["contacts", "create", "--email", "a@x.example"])).json;
    const argv = ["contacts", "delete", id];
    expect((await mailsvc(argv, { tty: TERMINAL, env: PLAIN, answers: ["n"] })).code).toBe(130);
    expect((await mailsvc(["contacts", "list"])).json.data).toHaveLength(1);
    expect((await mailsvc(argv, { tty: TERMINAL, env: PLAIN, answers: ["y"] })).code).toBe(0);
  });

  test("a script erases a world only with --yes", async () => {
    const { mailsvc } = await startCliWithServer();
    const refused = await mailsvc(["world", "reset"]);
    expect([refused.code, refused.stdout]).toEqual([2, ""]);
    expect(refused.stderr).toContain("--yes");
    expect((await mailsvc(["world", "reset", "--yes"])).json).toEqual({ reset: true });
  });
});
