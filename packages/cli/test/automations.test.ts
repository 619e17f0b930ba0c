import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { buildAutomationSchema } from "@mailsvc/sdk/contract";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { cli, folder, TERMINAL } from "./harness.ts";
import { type Beside, startCliWithServer } from "./world.ts";

const put = (cwd: string, files: Record<string, string>): void => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(cwd, path, ".."), { recursive: true });
    writeFileSync(join(cwd, path), text);
  }
};

const WELCOME = `{
  "name": "Welcome",
  "trigger": { "type": "contact.created" },
  "goal": { "type": "segment.entered", "segmentId": "Customers" },
  "steps": [
    { "id": "hello", "type": "send_email", "templateId": "hello", "from": "news@acme.example" },
    { "id": "wait", "type": "delay", "for": "3d" },
    { "id": "on-list", "type": "condition", "rule": { "not": { "field": "lists", "operator": "in", "value": ["News"] } } },
    { "id": "join", "type": "add_to_list", "listId": "News" }
  ],
  "connections": [
    { "from": "trigger", "to": "hello" },
    { "from": "hello", "to": "wait" },
    { "from": "wait", "to": "on-list" },
    { "from": "on-list", "to": "join", "branch": "yes" }
  ]
}
`;
const TAGGED = JSON.stringify({
  name: "Tagged",
  trigger: { type: "tag.added", tag: "vip" },
  allowReEntry: true,
  steps: [{ id: "end", type: "exit" }],
  connections: [{ from: "trigger", to: "end" }],
});

async function furnish({ sdk }: Beside["world"]): Promise<void> {
  await sdk.templates.create({ name: "Hello", slug: "hello", type: "marketing", subject: "Hello", html: "<p>Hello</p>", publish: true });
  await sdk.lists.create({ name: "News" });
  await sdk.segments.create({ name: "Customers", rules: { field: "tags", operator: "contains", value: "customer" } });
}

/** A folder of two automations, next to a server that has what they refer to. */
async function workshop(): Promise<Beside & { cwd: string }> {
  const cwd = folder();
  put(cwd, { "automations/welcome.json": WELCOME, "automations/tagged.json": TAGGED });
  const cli = await startCliWithServer();
  await furnish(cli.world);
  return { ...cli, cwd };
}

const PLAIN = { tty: TERMINAL, env: { NO_COLOR: "1" }, columns: 120 };

