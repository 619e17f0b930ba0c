import { LINT_RULE_IDS, LINT_RULES, mapContactTexts } from "@mailsvc/sdk/contract";
import { describe, expect, test } from "vitest";
import { lintSources, type SourcesToLint } from "../lint-sources.ts";
import { getContactValues } from "../templates/templates.ts";
import { createWorld } from "../testing.ts";

const NOTHING: SourcesToLint = { html: null, text: "x", subject: null, type: "transactional", layout: null, declared: null };

/** The smallest mail to which no rule objects. */
const GOOD = `<!doctype html>
<html lang="en">
<head><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>Hi</title></head>
<body><div style="display:none">The parcel comes today.</div>
<table role="presentation"><tr><td><p>Hi <a href="https://acme.example/t">Track it</a><br>
<img src="https://acme.example/logo.png" alt="Acme" width="120"></td></tr></table>
<p><a href="{{unsubscribeUrl}}">Unsubscribe</a></p></body>
</html>`;

const find = async (sources: Partial<SourcesToLint>) => (await lintSources({ ...NOTHING, ...sources })).findings;
const inBody = (body: string) => GOOD.replace("<p>Hi", `${body}<p>Hi`);

test("a good mail has no findings", async () => {
  expect(await find({ html: GOOD, subject: "Your parcel", type: "marketing" })).toEqual([]);
});

/** The smallest invitation to which no rule objects. */
const CALENDAR = `BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\nMETHOD:REQUEST\nBEGIN:VEVENT\nUID:1\nDTSTAMP:20300101T080000Z
DTSTART:20300131T093000Z\nORGANIZER:mailto:hello@acme.example\nATTENDEE:mailto:ada@example.com\nEND:VEVENT\nEND:VCALENDAR\n`;

test("a good invitation has no findings, that of a sent mail neither", async () => {
  expect(await find({ calendar: CALENDAR })).toEqual([]);
  expect(await find({ calendar: CALENDAR.replace(/DTSTART.*\n/, "").replace("REQUEST", "CANCEL") })).toEqual([]);
  await using world = await createWorld();
  const content = CALENDAR.replace("ORGANIZER:mailto:hello@acme.example\n", "");
  const mail = { from: "hello@acme.example", to: "ada@example.com", subject: "Review", text: "Coming?" };
  const sent = await world.sdk.emails.send({ ...mail, icalEvent: { content } });
  const report = await world.sdk.lint.check({ email: (sent as { id: string }).id });
  expect(report.findings).toMatchObject([
    { rule: "calendar-incomplete", part: "calendar", line: 6, message: expect.stringContaining("ORGANIZER") },
  ]);
  expect((await world.sdk.lint.check({ calendar: CALENDAR })).findings).toEqual([]);
});

