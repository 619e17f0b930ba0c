import { spawnSync } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { converse } from "../src/runtime/converse.ts";
import { pipe } from "../src/runtime/exec.ts";
import { createJqFilter } from "../src/runtime/jq.ts";
import { folder, TERMINAL } from "./harness.ts";
import { startCliWithServer } from "./world.ts";

const HELLO = ["send", "--from", "a@acme.example", "--subject", "Hi", "--text", "x", "--to"];
const BOUNCES = "bounced@simulator.mailsvc.test";

/**
 * A replacement for jq, which is not installed everywhere. It evaluates paths such as `.a.b`, also inside the program that frames results,
 * exits with jq's codes, and records each start. Settings make it end lines as on Windows, or exit after one document.
 */
const STAND_IN = `#!${process.execPath}
const { appendFileSync } = require("node:fs");
const { createInterface } = require("node:readline");
const flags = process.argv.slice(2, -1).join();
const program = process.argv.at(-1);
const framed = /^\\(try \\(\\((.*)\\n\\) \\| \\{r: \\.\\}\\) catch \\{e: \\.\\}\\), \\{end: true\\}$/s.exec(program);
if (flags !== (framed ? "--unbuffered,--compact-output" : "--compact-output,--raw-output")) process.exit(9);
const written = (framed ? framed[1] : program).trim();
const expression = framed ? written : written.replace(/^#.*$/, "") || ".";
if (process.env.JQ_STARTS) appendFileSync(process.env.JQ_STARTS, "started\\n");
if (!/^\\.[a-zA-Z.]*$/.test(expression)) { console.error("jq: error: syntax error, unexpected end of file"); process.exit(3); }
const print = (value) => process.stdout.write(JSON.stringify(value) + (process.env.JQ_CRLF ? "\\r\\n" : "\\n"));
const apply = (value) => {
  for (const name of expression.slice(1).split(".").filter(Boolean)) {
    const kind = Array.isArray(value) ? "array" : typeof value;
    if (kind !== "object") throw new Error("Cannot index " + kind + ' with "' + name + '"');
    value = value?.[name] ?? null;
  }
  return value;
};
createInterface({ input: process.stdin }).on("line", (line) => {
  try {
    const result = apply(JSON.parse(line));
    print(framed ? { r: result } : result);
  } catch ({ message }) {
    print({ e: message });
  }
  if (framed) print({ end: true });
  if (process.env.JQ_ENDS) process.exit();
});
`;