describe("automations in a folder", () => {
  test("are pushed with names in place of ids, activated, run, and pushed again without a change", async () => {
    const { mailsvc, world, cwd } = await workshop();
    const dry = await mailsvc(["automations", "push", "--dry-run"], { cwd });
    expect(dry.json.changes).toEqual([
      { name: "Tagged", change: "create", fields: [] },
      { name: "Welcome", change: "create", fields: [] },
    ]);
    expect((await world.sdk.automations.list()).data).toEqual([]);
    expect((await mailsvc(["automations", "push", "Welcome"], { cwd })).json).toEqual({
      data: [{ name: "Welcome", action: "created", version: 1 }],
      unchanged: 0,
      failed: 0,
    });
    expect((await mailsvc(["automations", "push", "--activate"], { cwd })).json.data).toEqual([
      { name: "Tagged", action: "created", version: 1 },
      { name: "Welcome", action: "activated", version: 1 },
    ]);
    expect((await mailsvc(["automations", "push", "--activate"], { cwd })).json).toEqual({ data: [], unchanged: 2, failed: 0 });
    await world.sdk.contacts.create({ email: "ada@example.com" });
    await world.clock.advance("3d");
    const [list] = await world.sdk.lists.list().toArray();
    expect((await world.sdk.lists.contacts(list?.id ?? "").toArray()).map(({ contact }) => contact.email)).toEqual(["ada@example.com"]);
    expect(await world.inbox.all()).toHaveLength(1);
  });

  test("come back as they were, also in a workspace with other ids: push, pull elsewhere, no difference", async () => {
    const { mailsvc, cwd } = await workshop();
    await mailsvc(["automations", "push"], { cwd });
    const elsewhere = folder();
    const pulled = await mailsvc(["automations", "pull", "--dir", "flows"], { cwd: elsewhere });
    expect(pulled.json).toMatchObject({ written: ["Tagged", "Welcome"], removed: [], unchanged: 0 });
    expect(readdirSync(join(elsewhere, "flows"))).toEqual([".mailsvc-base", "automation.schema.json", "tagged.json", "welcome.json"]);
    const welcome = JSON.parse(readFileSync(join(elsewhere, "flows/welcome.json"), "utf8"));
    expect(welcome).toEqual({ $schema: "./automation.schema.json", ...JSON.parse(WELCOME), currency: "USD" });
    expect(readFileSync(join(elsewhere, "flows/welcome.json"), "utf8")).toContain('    { "id": "wait", "type": "delay", "for": "3d" },\n');
    expect(JSON.parse(readFileSync(join(elsewhere, "flows/tagged.json"), "utf8"))).toMatchObject({
      allowReEntry: true,
      reEntryDelayHours: 24,
    });
    expect(await mailsvc(["automations", "diff", "--dir", "flows"], { cwd: elsewhere })).toMatchObject({ code: 0, json: { changes: [] } });
    expect((await mailsvc(["automations", "pull"], { cwd })).json).toMatchObject({ written: [], unchanged: 2 });
    const other = await startCliWithServer();
    await furnish(other.world);
    expect((await other.mailsvc(["automations", "push", "--dir", "flows"], { cwd: elsewhere })).code).toBe(0);
    expect((await other.mailsvc(["automations", "diff", "--dir", "flows"], { cwd: elsewhere })).code).toBe(0);
  });

  test("differ by field and line, with exit code 1", async () => {
    const { mailsvc, world, cwd } = await workshop();
    await mailsvc(["automations", "push"], { cwd });
    put(cwd, { "automations/welcome.json": WELCOME.replace('"3d"', '"4d"') });
    const { id } = await world.sdk.automations.create({
      name: "Elsewhere",
      trigger: { type: "contact.created" },
      steps: [],
      connections: [],
    });
    const differs = await mailsvc(["automations", "diff"], { cwd });
    expect(differs.code).toBe(1);
    expect(differs.json.changes).toEqual([
      { name: "Welcome", change: "update", fields: ["steps"] },
      { name: "Elsewhere", change: "archive", fields: [] },
    ]);
    const shown = await mailsvc(["automations", "diff", "Welcome"], { cwd, ...PLAIN });
    expect(shown.stdout).toContain('    -   { "id": "wait", "type": "delay", "for": "3d" },');
    expect(shown.stdout).toContain('    +   { "id": "wait", "type": "delay", "for": "4d" },');
    await world.sdk.automations.archive(id);
    expect((await mailsvc(["automations", "push"], { cwd })).json).toMatchObject({
      data: [{ action: "updated", version: 2 }],
      unchanged: 1,
    });
    expect((await mailsvc(["automations", "diff"], { cwd })).code).toBe(0);
  });

  test("whose files are gone are archived with --prune only, and the confirmation names those it stops", async () => {
    const { mailsvc, world, cwd } = await workshop();
    await mailsvc(["automations", "push", "--activate"], { cwd });
    const lean = folder();
    put(lean, { "automations/tagged.json": TAGGED });
    expect((await mailsvc(["automations", "push"], { cwd: lean })).code).toBe(0);
    expect((await world.sdk.automations.list()).pagination.total).toBe(2);
    const asked = await mailsvc(["automations", "push", "--prune"], { cwd: lean });
    expect(asked.code).toBe(2);
    expect(asked.stderr).toContain("stops Welcome");
    const pruned = await mailsvc(["automations", "push", "--prune", "--yes"], { cwd: lean });
    expect(pruned.json.data).toEqual([{ name: "Welcome", action: "archived" }]);
    expect(await world.sdk.automations.list({ archived: true }).toArray()).toMatchObject([{ name: "Welcome", status: "PAUSED" }]);
    const back = await mailsvc(["automations", "pull", "--prune", "--yes"], { cwd });
    expect(back.json).toMatchObject({ written: [], removed: ["Welcome"] });
    expect(existsSync(join(cwd, "automations/welcome.json"))).toBe(false);
  });

  test("that were changed here are not replaced by a pull without being asked", async () => {
    const { mailsvc, cwd } = await workshop();
    await mailsvc(["automations", "push"], { cwd });
    const mine = WELCOME.replace('"3d"', '"4d"').replace("{", '{\n  "$schema": "https://acme.example/schema.json",');
    put(cwd, { "automations/welcome.json": mine });
    expect(await mailsvc(["automations", "pull"], { cwd })).toMatchObject({ code: 2, stderr: expect.stringContaining("Welcome") });
    expect(readFileSync(join(cwd, "automations/welcome.json"), "utf8")).toBe(mine);
    expect((await mailsvc(["automations", "pull", "--yes"], { cwd })).json.written).toEqual(["Welcome"]);
    const text = readFileSync(join(cwd, "automations/welcome.json"), "utf8");
    expect(JSON.parse(text)).toMatchObject({ $schema: "https://acme.example/schema.json", steps: [{}, { for: "3d" }, {}, {}] });
  });

  test("of which some are refused are pushed but for those: exit 11, with file, line and step", async () => {
    const { mailsvc, world, cwd } = await workshop();
    put(cwd, { "automations/welcome.json": WELCOME.replace('"templateId": "hello"', '"templateId": "helo"') });
    const pushed = await mailsvc(["automations", "push"], { cwd });
    expect(pushed.code).toBe(11);
    expect(pushed.json).toMatchObject({
      failed: 1,
      data: [
        { name: "Tagged", action: "created" },
        {
          name: "Welcome",
          action: "failed",
          error: {
            code: "unknown_name",
            details: [
              { path: "welcome.json:6:44", line: 6, message: 'The step "hello": No template has the slug "helo", or several have it.' },
            ],
          },
        },
      ],
    });
    put(cwd, { "automations/welcome.json": WELCOME });
    const [template] = await world.sdk.templates.list().toArray();
    await world.sdk.templates.archive(template?.id ?? "");
    const refused = await mailsvc(["automations", "push", "--activate"], { cwd, ...PLAIN });
    expect(refused.code).toBe(11);
    expect(refused.stdout).toMatch(
      /created, but not activated.*\n {2}welcome\.json:6:5 {2}The step "hello": The template hello is inactive\./,
    );
  });

  test("that changed on the server since the pull are not overwritten", async () => {
    const { mailsvc, world, cwd } = await workshop();
    await mailsvc(["automations", "push"], { cwd });
    put(cwd, { "automations/tagged.json": TAGGED.replace("vip", "gold") });
    let raced = false;
    const fetch: typeof globalThis.fetch = async (input, init) => {
      if (init?.method === "PATCH" && !raced) {
        raced = true;
        const [tagged] = (await world.sdk.automations.list().toArray()).filter(({ name }) => name === "Tagged");
        await world.sdk.automations.update(tagged?.id ?? "", { description: "theirs" });
      }
      return world.fetch(input, init);
    };
    const pushed = await mailsvc(["automations", "push"], { cwd, fetch });
    expect(pushed).toMatchObject({ code: 11, json: { data: [{ name: "Tagged", action: "failed", error: { code: "conflict" } }] } });
  });

  test("that somebody else changed are refused with exit 11 and left as they are, until they are pulled or forced", async () => {
    const { mailsvc, world, cwd } = await workshop();
    await mailsvc(["automations", "push"], { cwd });
    const [tagged] = (await world.sdk.automations.list().toArray()).filter(({ name }) => name === "Tagged");
    const id = tagged?.id ?? "";
    await world.sdk.automations.update(id, { description: "theirs" });
    const refused = await mailsvc(["automations", "push"], { cwd });
    expect(refused).toMatchObject({
      code: 11,
      json: {
        unchanged: 1,
        data: [{ name: "Tagged", action: "failed", error: { code: "conflict", next: "mailsvc automations diff Tagged" } }],
      },
    });
    expect((await mailsvc(["automations", "push"], { cwd, ...PLAIN })).stdout).toContain("next: mailsvc automations diff Tagged");
    expect(await world.sdk.automations.get(id)).toMatchObject({ description: "theirs" });
    expect((await mailsvc(["automations", "push", "--force"], { cwd })).code).toBe(0);
    expect(await world.sdk.automations.get(id)).toMatchObject({ description: null });
    put(cwd, { "automations/tagged.json": TAGGED.replace("vip", "gold") });
    expect((await mailsvc(["automations", "push"], { cwd })).code).toBe(0);
  });

  test("that were stored but not activated can be corrected and pushed again", async () => {
    const { mailsvc, world, cwd } = await workshop();
    const [hello] = await world.sdk.templates.list().toArray();
    await world.sdk.templates.archive(hello?.id ?? "");
    expect((await mailsvc(["automations", "push", "Welcome", "--activate"], { cwd })).code).toBe(11);
    put(cwd, { "automations/welcome.json": WELCOME.replace('"3d"', '"4d"') });
    expect((await mailsvc(["automations", "push", "Welcome"], { cwd })).code).toBe(0);
  });

  test("of which two on the server have one name are not matched", async () => {
    const { mailsvc, world, cwd } = await workshop();
    for (const _ of [1, 2])
      await world.sdk.automations.create({ name: "Tagged", trigger: { type: "contact.created" }, steps: [], connections: [] });
    const pushed = await mailsvc(["automations", "push"], { cwd });
    expect(pushed).toMatchObject({ code: 7, stderr: expect.stringContaining("Rename or archive") });
  });

  test.each(["../evil", "con", "///", "Ünïcode & more"])("with the name %j get a file inside of the folder", async (name) => {
    const { mailsvc, world } = await startCliWithServer();
    await world.sdk.automations.create({ name, trigger: { type: "contact.created" }, steps: [], connections: [] });
    const cwd = folder();
    expect((await mailsvc(["automations", "pull", "--dir", "in/flows"], { cwd })).code).toBe(0);
    expect(readdirSync(cwd, { recursive: true }).filter((path) => String(path).endsWith(".json"))).toHaveLength(2);
    expect(readdirSync(join(cwd, "in/flows")).filter((file) => /^[a-z-]+\.json$/.test(file))).toHaveLength(1);
    expect((await mailsvc(["automations", "diff", "--dir", "in/flows"], { cwd })).code).toBe(0);
  });

  test("that are links are not followed", async () => {
    const { mailsvc, cwd } = await workshop();
    await mailsvc(["automations", "push"], { cwd });
    const other = folder();
    put(other, { "outside.json": TAGGED.replace("vip", "gold"), "automations/.keep": "" });
    symlinkSync(join(other, "outside.json"), join(other, "automations/tagged.json"));
    const pulled = await mailsvc(["automations", "pull", "--yes"], { cwd: other });
    expect(pulled).toMatchObject({ code: 3, stderr: expect.stringContaining("is a symbolic link") });
    expect(readFileSync(join(other, "outside.json"), "utf8")).toContain("gold");
    const pushed = await mailsvc(["automations", "push"], { cwd: other });
    expect(pushed).toMatchObject({ code: 11, stdout: expect.stringContaining("is a symbolic link") });
  });

  test("with a fault are told by file, the others are pushed, and nothing is archived", async () => {
    const { mailsvc, world, cwd } = await workshop();
    expect((await mailsvc(["automations", "push"], { cwd })).code).toBe(0);
    await world.sdk.automations.create({ name: "Elsewhere", trigger: { type: "contact.created" }, steps: [], connections: [] });
    put(cwd, {
      "automations/welcome.json": WELCOME.replace('"3d"', '"3 days"'),
      "automations/broken.json": "{",
      "automations/tagged.json": TAGGED.replace("vip", "gold"),
    });
    const pushed = await mailsvc(["automations", "push", "--prune", "--yes"], { cwd });
    expect(pushed.code).toBe(11);
    expect(pushed.stderr).toContain("Nothing is archived");
    expect(pushed.json.data).toEqual([
      { name: "broken.json", action: "failed", error: expect.objectContaining({ code: "invalid_file" }) },
      { name: "Welcome", action: "failed", error: expect.objectContaining({ code: "invalid_file" }) },
      expect.objectContaining({ name: "Tagged", action: "updated" }),
    ]);
    const paths = pushed.json.data
      .slice(0, 2)
      .flatMap((one: { error: { details: { path: string }[] } }) => one.error.details.map(({ path }) => path));
    expect(paths).toEqual([expect.stringMatching(/^broken\.json:1:/), expect.stringMatching(/^welcome\.json:7:/)]);
    expect((await world.sdk.automations.list().toArray()).map(({ name }) => name).sort()).toEqual(["Elsewhere", "Tagged", "Welcome"]);
    expect((await mailsvc(["automations", "diff"], { cwd })).code).toBe(11);
  });
});