/** For each rule, sources to which it objects, and nothing else does. */
const BAD: Record<string, Partial<SourcesToLint>[]> = {
  "link-no-target": [{ html: inBody("<a>x</a>") }, { html: inBody('<a href="">x</a>') }, { html: inBody('<a href="#">x</a>') }],
  "url-relative": [{ html: inBody('<a href="/in">x</a>') }, { html: inBody('<a href="//acme.example/in">x</a>') }],
  "url-unsafe": [{ html: inBody('<a href="java&#x73;cript:alert(1)">x</a>') }, { html: inBody('<a href="file:///x">x</a>') }],
  "url-local": [{ html: inBody('<a href="https://localhost:3000/">x</a>') }, { html: inBody('<a href="http://192.168.0.4/">x</a>') }],
  "url-insecure": [{ html: inBody('<a href="http://acme.example/">x</a>') }],
  "link-no-text": [{ html: inBody('<a href="https://acme.example/"> <!-- no --> </a>') }],
  "image-no-source": [{ html: inBody('<img alt="x" width="1">') }],
  "image-no-alt": [{ html: inBody('<img src="https://acme.example/a.png" width="9">') }],
  "image-no-size": [{ html: inBody('<img src="https://acme.example/a.png" alt="a">') }],
  "image-data": [{ html: inBody('<img src="data:image/png;base64,AA==" alt="a" width="9">') }],
  "gmail-clipping": [{ html: inBody(`<p>${"x".repeat(103 * 1024)}</p>`) }],
  script: [{ html: inBody("<script>alert(1)</script>") }, { html: inBody('<p onclick="x()">x</p>') }],
  "embedded-content": [{ html: inBody('<iframe src="https://acme.example/"></iframe>') }],
  form: [{ html: inBody("<form></form>") }],
  "external-stylesheet": [{ html: inBody('<link rel="stylesheet" href="https://acme.example/a.css">') }],
  "style-too-long": [{ html: inBody(`<style>${"a{color:red}".repeat(1000)}</style>`) }],
  "client-support": [
    { html: inBody('<p style="display:flex">x</p>') },
    { html: inBody("<style>p { position: fixed }</style>") },
    { html: inBody('<p style="padding:calc(1px + 2px)">x</p>') },
    { html: inBody('<img src="https://acme.example/a.webp?v=1" alt="a" width="9">') },
  ],
  "dark-mode": [{ html: GOOD.replace('<meta name="color-scheme" content="light dark">', "") }],
  "dark-mode-colors": [{ html: inBody('<p style="color:#000">x</p>') }, { html: inBody('<p style="background:#fff">x</p>') }],
  contrast: [{ html: inBody('<p style="color:#999;background-color:#fff">x</p>') }],
  "language-missing": [{ html: GOOD.replace(' lang="en"', "") }],
  "viewport-missing": [{ html: GOOD.replace('<meta name="viewport" content="width=device-width">', "") }],
  "table-no-role": [{ html: inBody("<table><tr><td>x</td></tr></table>") }],
  "tag-unclosed": [{ html: inBody("<div><span>x</div>") }],
  "preheader-missing": [{ html: GOOD.replace("display:none", "margin:0") }],
  "text-missing": [{ html: GOOD, text: null }],
  "unsubscribe-missing": [{ html: GOOD.replaceAll(/<p><a href="\{\{unsub.*?<\/p>/g, ""), type: "marketing" }],
  "subject-long": [{ html: GOOD, subject: "a".repeat(71) }],
  "subject-shouting": [
    { html: GOOD, subject: "READ THIS NOW" },
    { html: GOOD, subject: "Sale!!" },
  ],
  "spam-words": [{ html: inBody("<p>Act now</p>") }, { html: GOOD, subject: "You have won" }, { html: GOOD, text: "Dear friend" }],
  "template-syntax": [{ html: inBody("{{#if a}}"), declared: [] }],
  "variable-undeclared": [{ html: inBody("<p>{{name}} {{nmae}}</p>"), declared: [{ name: "name" }] }],
  "calendar-invalid": [
    { calendar: "x" },
    { calendar: CALENDAR.replace("METHOD:REQUEST\n", "") },
    { calendar: CALENDAR.replace("REQUEST", "ASK") },
  ],
  "calendar-incomplete": [
    ...["VERSION:2.0\n", "PRODID:x\n", "UID:1\n", "DTSTAMP:20300101T080000Z\n", "ORGANIZER:mailto:hello@acme.example\n"].map((line) => ({
      calendar: CALENDAR.replace(line, ""),
    })),
    { calendar: CALENDAR.replace("ATTENDEE:mailto:ada@example.com\n", "") },
    { calendar: CALENDAR.replace("DTSTART:20300131T093000Z", "DTSTART;TZID=Europe/Berlin:20300131T093000") },
  ],
  "variable-unused": [{ html: inBody("<p>{{name}}</p>"), declared: [{ name: "name" }, { name: "total" }] }],
};

describe.each(LINT_RULE_IDS.filter((id) => id !== "placeholder-left"))("%s", (id) => {
  test.each(BAD[id] ?? [null])("objects, and is the only one", async (sources) => {
    expect(sources, `${id} needs an example`).not.toBeNull();
    const findings = await find(sources ?? {});
    expect(findings.map(({ rule }) => rule)).toEqual([id]);
    expect(findings[0]).toMatchObject({ severity: LINT_RULES[id].severity, fix: LINT_RULES[id].fix });
  });

  test("can be turned off and made graver", async () => {
    const [sources = {}] = BAD[id] ?? [];
    expect((await lintSources({ ...NOTHING, ...sources }, { rules: { [id]: "off" } })).findings).toEqual([]);
    expect((await lintSources({ ...NOTHING, ...sources }, { rules: { [id]: "error" } })).errors).toBe(1);
  });
});

test("findings are in the order of the mail, with line and column", async () => {
  const findings = await find({ html: GOOD.replace("<br>\n<img", '<br>\n  <a href="x.html">x</a><img').replace(' alt="Acme"', "") });
  expect(findings.map(({ rule, line, column }) => [rule, line, column])).toEqual([
    ["url-relative", 6, 3],
    ["image-no-alt", 6, 25],
  ]);
});

test("a report lists twenty findings of a rule and counts the rest", async () => {
  const { findings, omitted } = await lintSources({ ...NOTHING, html: inBody("<a>x</a>".repeat(30)) });
  expect([findings.length, omitted]).toEqual([20, 10]);
});

test("a template with variables of its own may use whatever contacts give it", async () => {
  const contact = { email: "ada@acme.example", externalId: "x", ...mapContactTexts(() => "x"), tags: [], customFields: {} };
  const given = Object.keys(getContactValues(contact)).map((name) => `{{${name}}}`);
  const html = inBody(`<p>{{total}} ${given.join(" ")}</p>`);
  expect(await find({ html, declared: [{ name: "total" }] })).toEqual([]);
});

test("what is written for one mail program does not count for others", async () => {
  const html = inBody("<!--[if mso]><table><tr><td><![endif]--><style>@media (min-width:600px) { p { display: flex } }</style>");
  expect(await find({ html })).toEqual([]);
  const { findings } = await lintSources({ ...NOTHING, html: inBody('<p style="display:grid">x</p>') }, { clients: ["apple-mail-ios"] });
  expect(findings).toEqual([]);
});

test("a template within a layout is not asked for what its layout has", async () => {
  expect(await find({ html: '<p>Hi {{ name }}</p><img src="a.png">', text: null, layout: "base", declared: [] })).toMatchObject([
    { rule: "image-no-alt" },
    { rule: "image-no-size" },
    { rule: "url-relative" },
  ]);
});

const MIB = 1024 * 1024;
const HOSTILE = {
  "nested elements": '<b style="color:red">'.repeat(MIB / 21),
  "end tags of elements that are not open": `${"<div>".repeat(MIB / 10)}${"</b></i>".repeat(MIB / 16)}`,
  "cells of tables": "<table><th>".repeat(MIB / 11),
  "comments that do not end": "<!--".repeat(MIB / 4),
  "attributes that do not end": `<a ${'href="x" '.repeat(MIB / 9)}`,
  "styles that do not end": `<style>${"a{b:c(".repeat(MIB / 6)}`,
  "strings in styles": `<style>${`"'\n`.repeat(MIB / 3)}`,
  "links to nowhere": "<a href=#>".repeat(MIB / 10),
  "many lines": "\n<img>".repeat(MIB / 6),
  "opening braces": "{{".repeat(MIB / 2),
};

test.each(Object.entries(HOSTILE))("a megabyte of %s takes bounded time", async (_what, html) => {
  const before = process.cpuUsage();
  const { findings } = await lintSources({ ...NOTHING, html, type: "marketing" });
  const { user, system } = process.cpuUsage(before);
  expect(findings.length).toBeLessThanOrEqual(20 * LINT_RULE_IDS.length);
  // It takes less than a second; time that grows with the square would take minutes.
  expect((user + system) / 1e6).toBeLessThan(20);
});

describe("the endpoint", () => {
  test("checks what is given, the draft of a template and an email", async () => {
    await using world = await createWorld();
    const { lint, templates, emails } = world.sdk;
    expect((await lint.check({ html: "<a>x</a>", text: "x" })).findings).toContainEqual(
      expect.objectContaining({ rule: "link-no-target", line: 1, column: 1 }),
    );
    await templates.create({ name: "Base", slug: "base", type: "layout", html: '<html lang="en"><body>{{{body}}}</body></html>' });
    const { id } = await templates.create({
      name: "Welcome",
      slug: "welcome",
      subject: "Hi {{ name }}",
      html: "<p>Hi {{ nmae }}</p>\n<a>x</a>",
      layout: "base",
      variables: [{ name: "name", default: "you" }],
    });
    for (const template of [id, "welcome"]) {
      const { findings, rendered } = await lint.check({ template });
      expect(rendered).toBe(true);
      expect(findings.map(({ rule }) => rule)).toEqual(
        expect.arrayContaining(["link-no-target", "variable-undeclared", "viewport-missing", "text-missing"]),
      );
      expect(findings.map(({ rule }) => rule)).not.toContain("language-missing");
    }
    const sent = await emails.send({
      from: "a@acme.example",
      to: "ada@example.com",
      subject: "Hi {{name}}",
      html: "<p>{{ name }}</p>",
      text: "x",
    });
    expect((await lint.check({ email: sent.id })).findings).toMatchObject([
      { rule: "placeholder-left", part: "subject" },
      ...Array(4).fill({ severity: "warning", part: "html", line: null }),
      { rule: "placeholder-left", part: "html", line: 1, column: 4 },
    ]);
  });

  test("lists the rules", async () => {
    await using world = await createWorld();
    expect((await world.sdk.lint.rules()).data.map(({ id }) => id)).toEqual(LINT_RULE_IDS);
  });

  test("refuses more than one source, none, unknown rules, and what is not there", async () => {
    await using world = await createWorld();
    const { lint } = world.sdk;
    await expect(lint.check({})).rejects.toMatchObject({ code: "validation_error", details: [{ path: "html" }] });
    await expect(lint.check({ html: "x", template: "y" })).rejects.toMatchObject({ details: [{ path: "template" }] });
    await expect(lint.check({ html: "x", rules: { typo: "off" } })).rejects.toMatchObject({ details: [{ path: "rules.typo" }] });
    await expect(lint.check({ template: "none" })).rejects.toMatchObject({ code: "not_found" });
    await expect(lint.check({ email: "em_none" })).rejects.toMatchObject({ code: "not_found" });
  });

  test("does not show the templates and emails of others", async () => {
    await using world = await createWorld();
    const { id } = await world.sdk.templates.create({ name: "Secret", slug: "secret", html: "<a>x</a>" });
    const other = await world.createWorkspace("Other");
    for (const template of [id, "secret"]) await expect(other.sdk.lint.check({ template })).rejects.toMatchObject({ code: "not_found" });
  });
});
