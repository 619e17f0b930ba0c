import type { Mailsvc } from "@mailsvc/sdk";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { listBarriers } from "./barriers.ts";
import { createStage, PATIENCE_MS, picture, type Stage } from "./browser.ts";
import { tabTo } from "./keyboard.ts";
import { connect, fillAudience } from "./marketing.ts";
import { paint } from "./pictures/paint.ts";
import { waitUntil } from "./waiting.ts";

let stage: Stage;
let sdk: Mailsvc;

beforeAll(async () => {
  stage = await createStage();
  sdk = connect(stage);
  await fillAudience(sdk, 4);
  await sdk.contacts.create({ email: "ada@example.com", firstName: "Ada", customFields: { plan: "gold" } });
}, PATIENCE_MS);
afterAll(() => stage?.[Symbol.asyncDispose]());

const draft = async (name: string): Promise<string> =>
  (await sdk.campaigns.create({ name, subjectLine: "Spring is here", fromEmail: "news@acme.example", fromName: "Acme" })).id;

const kindsOf = async (id: string): Promise<string> => ((await sdk.campaigns.get(id)).blocks ?? []).map(({ type }) => type).join(" ");

/** Drags one element above the middle of another, as a hand does. */
async function drag(page: Page, from: string, above: string): Promise<void> {
  const handle = page.getByRole("button", { name: from });
  await handle.scrollIntoViewIfNeeded();
  const start = await handle.boundingBox();
  const target = await page.getByRole("listitem", { name: above }).boundingBox();
  if (!start || !target) throw new Error("There is nothing to drag.");
  await page.mouse.move(start.x + start.width / 2, start.y + start.height / 2);
  await page.mouse.down();
  await page.mouse.move(start.x + 20, start.y - 10, { steps: 4 });
  await page.mouse.move(target.x + 30, target.y + 4, { steps: 8 });
  await page.mouse.up();
}