describe("validate", () => {
  const replaced = (from: string, to: string): string => {
    expect(WELCOME).toContain(from);
    return WELCOME.replace(from, to);
  };

  test.each<[string, () => string, number, RegExp]>([
    ["broken JSON", () => replaced('"name": "Welcome",', '"name": "Welcome"'), 3, /This is not JSON: Unexpected token/],
    ["no object", () => "[]", 1, /JSON object/],
    ["an empty file", () => "", 1, /empty/],
    ["an unknown field", () => replaced('"goal"', '"goals"'), 4, /Unknown field/],
    ["an unknown type of step", () => replaced('"delay"', '"dealy"'), 7, /step "wait".*send_email/],
    ["a field of a step that is missing", () => replaced(', "for": "3d"', ""), 7, /The step "wait": for is missing/],
    ["a duration that is none", () => replaced('"3d"', '"3 days"'), 7, /The step "wait": Write a duration/],
    ["a rule with an unknown field", () => replaced('"field": "lists"', '"field": "list"'), 8, /The step "on-list": Unknown field "list"/],
    ["a goal without its segment", () => replaced(', "segmentId": "Customers"', ""), 4, /The goal: segmentId is missing/],
    ["an unknown step", () => replaced('"to": "wait"', '"to": "weit"'), 13, /"hello" → "weit": There is no step "weit"/],
    ["an unknown branch", () => replaced('"branch": "yes"', '"branch": "yep"'), 15, /"on-list" → "join": .*yes, no/],
    ["two steps with one id", () => replaced('"id": "join"', '"id": "wait"'), 9, /Two steps have the id "wait"/],
    ["a step that cannot be reached", () => replaced('{ "from": "wait", "to": "on-list" },\n', ""), 8, /to the step "on-list"/],
    [
      "a loop without a wait",
      () => replaced('"branch": "yes" }', '"branch": "yes" },\n{ "from": "join", "to": "on-list" }'),
      11,
      /go round/,
    ],
  ])("names the line and the step of %s, without a server", async (_what, text, line, message) => {
    const cwd = folder();
    put(cwd, { "automations/bad.json": text(), "automations/good.json": TAGGED });
    const checked = await cli(["automations", "validate"], { cwd });
    expect(checked.code).toBe(3);
    expect(checked.json.valid).toEqual([{ file: "good.json", name: "Tagged", steps: 1 }]);
    expect(checked.json.faults[0]).toMatchObject({ file: "bad.json", line, message: expect.stringMatching(message) });
  });

  test("takes files and folders, and is quiet about what is right", async () => {
    const cwd = folder();
    put(cwd, { "flows/a.json": TAGGED, "flows/b.json": TAGGED, "flows/automation.schema.json": "{}", "c.json": WELCOME });
    expect(await cli(["automations", "validate", "c.json"], { cwd })).toMatchObject({ code: 0, json: { faults: [] } });
    const twice = await cli(["automations", "validate", "flows"], { cwd, ...PLAIN });
    expect(twice.code).toBe(3);
    expect(twice.stdout).toBe(
      'valid a.json  Tagged  1 step\nfault b.json:1:2  a.json has the name "Tagged", too. An automation is identified by its name: choose another one.\n',
    );
    expect((await cli(["automations", "validate", "gone.json"], { cwd })).code).toBe(2);
    expect((await cli(["automations", "validate"], { cwd })).code).toBe(2);
  });
});

