import { expect, test } from "vitest";
import { TERMINAL } from "./harness.ts";
import { startCliWithServer } from "./world.ts";

const HELLO = ["send", "--from", "a@acme.example", "--subject", "Hi", "--text", "x", "--to"];
const BOUNCES = "bounced@simulator.mailsvc.test";

test("every command takes --jq: of one document, of a list, of a stream of documents", async () => {
  const { mailsvc, world } = await startCliWithServer();
  const sent = await mailsvc([...HELLO, "ada@example.com", "--jq", ".id"]);
  expect([sent.code, sent.stdout, sent.stderr]).toEqual([0, expect.stringMatching(/^em_\w+\n$/), ""]);
  await mailsvc([...HELLO, "grace@example.com"]);
  await world.settle();
  expect((await mailsvc(["--jq", ".to", "emails", "list", "--all"])).stdout).toBe("grace@example.com\nada@example.com\n");
  expect((await mailsvc(["whoami", "--jq", ".server.dev"], { tty: TERMINAL })).stdout).toBe("true\n");
  expect((await mailsvc(["errors", "--jq", ".data"])).json.length).toBeGreaterThan(10);
});

test.each(["", " ", "# everything"])("an expression with nothing in it is the whole document: %o", async (expression) => {
  const { mailsvc } = await startCliWithServer();
  const shown = await mailsvc(["whoami", "--jq", expression]);
  expect([shown.code, shown.stderr, shown.json]).toEqual([0, "", expect.objectContaining({ workspace: expect.anything() })]);
});

test("at a terminal a text of others cannot move the cursor", async () => {
  const { mailsvc, world } = await startCliWithServer();
  const { id } = await world.sdk.contacts.create({ email: "eve@example.com", customFields: { note: "\u001b[2Jgone" } });
  const shown = await mailsvc(["contacts", "get", id, "--jq", ".customFields.note"], { tty: TERMINAL });
  expect(shown.stdout).toContain("gone");
  expect(shown.stdout).not.toContain("\u001b[2J");
});

test("a wrong expression is found before anything is sent", async () => {
  const { mailsvc, world } = await startCliWithServer();
  const wrong = await mailsvc([...HELLO, "ada@example.com", "--jq", ".["]);
  expect([wrong.code, wrong.stdout, wrong.stderr]).toEqual([2, "", expect.stringContaining("--jq: syntax error, unexpected end of file")]);
  expect((await world.sdk.emails.list()).pagination.total).toBe(0);
});

test("a document that the expression does not fit is printed whole, because the server has done the work already", async () => {
  const { mailsvc, world } = await startCliWithServer();
  const unfit = await mailsvc([...HELLO, "ada@example.com", "--to", "bob@example.com", "--jq", ".ids.first"]);
  expect([unfit.code, unfit.stderr]).toEqual([
    13,
    expect.stringContaining("--jq does not fit the document, which is printed whole: Cannot index array with string"),
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
  const listed = await mailsvc(["contacts", "list", "--all", "--jq", ".customFields.note.x"]);
  expect([listed.code, listed.lines]).toMatchObject([
    13,
    [{ email: "two-noted@example.com" }, null, { email: "one-noted@example.com" }, null],
  ]);
  expect(listed.stderr.match(/Cannot index string with string/g)).toHaveLength(1);
});

test("that an email was not delivered is told, whether the expression fits or not", async () => {
  const { mailsvc } = await startCliWithServer();
  const sent = await mailsvc([...HELLO, BOUNCES, "--wait", "--jq", ".emails.first"]);
  expect([sent.code, sent.json.emails, sent.stderr]).toMatchObject([12, [{ to: BOUNCES }], expect.stringContaining("--jq does not fit")]);
});

test("expressions are those of jq: comments, definitions, other documents, large numbers, and nothing of the environment", async () => {
  const { mailsvc, world } = await startCliWithServer();
  const { id } = await world.sdk.contacts.create({ email: "ada@example.com", customFields: { note: "line\u2028two", n: 3 } });
  const get = async (expression: string) => {
    const { code, stdout } = await mailsvc(["contacts", "get", id, "--jq", expression]);
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
  expect(await get('12345678901234567890, (env | has("MAILSVC_API_KEY")), ""')).toEqual([0, "12345678901234567890\nfalse\n\n"]);
  expect(await get("[1,3,2] | sort_by(-.)")).toEqual([0, "[3,2,1]\n"]);
});
