import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { AGENT_SCOPES } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { activateAgent, getAgentKey, listAgent, startReceiver } from "../../server/test/marketplace.ts";
import { cli, folder } from "./harness.ts";
import { startCliWithServer } from "./world.ts";

const never: typeof fetch = () => Promise.reject(new Error("nothing may be sent"));

test("an agent makes and changes a page from a file, or through a pipe", async () => {
  const { mailsvc, world } = await startCliWithServer();
  await using hooks = await startReceiver();
  await listAgent(world.sdk, hooks.url, { slug: "writer", permissions: [...AGENT_SCOPES] });
  const { id } = await activateAgent(world.sdk, "writer");
  const env = { MAILSVC_AGENT_KEY: await getAgentKey(world, hooks, id), MAILSVC_ACTIVATION_ID: id };
  const home = folder();
  // A mark some editors put before the text is not part of it.
  writeFileSync(join(home, "page.html"), "\ufeff<h1>Grüße</h1>\n<form></form>");
  const made = await mailsvc(["agent", "landing-pages", "create", "--title", "Guide", "--html-file", "page.html"], { env, home });
  expect(made.code, made.stderr).toBe(0);
  expect(made.json).toMatchObject({ title: "Guide", html: "<h1>Grüße</h1>\n<form></form>", hasForm: true });
  const change = ["agent", "landing-pages", "update", made.json.id, "--html-file"];
  const changed = await mailsvc([...change, "-"], { env, home, stdin: "<p>From a pipe</p>" });
  expect(changed.json).toMatchObject({ html: "<p>From a pipe</p>", version: 2 });
  writeFileSync(join(home, "huge.html"), "x".repeat(512 * 1024 + 1));
  const huge = await mailsvc([...change, "huge.html"], { env, home, fetch: never });
  expect([huge.code, huge.stderr]).toEqual([3, expect.stringMatching(/--html.*at most/)]);
});

test("a template is written from files as well", async () => {
  const { mailsvc } = await startCliWithServer();
  const home = folder();
  writeFileSync(join(home, "mail.html"), "<p>Hello {{name}}</p>");
  const made = await mailsvc(
    ["templates", "create", "--name", "Hello", "--subject", "Hello", "--html-file", "mail.html", "--text-file", "-"],
    { home, stdin: "Hello {{name}}" },
  );
  expect(made.code, made.stderr).toBe(0);
  expect(made.json.draft ?? made.json).toMatchObject({ html: "<p>Hello {{name}}</p>", text: "Hello {{name}}" });
});

const PAGE = ["agent", "landing-pages", "create", "--title", "T", "--activation", "act_1"];
test.each([
  ["a file that is not there", [...PAGE, "--html-file", "no.html"], "--html-file: no.html: no such file."],
  ["a folder", [...PAGE, "--html-file", "."], "it is a directory"],
  ["bytes that are no text", [...PAGE, "--html-file", "latin1.html"], "--html-file: latin1.html is not UTF-8 text."],
  ["both at once", [...PAGE, "--html", "<p>", "--html-file", "latin1.html"], "Use either --html or --html-file."],
  ["stdin for two", [...PAGE, "--html-file", "-", "--data", "-"], "both read stdin"],
])("%s is refused before anything is sent", async (_name, argv, says) => {
  const home = folder();
  writeFileSync(join(home, "latin1.html"), Buffer.from("<p>\xe4", "latin1"));
  const env = { MAILSVC_AGENT_KEY: "none", MAILSVC_API_KEY: "none" };
  const { code, stderr } = await cli(argv, { env, home, cwd: home, fetch: never, stdin: "{}" });
  expect([code, stderr]).toEqual([2, expect.stringContaining(says)]);
});