test("the schema accepts what validate accepts, refuses misspelt steps, and is the one that the SDK ships", async () => {
  const printed = await cli(["automations", "schema"]);
  const shipped = readFileSync(new URL("../../sdk/automation.schema.json", import.meta.url), "utf8");
  expect(JSON.parse(printed.stdout)).toEqual(JSON.parse(shipped));
  const accepts = new Ajv2020({ strict: false }).compile(buildAutomationSchema());
  expect(accepts({ $schema: "./automation.schema.json", ...JSON.parse(WELCOME) })).toBe(true);
  expect(accepts(JSON.parse(TAGGED))).toBe(true);
  for (const text of [
    WELCOME.replace('"delay"', '"dealy"'),
    WELCOME.replace('"for"', '"four"'),
    WELCOME.replace('"operator": "in"', '"operator": "inn"'),
  ])
    expect(accepts(JSON.parse(text))).toBe(false);
});

test("an archived automation is found by its name, unless another one has it by now", async () => {
  const { mailsvc, world } = await startCliWithServer();
  const create = () => world.sdk.automations.create({ name: "Twin", trigger: { type: "contact.created" }, steps: [], connections: [] });
  const old = await create();
  expect((await mailsvc(["automations", "archive", "Twin"])).json).toMatchObject({ id: old.id, archivedAt: expect.any(String) });
  expect((await mailsvc(["automations", "list", "--archived"])).json.data).toMatchObject([{ id: old.id }]);
  expect((await mailsvc(["automations", "unarchive", "twin"])).json).toMatchObject({ id: old.id, archivedAt: null });
  await mailsvc(["automations", "archive", "Twin"]);
  const young = await create();
  expect((await mailsvc(["automations", "get", "Twin"])).json).toMatchObject({ id: young.id });
});

