import type { Mailsvc } from "@mailsvc/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { listBarriers } from "./barriers.ts";
import { createStage, PATIENCE_MS, type Stage } from "./browser.ts";
import { tabTo } from "./keyboard.ts";
import { type Look, testLooks } from "./looks.ts";
import { connect, fillAudience, publish } from "./marketing.ts";
import { VECTORS } from "./vectors.ts";
import { waitUntil } from "./waiting.ts";

let stage: Stage;
let sdk: Mailsvc;
let series = "";
let draft = "";
let reader = "";
let quiet = "";

beforeAll(async () => {
  stage = await createStage();
  sdk = connect(stage);
  const { list } = await fillAudience(sdk, 8);
  const [hello, tips] = [await publish(sdk, "hello", "Welcome, {{firstName}}"), await publish(sdk, "tips", "Three tips")];
  series = (
    await sdk.automations.create({
      name: "Welcome series",
      description: "For everybody who signs up",
      trigger: { type: "contact.created" },
      goal: { type: "tag.added", tag: "customer" },
      steps: [
        { id: "hello", type: "send_email", templateId: hello },
        { id: "opened", type: "wait_for_event", event: { type: "event", name: "email.opened" }, timeout: "3d" },
        { id: "engaged", type: "add_tag", tag: "engaged" },
        { id: "is-gold", type: "condition", rule: { field: "tags", operator: "contains", value: "gold" } },
        { id: "tips", type: "send_email", templateId: tips },
        { id: "list", type: "add_to_list", listId: list.id },
        { id: "week", type: "delay", for: "7d" },
        { id: "stop", type: "exit", reason: "no interest" },
      ],
      connections: [
        { from: "trigger", to: "hello" },
        { from: "hello", to: "opened" },
        { from: "opened", to: "engaged", branch: "event" },
        { from: "opened", to: "is-gold", branch: "timeout" },
        { from: "is-gold", to: "tips", branch: "yes" },
        { from: "is-gold", to: "stop", branch: "no" },
        { from: "engaged", to: "list" },
        { from: "tips", to: "list" },
        { from: "list", to: "week" },
      ],
    })
  ).id;
  await sdk.automations.activate(series);
  draft = (
    await sdk.automations.create({ name: "Empty draft", trigger: { type: "list.joined", listId: list.id }, steps: [], connections: [] })
  ).id;
  reader = (await sdk.contacts.create({ email: "opened+reader@simulator.mailsvc.test", firstName: "Ada" })).id;
  quiet = (await sdk.contacts.create({ email: "delivered+quiet@simulator.mailsvc.test", firstName: "Joan" })).id;
  for (const id of [reader, quiet])
    await waitUntil(async () => (await sdk.automations.entries(series, { contact: id }).toArray()).length > 0);
  await waitUntil(async () => (await sdk.contacts.get(reader)).tags.includes("engaged"));
  await sdk.clock.advance({ by: "4d" });
  await waitUntil(async () => (await sdk.automations.entries(series, { contact: quiet }).toArray())[0]?.status === "EXITED");
}, PATIENCE_MS * 3);
afterAll(() => stage?.[Symbol.asyncDispose]());

const pages = (): readonly Look[] => [
  ["automations", "/dashboard/automations", "Empty draft"],
  ["automation", `/dashboard/automations/${series}`, "entries"],
  ["automation-empty", `/dashboard/automations/${draft}`, "It has no steps yet"],
  ["automation-entries", `/dashboard/automations/${series}?tab=entries`, "no interest"],
  ["automation-dry-run", `/dashboard/automations/${series}?tab=dry-run`, "Nothing is changed, and no mail is sent."],
  ["automation-versions", `/dashboard/automations/${series}?tab=versions`, "newest"],
  ["automation-settings", `/dashboard/automations/${series}?tab=settings`, "A contact may enter again"],
  ["automation-entry", `/dashboard/automations/${series}/entries/${reader}`, "The path"],
  ["automation-edit", `/dashboard/automations/${series}/edit`, "What follows"],
];

testLooks({
  open: (...args) => stage.open(...args),
  pages,
});