/** The variables with which the stand-in is found. */
function withJq(): { PATH: string; JQ_STARTS: string } {
  const bin = folder();
  writeFileSync(join(bin, "jq"), STAND_IN);
  chmodSync(join(bin, "jq"), 0o755);
  return { PATH: [bin, process.env["PATH"]].join(delimiter), JQ_STARTS: join(bin, "starts") };
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

test.each(["", " ", "# everything"])("an expression with nothing in it is the whole document: %o", async (expression) => {
  const { mailsvc } = await startCliWithServer();
  const shown = await mailsvc(["whoami", "--jq", expression], { env: withJq() });
  expect([shown.code, shown.stderr, shown.json]).toEqual([0, "", expect.objectContaining({ workspace: expect.anything() })]);
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
});

test("a document that the expression does not fit is printed whole, because the server has done the work already", async () => {
  const { mailsvc, world } = await startCliWithServer();
  const unfit = await mailsvc([...HELLO, "ada@example.com", "--to", "bob@example.com", "--jq", ".ids.first"], { env: withJq() });
  expect([unfit.code, unfit.stderr]).toEqual([
    13,
    expect.stringContaining('--jq does not fit the document, which is printed whole: Cannot index array with "first".'),
  ]);
  expect(unfit.json.ids).toHaveLength(2);
  expect((await world.sdk.emails.list()).pagination.total).toBe(2);
});

test("a stream goes on after documents that the expression does not fit", async () => {
  const { mailsvc, world } = await startCliWithServer();
  const { contacts } = world.sdk;
  for (const name of ["one", "two"]) {
    await contacts.create({ email: `${name}@example.com` });
    await contacts.create({ email: `${name}-noted@example.com`, customFields: { note: "A text" } });
  }
  const listed = await mailsvc(["contacts", "list", "--all", "--jq", ".customFields.note.x"], { env: withJq() });
  expect([listed.code, listed.lines]).toMatchObject([
    13,
    [{ email: "two-noted@example.com" }, null, { email: "one-noted@example.com" }, null],
  ]);
  expect(listed.stderr.match(/Cannot index string with "x"/g)).toHaveLength(1);
});

test("that an email was not delivered is told, whether the expression fits or not", async () => {
  const { mailsvc } = await startCliWithServer();
  const sent = await mailsvc([...HELLO, BOUNCES, "--wait", "--jq", ".emails.first"], { env: withJq() });
  expect([sent.code, sent.json.emails, sent.stderr]).toMatchObject([12, [{ to: BOUNCES }], expect.stringContaining("--jq does not fit")]);
});

test.each([{}, { JQ_ENDS: "1" }])("documents may be given at once, also when a jq ends in between: %o", async (variables) => {
  const jq = withJq();
  const options = { env: { ...process.env, ...jq, ...variables }, cwd: folder() };
  const host = {
    pipe: (argv: readonly string[], input: string) => pipe(argv, input, options),
    converse: async (argv: readonly string[]) => converse(argv, options),
  };
  const filter = await createJqFilter(host, ".n");
  const apply = async (n: number) => (await filter.apply(JSON.stringify({ n }))).text;
  expect(await apply(0)).toBe("0\n");
  expect(await Promise.all([1, 2, 3].map(apply))).toEqual(["1\n", "2\n", "3\n"]);
  filter.close();
  // The first one has checked the expression.
  const jqs = "JQ_ENDS" in variables ? 4 : 1;
  expect(readFileSync(jq.JQ_STARTS, "utf8")).toBe("started\n".repeat(1 + jqs));
});

test("lines may end as on Windows", async () => {
  const { mailsvc } = await startCliWithServer();
  const sent = await mailsvc([...HELLO, "ada@example.com", "--jq", ".id"], { env: { ...withJq(), JQ_CRLF: "1" } });
  expect([sent.code, sent.stdout]).toEqual([0, expect.stringMatching(/^em_\w+\n$/)]);
});

test("one jq filters all documents of a stream", async () => {
  const { mailsvc } = await startCliWithServer();
  for (const to of ["a@example.com", "b@example.com", "c@example.com"]) await mailsvc([...HELLO, to]);
  const env = withJq();
  const { stdout } = await mailsvc(["emails", "list", "--all", "--jq", ".to"], { env });
  expect(stdout.split("\n").filter(Boolean).sort()).toEqual(["a@example.com", "b@example.com", "c@example.com"]);
  // The first one has checked the expression.
  expect(readFileSync(env.JQ_STARTS, "utf8")).toBe("started\nstarted\n");
});

test.runIf(spawnSync("jq", ["--version"]).status === 0)("the jq of this machine gives what it gives on its own", async () => {
  const { mailsvc, world } = await startCliWithServer();
  const { id } = await world.sdk.contacts.create({ email: "ada@example.com", customFields: { note: "line\u2028two", n: 3 } });
  const get = async (expression: string) => {
    const { code, stdout } = await mailsvc(["contacts", "get", id, "--jq", expression], { env: { PATH: process.env["PATH"] ?? "" } });
    return [code, stdout];
  };
  expect(await get('.customFields.note, -.customFields.n, {"a": [.email]} # a comment')).toEqual([
    0,
    'line\u2028two\n-3\n{"a":["ada@example.com"]}\n',
  ]);
  expect(await get("empty")).toEqual([0, ""]);
  expect(await get("[., inputs] | length")).toEqual([0, "1\n"]);
  expect(await get('def f: .email; label $out | f, break $out, "no"')).toEqual([0, "ada@example.com\n"]);
  expect((await get(".email.x"))[0]).toBe(13);
});