describe("show", () => {
  test("draws the steps with their numbers, names in place of ids, and within the terminal's width", async () => {
    const { mailsvc, world, cwd } = await workshop();
    await mailsvc(["automations", "push", "--activate"], { cwd });
    await world.sdk.suppressions.create({ email: "joan@example.com" });
    await world.sdk.contacts.import({ rows: [{ email: "ada@example.com" }, { email: "joan@example.com" }], startAutomations: true });
    await world.settle();
    const shown = await mailsvc(["automations", "show", "Welcome"], { cwd, ...PLAIN });
    const lines = shown.stdout.split("\n").map((line) => line.replace(/ +/g, " ").trim());
    expect(lines).toEqual([
      "Welcome ACTIVE version 1",
      "2 entered · 2 inside · 0 goals (0.0 %)",
      "",
      "STEP WHAT IT DOES ENTERED WAITING DONE SKIPPED",
      "○ trigger contact.created 2",
      "● hello sends hello 2 0 1 1",
      "● wait waits 3d 2 2 0 0",
      "◆ on-list asks not lists in News 0 0 0 0",
      "├─ yes → join 0",
      "├─ no ends 0",
      "● join adds to list News 0 0 0 0",
      "",
    ]);
    for (const columns of [60, 80]) {
      const narrow = await mailsvc(["automations", "show", "Welcome"], { cwd, tty: TERMINAL, env: { TERM: "xterm-256color" }, columns });
      expect(narrow.stdout).toContain("\u001b[");
      for (const line of stripVTControlCharacters(narrow.stdout).split("\n")) expect(line.length).toBeLessThanOrEqual(columns);
    }
    const piped = await mailsvc(["automations", "show", "Welcome", "--version", "1"], { cwd });
    expect(piped.json).toMatchObject({
      automation: { name: "Welcome", shownVersion: 1 },
      stats: { entered: 2, steps: [{ skipped: 1 }, {}, {}, {}] },
    });
    expect((await mailsvc(["automations", "show", "Nothing"], { cwd })).code).toBe(6);
  });
});