test(
  "a marketer writes a campaign in blocks with the mouse, with a picture and a variable, tests it and sends it",
  async () => {
    const id = await draft("Spring");
    const { page, faults } = await stage.open(`/dashboard/campaigns/${id}/edit`, { viewport: { width: 1280, height: 900 } });
    const editor = page.getByRole("region", { name: "Blocks" });
    const add = (kind: string) =>
      editor.getByRole("group", { name: "Add a block" }).getByRole("button", { name: kind, exact: true }).click();
    const saved = () => page.getByText("Draft · Saved").waitFor();

    await add("Heading");
    await editor.getByRole("textbox", { name: "Heading" }).fill("Hello ");
    await editor.getByRole("button", { name: "Variable" }).click();
    const menu = page.getByRole("dialog", { name: "Put in a variable" });
    await menu.getByRole("combobox", { name: "Variable" }).selectOption("firstName");
    await menu.getByRole("textbox", { name: "If it is empty" }).fill("there");
    await menu.getByRole("button", { name: "Put it in" }).click();
    expect(await editor.getByRole("textbox", { name: "Heading" }).inputValue()).toBe('Hello {{default firstName "there"}}');

    await add("Text");
    const text = editor.getByRole("textbox", { name: "Text", exact: true });
    await text.fill("The new collection is in <b>.");
    await text.evaluate((area: HTMLTextAreaElement) => area.setSelectionRange(4, 7));
    await editor.getByRole("button", { name: "Bold" }).click();
    expect(await text.inputValue()).toBe("The **new** collection is in <b>.");

    await add("Picture");
    const file = {
      name: "coat.png",
      mimeType: "image/png",
      buffer: Buffer.from(paint(300, 120, [120, 120, 120], [120, 120, 120]), "base64"),
    };
    await editor.getByLabel("Picture to upload").setInputFiles(file);
    await waitUntil(async () => (await editor.getByRole("textbox", { name: "Address of the picture" }).inputValue()).includes("/a/ast_"));
    await editor.getByRole("textbox", { name: "Description" }).fill("A coat");

    await add("Button");
    await editor.getByRole("textbox", { name: "Words" }).fill("Have a look");
    await editor.getByText("Give it a link").waitFor();
    await editor.getByRole("textbox", { name: "Link", exact: true }).fill("acme.example/spring");
    await editor.getByRole("textbox", { name: "Link", exact: true }).press("Enter");
    await saved();
    expect(await kindsOf(id)).toBe("heading text image button");

    // The button moves above the picture, the divider into nothing.
    await drag(page, "Move Button “Have a look”", "Picture “A coat”");
    await waitUntil(async () => (await kindsOf(id)) === "heading text button image");
    await add("Divider");
    await editor.getByRole("button", { name: "More for Divider" }).click();
    await page.getByRole("button", { name: "Delete", exact: true }).last().click();
    await editor.getByRole("button", { name: "Undo" }).click();
    await editor.getByRole("listitem", { name: "Divider, 5 of 5" }).waitFor();
    await editor.getByRole("button", { name: "Redo" }).click();
    await saved();
    expect(await kindsOf(id)).toBe("heading text button image");

    const mail = page.frameLocator('iframe[title="The mail as HTML"]');
    await mail.getByRole("heading", { name: "Hello there" }).waitFor();
    await mail.getByText("The new collection is in <b>.").waitFor();
    // The picture is this server's, so it is shown at once.
    expect(await page.getByText("Pictures and other remote content are blocked.").count()).toBe(0);
    expect(await mail.getByRole("img", { name: "A coat" }).evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(300);
    await picture(page, "blocks-desktop");
    await page.getByRole("button", { name: "Phone" }).click();
    await page.getByRole("button", { name: "Dark" }).click();
    await mail.getByRole("heading", { name: "Hello there" }).waitFor();
    await picture(page, "blocks-phone-dark");

    await page.getByRole("button", { name: "Send a test" }).click();
    await page.getByLabel("To", { exact: false }).first().fill("me@acme.example");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByText("1 test sent").waitFor();
    await page.getByRole("button", { name: "Review and send" }).click();
    await page.getByRole("button", { name: /^Send to \d+ people$/ }).click();
    await page.getByRole("tab", { name: "Report" }).waitFor();
    const { html } = await sdk.inbox.wait({ to: "ada@example.com", timeout: 60 });
    expect(html).toContain("Hello Ada</h2>");
    expect(html).toContain("The <strong>new</strong> collection is in &lt;b&gt;.");
    expect(html).toContain('width="300"');
    expect(html).toContain("Unsubscribe");
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 3,
);

/** Presses Tab or Shift+Tab until the focus is on an element with this label. */
async function goTo(page: Page, label: RegExp, key: "Tab" | "Shift+Tab"): Promise<void> {
  for (let presses = 0; presses < 60; presses += 1) {
    const name = await page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? "");
    if (label.test(name)) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${key} does not reach ${String(label)}.`);
}

test(
  "another writes and orders blocks by keyboard alone, and hears what happens",
  async () => {
    const id = await draft("By keyboard");
    const { page, faults } = await stage.open(`/dashboard/campaigns/${id}/edit`);
    const said = page.getByRole("region", { name: "Blocks" }).getByRole("status");
    await page.getByRole("group", { name: "Add a block" }).waitFor();
    await tabTo(page, /^Heading\s*$/);
    await page.keyboard.press("Enter");
    expect(await said.textContent()).toBe("Heading added.");
    // The focus is in the new block's first field.
    await page.keyboard.type("First");
    await tabTo(page, /^Text\s*$/);
    await page.keyboard.press("Enter");
    await page.keyboard.type("Second");
    await waitUntil(async () => (await kindsOf(id)) === "heading text");

    await goTo(page, /^Move Text “Second”, 2 of 2/, "Shift+Tab");
    await page.keyboard.press("ArrowUp");
    expect(await said.textContent()).toBe("Text “Second” moved to 1 of 2.");
    expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toMatch(/^Move Text “Second”, 1 of 2/);
    await page.keyboard.press("ArrowUp");
    expect(await said.textContent()).toBe("It is already first.");
    await waitUntil(async () => (await kindsOf(id)) === "text heading");

    // Into a column, by the menu.
    await tabTo(page, /^Columns\s*$/);
    await page.keyboard.press("Enter");
    await goTo(page, /^More for Heading “First”/, "Shift+Tab");
    await page.keyboard.press("Enter");
    await tabTo(page, /^Move into column 2/);
    await page.keyboard.press("Enter");
    expect(await said.textContent()).toBe("Heading “First” moved to 1 of 1 in column 2.");
    await waitUntil(async () => (await kindsOf(id)) === "text columns");

    await goTo(page, /^Move Text “Second”/, "Shift+Tab");
    await page.keyboard.press("Delete");
    expect(await said.textContent()).toBe("Text “Second” deleted. Undo brings it back.");
    await waitUntil(async () => (await kindsOf(id)) === "columns");
    for (const press of ["Shift+Tab", "Shift+Tab"]) {
      await page.keyboard.press(press);
      if (await page.evaluate(() => document.activeElement?.textContent === "Undo")) break;
    }
    await page.keyboard.press("Enter");
    await waitUntil(async () => (await kindsOf(id)) === "text columns");
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 3,
);

test(
  "two variants with blocks of their own are edited on one page, and each reader gets one of them",
  async () => {
    const id = await draft("Two mails");
    await sdk.campaigns.update(id, { blocks: [{ type: "heading", text: "Of A" }] });
    const { page, faults } = await stage.open(`/dashboard/campaigns/${id}/edit`, { viewport: { width: 1280, height: 900 } });
    await page.getByRole("button", { name: "Test another subject or content" }).click();
    await page.getByRole("combobox", { name: "Content" }).selectOption("Its own blocks");
    const own = page.getByRole("region", { name: "Blocks", exact: true });
    const other = page.getByRole("region", { name: "Blocks of variant B" });
    // It begins as a copy.
    await other.getByRole("button", { name: /^Heading Of A/ }).click();
    await other.getByRole("textbox", { name: "Heading" }).fill("Of B");
    await other.getByRole("group", { name: "Add a block" }).getByRole("button", { name: "Text", exact: true }).click();
    await other.getByRole("textbox", { name: "Text", exact: true }).fill("Only here");
    await own.getByRole("group", { name: "Add a block" }).getByRole("button", { name: "Divider", exact: true }).click();

    // Both editors have a second block; the keys move that which has the focus.
    await other.getByRole("button", { name: /^Move Text “Only here”, 2 of 2/ }).focus();
    await page.keyboard.press("ArrowUp");
    expect(await other.getByRole("status").textContent()).toBe("Text “Only here” moved to 1 of 2.");
    expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toMatch(/^Move Text “Only here”, 1 of 2/);
    await own.getByRole("listitem", { name: "Divider, 2 of 2" }).waitFor();
    await drag(page, "Move Heading “Of B”", "Text “Only here”");
    await page.getByText("Draft · Saved").waitFor();
    await waitUntil(async () => (await sdk.campaigns.get(id)).abTest?.variants[1]?.blocks?.length === 2);
    const { blocks, abTest } = await sdk.campaigns.get(id);
    expect(blocks?.map(({ type }) => type)).toEqual(["heading", "divider"]);
    expect(abTest?.variants[1]?.blocks?.map(({ type }) => type)).toEqual(["heading", "text"]);

    // A fault stands at the block of its variant.
    await other.getByRole("group", { name: "Add a block" }).getByRole("button", { name: "Button", exact: true }).click();
    await other.getByRole("textbox", { name: "Link", exact: true }).fill("javascript:alert(1)");
    await other.getByRole("textbox", { name: "Link", exact: true }).press("Tab");
    await other.getByRole("alert").filter({ hasText: "An address begins with https://" }).waitFor();
    await other.getByRole("textbox", { name: "Link", exact: true }).fill("https://acme.example");
    await other.getByRole("textbox", { name: "Words" }).fill("Go");
    await page.getByText("Draft · Saved").waitFor();

    await page.getByRole("group", { name: "Variant", exact: true }).getByRole("button", { name: "B", exact: true }).click();
    await page.frameLocator('iframe[title="The mail as HTML"]').getByRole("heading", { name: "Of B" }).waitFor();
    await picture(page, "blocks-variants");
    await page.getByRole("combobox", { name: "Test on" }).selectOption({ label: "everybody" });
    await page.getByRole("button", { name: "Review and send" }).click();
    await page.getByText("Spring is here, with its own content").waitFor();
    await page.getByRole("button", { name: /^Send to \d+ people$/ }).click();
    await waitUntil(async () => (await sdk.campaigns.get(id)).status === "SENT");
    const bodies = (await sdk.emails.list({ campaign: id, limit: 100 })).data.map(
      async ({ id: email }) => (await sdk.emails.get(email)).html,
    );
    const texts = await Promise.all(bodies);
    expect(texts.filter((html) => html?.includes("Of A")).length).toBeGreaterThan(0);
    expect(texts.filter((html) => html?.includes("Of B") && html.includes("Only here")).length).toBeGreaterThan(0);
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 3,
);

test(
  "HTML is written with indents by Tab, and Escape leads out of it",
  async () => {
    const id = await draft("Source");
    await sdk.campaigns.update(id, { html: "<p>Hi</p>" });
    const { page, faults } = await stage.open(`/dashboard/campaigns/${id}/edit`);
    const source = page.getByRole("textbox", { name: "HTML" });
    await source.focus();
    await page.keyboard.press("Control+Home");
    await page.keyboard.press("Tab");
    expect(await source.inputValue()).toBe("  <p>Hi</p>");
    const { height } = (await source.boundingBox()) ?? { height: 0 };
    await page.keyboard.type("<br>\n".repeat(30));
    expect((await source.boundingBox())?.height).toBeGreaterThan(height);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Tab");
    expect(await source.evaluate((field) => field === document.activeElement)).toBe(false);
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "what is wrong is said at its block, and the rest is saved once it is mended",
  async () => {
    const id = await draft("Faults");
    await sdk.campaigns.update(id, {
      blocks: [
        { type: "heading", text: "Hi" },
        { type: "button", label: "Go", href: "https://acme.example" },
      ],
    });
    const { page, faults } = await stage.open(`/dashboard/campaigns/${id}/edit`);
    const editor = page.getByRole("region", { name: "Blocks" });
    await editor.getByRole("button", { name: /^Button/, expanded: false }).click();
    const link = editor.getByRole("textbox", { name: "Link", exact: true });
    await link.fill("javascript:alert(1)");
    await link.press("Tab");
    await editor.getByRole("alert").filter({ hasText: "An address begins with https://" }).waitFor();
    await page.getByText("Draft · Not saved").waitFor();
    await link.fill("ada@acme.example");
    await link.press("Tab");
    await page.getByText("Draft · Saved").waitFor();
    expect((await sdk.campaigns.get(id)).blocks?.[1]).toMatchObject({ href: "mailto:ada@acme.example" });
    await page.getByRole("button", { name: "Switch to HTML" }).click();
    await page.getByText("It cannot become blocks again.").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Switch to HTML" }).click();
    expect(await page.getByRole("textbox", { name: "HTML" }).inputValue()).toContain("Hi</h2>");
    await waitUntil(async () => (await sdk.campaigns.get(id)).blocks === null);
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "a template is written in blocks, published and sent as it was seen",
  async () => {
    const { page, faults } = await stage.open("/dashboard/templates");
    await page.getByRole("button", { name: "New template" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("Welcome in blocks");
    await page.getByRole("combobox", { name: "Written as" }).selectOption("Blocks");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.waitForURL(/\/templates\/tpl_/);
    const editor = page.getByRole("region", { name: "Blocks" });
    await editor.getByRole("button", { name: /^Text/, expanded: false }).click();
    await editor.getByRole("textbox", { name: "Text", exact: true }).fill("Your plan is {{plan}}.");
    const preview = page.getByRole("region", { name: "Preview" });
    await preview.locator("iframe").contentFrame().locator("iframe").contentFrame().getByText("Your plan is {{plan}}.").waitFor();
    await page.getByRole("button", { name: "Publish" }).click();
    await page.getByText("Published", { exact: true }).waitFor();
    const [template] = (await sdk.templates.list({ search: "Welcome in blocks" })).data;
    expect(template).toMatchObject({ kind: "BLOCKS", version: 1 });
    await sdk.templates.send("welcome-in-blocks", { to: "bob@example.com", from: "news@acme.example", variables: { plan: "gold" } });
    expect((await sdk.inbox.wait({ to: "bob@example.com", timeout: 60 })).html).toContain("Your plan is gold.");
    await picture(page, "blocks-template");
    expect(await listBarriers({ page })).toEqual([]);
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test.each([
  ["light", 1280],
  ["dark", 960],
  ["light", 390],
  ["dark", 390],
] as const)(
  "the editor has no barriers in the %s theme at %i px, with each kind of block open and its dialogs shown",
  async (colorScheme, width) => {
    const id = await draft(`Barriers ${colorScheme} ${width}`);
    await sdk.campaigns.update(id, {
      blocks: [
        { type: "heading", text: "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen und mehr" },
        { type: "text", text: "Some words, and more of them, so that one line is too short for all of it." },
        { type: "image", src: "", alt: "" },
        { type: "button", label: "Go", href: "", color: "#0a7d32" },
        {
          type: "columns",
          columns: [{ blocks: [{ type: "heading", text: "Left" }] }, { blocks: [{ type: "spacer" }, { type: "divider" }] }],
        },
      ],
    });
    const { page, faults } = await stage.open(`/dashboard/campaigns/${id}/edit`, { colorScheme, viewport: { width, height: 900 } });
    const editor = page.getByRole("region", { name: "Blocks" });
    await editor.getByRole("listitem", { name: /^Heading “Donau/ }).waitFor();
    for (const kind of ["Heading", "Text", "Picture", "Button", "Columns"]) {
      await editor
        .getByRole("button", { name: new RegExp(`^${kind}`), expanded: false })
        .first()
        .click();
      await editor.locator(".block.open").scrollIntoViewIfNeeded();
      await picture(page, `blocks-${kind}-${colorScheme}-${width}`);
      expect(await listBarriers({ page })).toEqual([]);
      const wide = await editor.evaluate(
        (root) => [...root.querySelectorAll(".block")].filter((one) => one.scrollWidth > one.clientWidth + 1).length,
      );
      expect(wide).toBe(0);
    }
    await editor.getByRole("button", { name: "More for Button" }).first().click();
    await picture(page, `blocks-menu-${colorScheme}-${width}`);
    expect(await listBarriers({ page })).toEqual([]);
    await page.keyboard.press("Escape");
    await editor.getByRole("button", { name: /^Picture/, expanded: false }).click();
    await editor.getByRole("button", { name: "Variable" }).first().click();
    await picture(page, `blocks-variable-${colorScheme}-${width}`);
    expect(await listBarriers({ page })).toEqual([]);
    await page.keyboard.press("Escape");
    await editor.getByRole("button", { name: "Choose from the library" }).click();
    await page.getByRole("dialog", { name: "Pictures of your brand" }).waitFor();
    expect(await listBarriers({ page })).toEqual([]);
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);
