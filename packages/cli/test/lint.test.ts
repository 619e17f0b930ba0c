import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cli, folder, TERMINAL } from "./harness.ts";
import { startCliWithServer } from "./world.ts";

const MAIL = `<html>
<body>
  <p>Act now, {{ name }}!</p>
  <a href="/offer"><img src="logo.png"></a>
</body>
</html>
`;
const OFF = ["dark-mode", "language-missing", "viewport-missing", "preheader-missing", "text-missing"].flatMap((id) => [
  "--rule",
  `${id}=off`,
]);
const screen = { tty: TERMINAL, env: { NO_COLOR: "1" } };

test("a file is checked without a server: exit 1 for errors, each with file, line and column", async () => {
  const cwd = folder();
  writeFileSync(join(cwd, "mail.html"), MAIL);
  const { code, stdout } = await cli(["lint", "mail.html", ...OFF], { ...screen, cwd });
  expect([code, stdout]).toEqual([
    1,
    `mail.html
mail.html:3:6  warning  “Act now” reads like spam.  spam-words
  Say it in your own words.
mail.html:4:3  warning  The link to /offer has no text.  link-no-text
  Write a text in it, an image with alt, or aria-label.
mail.html:4:3  error  /offer has no https:// and no host.  url-relative
  Write the whole address: https://…
mail.html:4:20  error  The image logo.png has no alt.  image-no-alt
  Say what it shows; alt="" if it is decoration.
mail.html:4:20  warning  The image logo.png has no width.  image-no-size
  Write its width in pixels as an attribute.
mail.html:4:20  error  logo.png has no https:// and no host.  url-relative
  Write the whole address: https://…
3 errors, 3 warnings
`,
  ]);
});

test("in a pipe it is JSON, --jq works, and stdin is a mail too", async () => {
  const { code, json } = await cli(["lint", "-", "--client", "apple-mail-ios", ...OFF], { stdin: '<p style="display:grid">x</p>' });
  expect([code, json]).toEqual([
    0,
    { data: [{ target: "-", findings: [], errors: 0, warnings: 0, omitted: 0, bytes: 29, rendered: false }], errors: 0, warnings: 0 },
  ]);
  const rules = await cli(["lint", "--list-rules", "--jq", ".data[0].id"]);
  expect([rules.code, rules.stdout]).toEqual([0, "link-no-target\n"]);
});

test("a template.html is checked with the template.json beside it", async () => {
  const cwd = folder();
  mkdirSync(join(cwd, "templates/welcome"), { recursive: true });
  const write = (name: string, text: string): void => writeFileSync(join(cwd, "templates/welcome", name), text);
  write(
    "template.json",
    JSON.stringify({ name: "Welcome", type: "marketing", subject: "HELLO FRIENDS", layout: "base", variables: [{ name: "name" }] }),
  );
  write("template.html", "<p>Hi {{ nmae }}</p>");
  const { code, json } = await cli(["lint", "templates/welcome/template.html"], { cwd });
  expect(code).toBe(0);
  expect(json.data[0].findings.map((one: { rule: string; line: number }) => [one.rule, one.line])).toEqual([
    ["subject-shouting", 1],
    ["variable-unused", null],
    ["variable-undeclared", 1],
  ]);
  write("template.html", "<p>{{#if name}}</p>");
  const broken = await cli(["lint", "templates/welcome/template.html", "--jq", ".data[0].findings[].rule"], { cwd });
  expect([broken.code, broken.stdout]).toEqual([1, expect.stringContaining("template-syntax")]);
});