test(
  "a person finds a contact, sees its path in the graph with times, and why another one left",
  async () => {
    const { page, faults } = await stage.open("/dashboard/automations");
    await page.getByRole("link", { name: "Welcome series" }).click();
    await page
      .getByRole("button", { name: /^Send “Welcome/ })
      .getByText("2 came")
      .waitFor();
    await page.locator(".branch", { hasText: "it happens 1" }).waitFor();
    await page.getByRole("tab", { name: /^Entries/ }).click();
    await page.getByRole("link", { name: "opened+reader@simulator.mailsvc.test" }).click();
    const path = page.getByRole("complementary", { name: "The path" });
    await path.getByText("Add tag “engaged”").waitFor();
    await path.getByText("→ it happens").waitFor();
    await path.locator("a[href*='/activity/em_']").first().waitFor();
    const taken = await page
      .locator(".flow-graph .step.taken")
      .evaluateAll((all) => all.map((one) => (one as HTMLElement).dataset["step"]));
    expect(taken.sort()).toEqual(["engaged", "hello", "list", "opened", "trigger", "week"]);
    await expect.poll(() => page.locator(".flow-graph .edge.taken").count()).toBe(5);
    await page.goto(`/dashboard/automations/${series}/entries/${quiet}`);
    await path.getByText("Left").waitFor();
    await path.getByText("no interest").last().waitFor();
    await expect.poll(() => page.locator('.flow-graph .step.taken[data-step="engaged"]').count()).toBe(0);
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "by keyboard alone, a person walks the graph, reads it as a list, and pauses and resumes the automation",
  async () => {
    const { page, faults } = await stage.open(`/dashboard/automations/${series}`);
    await page.locator(".flow-graph .step").first().waitFor();
    await tabTo(page, /^When/);
    for (const [key, step] of [
      ["ArrowDown", "hello"],
      ["ArrowDown", "opened"],
      ["ArrowDown", "engaged"],
      ["ArrowUp", "opened"],
    ] as const) {
      await page.keyboard.press(key);
      await page.locator(`[data-step="${step}"]:focus`).waitFor();
    }
    await page.getByRole("complementary", { name: "The chosen step" }).getByText("Wait here").waitFor();
    // Back over the buttons that zoom, which stand before the graph.
    while ((await page.evaluate(() => document.activeElement?.textContent)) !== "List") await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Enter");
    await page.getByRole("listitem").filter({ hasText: "not in time: If Tags include gold" }).waitFor();
    await page.reload();
    await tabTo(page, /^Pause/);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Pause Welcome series?" }).waitFor();
    await tabTo(page, /^Pause/);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Resume" }).first().waitFor();
    expect(await sdk.automations.get(series)).toMatchObject({ status: "PAUSED" });
    await tabTo(page, /^Resume/);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Resume Welcome series?" }).waitFor();
    await tabTo(page, /^Resume/);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Pause" }).first().waitFor();
    expect(await sdk.automations.get(series)).toMatchObject({ status: "ACTIVE" });
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 3,
);

test(
  "a person makes an automation, sees what is wrong at its line, tries it for a contact, saves and activates it",
  async () => {
    const { page, faults } = await stage.open("/dashboard/automations");
    await page.getByRole("button", { name: "New automation" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("Second welcome");
    await page.getByLabel("First mail", { exact: false }).selectOption({ label: "Welcome, {{firstName}}" });
    await page.getByRole("button", { name: "Create the draft" }).click();
    await page.waitForURL(/\/edit$/);
    const id = /aut_\w+/.exec(page.url())?.[0] ?? "";
    await page.getByRole("tab", { name: "JSON" }).click();
    await page.locator('[data-step="wait"]').click();
    await page.getByLabel("Kind of the step to add after wait").selectOption({ label: "Ask a condition" });
    await page.getByRole("button", { name: "Add a step after wait" }).click();
    await page.locator('[data-step="condition"]').waitFor();
    const text = page.getByRole("textbox", { name: "The definition as JSON" });
    const right = await text.inputValue();
    await text.fill(right.replace('"to": "condition"', '"to": "nowhere"'));
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: /^Line \d+: .*There is no step "nowhere"/ }).click();
    const line = await text.evaluate((area: HTMLTextAreaElement) => area.value.slice(0, area.selectionStart).split("\n").length);
    expect((await text.inputValue()).split("\n")[line - 1]).toContain("nowhere");
    await text.fill(`${right}x`);
    await page.getByText(/^This is not valid JSON yet/).waitFor();
    expect(await page.getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
    await text.fill(right);
    await page.getByPlaceholder("ada@example.com").fill("opened+reader@simulator.mailsvc.test");
    await page.getByRole("button", { name: "Try" }).click();
    await page.getByText("“Welcome, Ada” from news@acme.example").waitFor();
    await page.getByText("Would come to the end").waitFor();
    expect(await sdk.automations.get(id)).toMatchObject({ version: 1, steps: { length: 2 } });
    expect((await sdk.automations.entries(id).toArray()).length).toBe(0);
    await page.getByRole("button", { name: "Save" }).click();
    await page.waitForURL((url) => url.pathname === `/dashboard/automations/${id}`);
    await page.getByRole("button", { name: "Activate" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Activate" }).click();
    await page.getByRole("button", { name: "Pause" }).waitFor();
    expect(await sdk.automations.get(id)).toMatchObject({ status: "ACTIVE", version: 2, steps: { length: 3 } });
    await sdk.automations.pause(id);
    await page.getByRole("button", { name: "Archive" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Archive" }).click();
    await page.getByRole("button", { name: "Unarchive" }).waitFor();
    await expect.poll(() => page.getByRole("link", { name: "Edit", exact: true }).count()).toBe(0);
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 3,
);

test(
  "by keyboard alone, a person adds steps in a form, moves, changes and removes them, and what the server refuses stands at its field",
  async () => {
    const { id } = await sdk.automations.create({
      name: "By form",
      trigger: { type: "contact.created" },
      steps: [{ id: "wait", type: "delay", for: "3d" }],
      connections: [{ from: "trigger", to: "wait" }],
    });
    const { page, faults } = await stage.open(`/dashboard/automations/${id}/edit`);
    const { keyboard } = page;
    const read = async () => (await sdk.automations.get(id, {})) as { steps: object[]; connections: object[] };
    const add = async (after: string, kind: string): Promise<void> => {
      await page.getByLabel(`Kind of the step to add after ${after}`, { exact: true }).focus();
      await keyboard.type(kind);
      await keyboard.press("Tab");
      await keyboard.press("Enter");
    };
    await page.getByLabel("How long").waitFor();
    await add("wait", "Ask a");
    await page.getByRole("group", { name: "Condition", exact: true }).waitFor();
    await page.getByLabel("Value", { exact: true }).focus();
    await keyboard.press("Control+A");
    await keyboard.type("gold");
    await add("condition, no", "Add a tag");
    const tag = page.getByRole("textbox", { name: /^Tag\b/ });
    await tag.focus();
    await keyboard.press("Control+A");
    await keyboard.press("Delete");
    await tabTo(page, /^Save/);
    await keyboard.press("Enter");
    await page.getByRole("alert").filter({ hasText: "1 character" }).or(page.locator(".hint.wrong")).first().waitFor();
    expect(await tag.getAttribute("aria-invalid")).toBe("true");
    expect(await read()).toMatchObject({ steps: { length: 1 } });
    await tag.focus();
    await keyboard.type("silver");
    await page.getByRole("textbox", { name: /^Id\b/ }).focus();
    await keyboard.press("Control+A");
    await keyboard.type("not-gold");
    await keyboard.press("Tab");
    await page.locator('[data-form-step="not-gold"]').waitFor();
    await page.getByRole("button", { name: "Move up" }).focus();
    await keyboard.press("Enter");
    await page.getByRole("list", { name: "The steps" }).locator("li").nth(2).getByText("silver").first().waitFor();
    await page.locator('[data-form-step="wait"]').focus();
    await keyboard.press("Enter");
    await page.getByRole("button", { name: "Remove the step" }).focus();
    await keyboard.press("Enter");
    // The focus goes on from what stands before it.
    await page.locator('[data-form-step="trigger"]:focus').waitFor();
    await tabTo(page, /^Save/);
    await keyboard.press("Enter");
    await page.waitForURL((url) => url.pathname === `/dashboard/automations/${id}`);
    const { steps, connections } = await read();
    expect(steps).toHaveLength(2);
    expect(steps).toEqual(
      expect.arrayContaining([
        { id: "not-gold", type: "add_tag", tag: "silver" },
        { id: "condition", type: "condition", rule: { all: [{ field: "tags", operator: "contains", value: "gold" }] } },
      ]),
    );
    expect(connections).toEqual(
      expect.arrayContaining([
        { from: "trigger", to: "not-gold" },
        { from: "not-gold", to: "condition" },
      ]),
    );
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 3,
);

test(
  "a step is put into an arrow by the beginning of its name, with the keys alone, and the graph is zoomed and fitted in",
  async () => {
    const { id } = await sdk.automations.create({
      name: "Arrows",
      trigger: { type: "contact.created" },
      steps: [
        { id: "wait", type: "delay", for: "3d" },
        { id: "tag", type: "add_tag", tag: "seen" },
      ],
      connections: [
        { from: "trigger", to: "wait" },
        { from: "wait", to: "tag" },
      ],
    });
    const { page, faults } = await stage.open(`/dashboard/automations/${id}/edit`);
    await page.getByRole("button", { name: "Add a step after “Wait 3 days”, before “Add tag “seen””" }).focus();
    await page.keyboard.press("Enter");
    const search = page.getByRole("combobox", { name: "Kind of step" });
    await search.waitFor();
    expect(await search.evaluate((input) => input === document.activeElement)).toBe(true);
    expect(await listBarriers({ page })).toEqual([]);
    await page.keyboard.type("sp");
    await page
      .getByRole("listbox", { name: "Kinds of steps" })
      .getByRole("option", { name: /^Split/ })
      .waitFor();
    await page.keyboard.press("Enter");
    await page.locator('[data-step="split"]').waitFor();
    await page.getByRole("button", { name: /^Add a step after “Wait 3 days”, before “Split/ }).waitFor();
    const zoomed = page.getByRole("status", { name: "Zoom" });
    const before = Number.parseInt((await zoomed.textContent()) ?? "", 10);
    await page.locator('[data-step="wait"]').focus();
    await page.keyboard.press("-");
    await expect.poll(async () => Number.parseInt((await zoomed.textContent()) ?? "", 10)).toBeLessThan(before);
    await page.getByRole("button", { name: "Fit", exact: true }).click();
    const hidden = await page
      .locator(".flow-area")
      .evaluate((area) => [area.scrollWidth - area.clientWidth, area.scrollHeight - area.clientHeight]);
    expect(Math.max(...hidden)).toBeLessThanOrEqual(2);
    await page.getByRole("button", { name: "Save" }).click();
    await page.waitForURL((url) => url.pathname === `/dashboard/automations/${id}`);
    const { connections } = await sdk.automations.get(id, {});
    expect(connections.map(({ from, to }) => `${from} ${to}`)).toEqual(expect.arrayContaining(["trigger wait", "wait split", "split tag"]));
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "two people who change one automation do not overwrite each other",
  async () => {
    const { id } = await sdk.automations.create({
      name: "Shared",
      trigger: { type: "contact.created" },
      steps: [{ id: "wait", type: "delay", for: "3d" }],
      connections: [{ from: "trigger", to: "wait" }],
    });
    const { page, faults } = await stage.open(`/dashboard/automations/${id}/edit`);
    await page.getByLabel("How long").fill("5d");
    // Fields that are not edited here do not conflict.
    await sdk.automations.update(id, { name: "Renamed" });
    await sdk.automations.update(id, { trigger: { type: "replied" } });
    await page.getByRole("button", { name: "Save" }).click();
    const conflict = page.getByRole("alert", { name: "Changed by somebody else" });
    await conflict.getByText("They differ in: definition.").waitFor();
    expect((await sdk.automations.get(id, {})).version).toBe(1);
    await conflict.getByRole("button", { name: "Take theirs" }).click();
    await page.getByRole("button", { name: "When a contact answers a mail" }).waitFor();
    expect(await page.getByLabel("How long").inputValue()).toBe("3d");
    await page.getByLabel("How long").fill("5d");
    await sdk.automations.update(id, { name: "Renamed again" });
    await page.getByRole("button", { name: "Save" }).click();
    await page.waitForURL((url) => url.pathname === `/dashboard/automations/${id}`);
    expect(await sdk.automations.get(id, {})).toMatchObject({ name: "Renamed again", steps: [{ for: "5d" }] });
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "hostile names, tags and reasons execute nothing",
  async () => {
    const { page, faults } = await stage.open("/dashboard/automations");
    let executed = 0;
    page.context().on("console", (message) => {
      if (message.text() === "executed") executed += 1;
    });
    const steps = VECTORS.map((vector, i) => ({
      id: `s${i}`,
      type: "add_tag" as const,
      tag: `hostile ${vector.replaceAll(/[\s,]+/g, " ")}`.slice(0, 90),
    }));
    const { id } = await sdk.automations.create({
      name: `hostile ${VECTORS[3]}`,
      description: VECTORS.join(" ").slice(0, 1000),
      trigger: { type: "tag.added", tag: `hostile ${VECTORS[3]}`.slice(0, 90) },
      steps: [...steps, { id: "end", type: "exit", reason: `hostile ${VECTORS[0]}` }],
      connections: [
        ...steps.map(({ id: to }, i) => ({ from: i === 0 ? "trigger" : `s${i - 1}`, to })),
        { from: `s${steps.length - 1}`, to: "end" },
      ],
    });
    for (const path of ["", `/${id}`, `/${id}?tab=settings`, `/${id}?tab=dry-run`, `/${id}/edit`]) {
      await page.goto(`/dashboard/automations${path}`);
      await page
        .locator("main")
        .getByText(/hostile/)
        .first()
        .waitFor({ state: "attached" });
      expect(await page.locator("main :is(img, script, iframe, object, embed, video, base, meta, style)").count(), path).toBe(0);
    }
    expect(executed).toBe(0);
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "settings that a colleague has changed meanwhile are not overwritten without a word",
  async () => {
    const { id } = await sdk.automations.create({ name: "Shared", trigger: { type: "contact.created" }, steps: [], connections: [] });
    const { page, faults } = await stage.open(`/dashboard/automations/${id}?tab=settings`);
    await page.getByLabel("Description").fill("Mine");
    const { revision } = await sdk.automations.update(id, { description: "Theirs" });
    // The page has seen the newer revision, and what was typed still stands on the older one.
    await page.waitForResponse(
      async (response) =>
        new URL(response.url()).pathname === `/api/v1/automations/${id}` &&
        ((await response.json()) as { revision: number }).revision === revision,
    );
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("alert", { name: "Changed by somebody else" }).getByText("They differ in: description.").waitFor();
    expect(await page.getByLabel("Description").inputValue()).toBe("Mine");
    expect((await sdk.automations.get(id)).description).toBe("Theirs");
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "a link does not take a person away from a definition that is not saved before they agree",
  async () => {
    const { page, faults } = await stage.open(`/dashboard/automations/${draft}/edit`);
    await page.getByRole("tab", { name: "JSON" }).click();
    const text = page.getByRole("textbox", { name: "The definition as JSON" });
    const before = await text.inputValue();
    await text.fill(`${before}\n`);
    const back = page.getByRole("link", { name: "Empty draft" });
    const answers: boolean[] = [false, true];
    page.on("dialog", (dialog) => void (answers.shift() ? dialog.accept() : dialog.dismiss()));
    await back.click();
    expect(await text.inputValue()).toBe(`${before}\n`);
    expect(new URL(page.url()).pathname).toBe(`/dashboard/automations/${draft}/edit`);
    await back.click();
    await page.waitForURL((url) => url.pathname === `/dashboard/automations/${draft}`);
    expect(answers).toEqual([]);
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);
