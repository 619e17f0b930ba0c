import { chmodSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { folder, TERMINAL } from "./harness.ts";
import { startCliWithServer } from "./world.ts";

const HELLO = ["send", "--from", "a@acme.example", "--subject", "Hi", "--text", "x", "--to"];

/** Stands in for jq, which not every machine has: a path such as `.a.b` of each document, and the exit codes of jq. */
const STAND_IN = `#!${process.execPath}
const [compact, raw, given] = process.argv.slice(2);
if ([compact, raw].join() !== "--compact-output,--raw-output") process.exit(9);
const expression = given.trim();
if (!/^\\.[a-zA-Z.]*$/.test(expression)) { console.error("jq: error: syntax error, unexpected end of file"); process.exit(3); }
let input = "";
process.stdin.on("data", (part) => (input += part)).on("end", () => {
  if (input === "") return;
  let value = JSON.parse(input);
  for (const name of expression.slice(1).split(".").filter(Boolean)) {
    if (Array.isArray(value)) { console.error('jq: error (at <stdin>:0): Cannot index array with "' + name + '"'); process.exit(5); }
    value = value[name] ?? null;
  }
  console.log(typeof value === "string" ? value : JSON.stringify(value));
});
`;

/** The variables with which the stand-in is found. */
function withJq(): { PATH: string } {
  const bin = folder();
  writeFileSync(join(bin, "jq"), STAND_IN);
  chmodSync(join(bin, "jq"), 0o755);
  return { PATH: [bin, process.env["PATH"]].join(delimiter) };
}

test("every command takes --jq: of one document, of a list, of a stream of documents", async () => {
  const { mailsvc, world } = await startCliWithServer();
  const env = withJq();
  const sent = await mailsvc([...HELLO, "ada@example.com", "--jq", ".id"], { env });
  expect([sent.code, sent.stdout, sent.stderr]).toEqual([0, expect.stringMatching(/^em_\w+\n$/), ""]);
  await mailsvc([...HELLO, "grace@example.com"]);
  await world.settle();
  expect((await mailsvc(["--jq", ".to", "emails", "list", "--all"], { env })).stdout).toBe("grace@example.com\nada@example.com\n");
  expect((await mailsvc(["whoami", "--jq", ".server.dev"], { env, tty: TERMINAL })).stdout).toBe("true\n");
  expect((await mailsvc(["errors", "--jq", ".data"], { env })).json.length).toBeGreaterThan(10);
});

test("at a terminal a text of others cannot move the cursor", async () => {
  const { mailsvc, world } = await startCliWithServer();
  const { id } = await world.sdk.contacts.create({ email: "eve@example.com", customFields: { note: "\u001b[2Jgone" } });
  const shown = await mailsvc(["contacts", "get", id, "--jq", ".customFields.note"], { env: withJq(), tty: TERMINAL });
  expect(shown.stdout).toContain("gone");
  expect(shown.stdout).not.toContain("\u001b[2J");
});

test("a wrong expression, and a machine without jq, are found before anything is sent", async () => {
  const { mailsvc, world } = await startCliWithServer();
  const wrong = await mailsvc([...HELLO, "ada@example.com", "--jq", ".["], { env: withJq() });
  expect([wrong.code, wrong.stdout, wrong.stderr]).toEqual([2, "", expect.stringContaining("--jq: syntax error, unexpected end of file.")]);
  const missing = await mailsvc([...HELLO, "ada@example.com", "--jq", ".id"], { env: { PATH: folder() } });
  expect([missing.code, missing.stderr]).toEqual([127, expect.stringContaining("Install jq")]);
  expect((await world.sdk.emails.list()).pagination.total).toBe(0);
  const unfit = await mailsvc(["emails", "list", "--jq", ".data.id"], { env: withJq() });
  expect([unfit.code, unfit.stderr]).toEqual([2, expect.stringContaining('--jq: Cannot index array with "id".')]);
});