test("rules come from mailsvc.lint.json, and flags change them", async () => {
  const cwd = folder();
  writeFileSync(join(cwd, "a.html"), "<a>x</a>");
  writeFileSync(join(cwd, "mailsvc.lint.json"), JSON.stringify({ rules: { "link-no-target": "warning" } }));
  expect((await cli(["lint", "a.html"], { cwd })).code).toBe(0);
  expect((await cli(["lint", "a.html", "--rule", "link-no-target=error"], { cwd })).code).toBe(1);
  writeFileSync(join(cwd, "mailsvc.lint.json"), JSON.stringify({ rules: { typo: "off" } }));
  expect(await cli(["lint", "a.html"], { cwd })).toMatchObject({ code: 2, stderr: expect.stringContaining("There is no rule") });
});

test("--report writes JUnit, in which errors fail", async () => {
  const cwd = folder();
  writeFileSync(join(cwd, "a.html"), '<a>x</a><p style="color:#000">"&"</p>');
  await cli(["lint", "a.html", ...OFF, "--report", "junit=out.xml"], { cwd });
  expect(readFileSync(join(cwd, "out.xml"), "utf8")).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="mailsvc lint" tests="2" failures="1" skipped="0">
  <testcase classname="mailsvc.lint.a.html" name="link-no-target (html:1:1)" time="0.000">
    <failure message="The link has no href.">Give it an address, or write it as text.</failure>
  </testcase>
  <testcase classname="mailsvc.lint.a.html" name="dark-mode-colors (html:1:9)" time="0.000">
    <system-out>A text color is set here, and nothing around it has a background.
Set both on the same element, or neither.</system-out>
  </testcase>
</testsuite>
`);
});

test("templates and emails of the server are checked by the server", async () => {
  const { mailsvc, world } = await startCliWithServer();
  await world.sdk.templates.create({ name: "Welcome", slug: "welcome", html: "<a>x</a>" });
  const { id } = await world.sdk.emails.send({ from: "a@acme.example", to: "ada@example.com", subject: "x", html: "<p>{{ name }}</p>" });
  const { code, json } = await mailsvc(["lint", "welcome", id]);
  expect([code, json.errors]).toEqual([1, 2]);
});

test("a folder is checked whole: its templates, or else its HTML files", async () => {
  const cwd = folder();
  for (const slug of ["one", "two"]) {
    mkdirSync(join(cwd, "mails/templates", slug), { recursive: true });
    writeFileSync(join(cwd, "mails/templates", slug, "template.json"), JSON.stringify({ name: slug }));
    writeFileSync(join(cwd, "mails/templates", slug, "template.html"), "<p>Hello</p>");
  }
  mkdirSync(join(cwd, "plain"));
  writeFileSync(join(cwd, "plain/a.html"), "<p>Hello</p>");
  const targets = async (...argv: string[]) =>
    (await cli(["lint", ...argv, ...OFF], { cwd })).json.data.map((one: { target: string }) => one.target);
  expect(await targets("mails")).toEqual(["mails/templates/one/template.html", "mails/templates/two/template.html"]);
  expect(await targets("mails/templates/two/", "plain")).toEqual(["mails/templates/two/template.html", "plain/a.html"]);
});

test("what cannot be checked is refused", async () => {
  const cwd = folder();
  writeFileSync(join(cwd, "a.html"), "x");
  const refused = async (...argv: string[]) => {
    const { code, stderr } = await cli(["lint", ...argv], { cwd });
    return `${code} ${stderr}`;
  };
  expect(await refused()).toMatch(/^2 .*Name files, templates or emails/s);
  expect(await refused("gone.html")).toMatch(/^6 .*There is no file gone\.html/s);
  mkdirSync(join(cwd, "empty"));
  expect(await refused("empty")).toMatch(/^2 .*a folder without templates and HTML files/s);
  expect(await refused("a.html", "--rule", "spam-words")).toMatch(/^2 .*--rule/s);
  expect(await refused("a.html", "--rule", "typo=off")).toMatch(/^[23] .*There is no rule \\?"typo/s);
  expect(await refused("a.html", "--client", "mutt")).toMatch(/^[23] .*--client/s);
  expect(await refused("a.html", "--report", "tap")).toMatch(/^2 .*junit=FILE/s);
});
