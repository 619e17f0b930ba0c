import type { Mailsvc } from "@mailsvc/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createStage, PATIENCE_MS, type Stage } from "./browser.ts";
import { connect, publish } from "./marketing.ts";
import { waitUntil } from "./waiting.ts";

// Whole ways of a marketer, from a file of people to what one of them read.

let stage: Stage;
let sdk: Mailsvc;
beforeAll(async () => {
  stage = await createStage();
  sdk = connect(stage);
}, PATIENCE_MS * 2);
afterAll(() => stage?.[Symbol.asyncDispose]());

const READERS = 12;
const FILE = [
  "Email,First name,City",
  ...Array.from(
    { length: READERS },
    (_, i) => `opened+fair${i}@simulator.mailsvc.test,${i === 3 ? "" : `Reader ${i}`},${i % 2 ? "Basel" : "Bern"}`,
  ),
].join("\n");

test(
  "a marketer brings people from a file, makes a segment of them, tries two subjects, and sees that one of them has read it",
  async () => {
    const { page, faults } = await stage.open("/dashboard/contacts/import");
    await page.getByLabel("Choose a file").setInputFiles({ name: "fair.csv", mimeType: "text/csv", buffer: Buffer.from(FILE) });
    await page.getByRole("textbox", { name: /^Tag for everybody/ }).fill("fair 2027");
    await page.getByRole("button", { name: "Import", exact: true }).click();
    await page.getByRole("heading", { name: "fair.csv is imported" }).waitFor();
    await page.getByRole("link", { name: "Segments" }).click();
    await page.getByRole("link", { name: "Add a segment" }).click();
    await page.getByLabel("Name", { exact: true }).fill("From the fair");
    await page
      .getByRole("group", { name: /^Condition/ })
      .first()
      .getByLabel("Value", { exact: true })
      .fill("fair 2027");
    await page.getByText(`${READERS} people match`).waitFor();
    await page.getByRole("button", { name: "Create the segment" }).click();
    await page.getByText(`${READERS} people`, { exact: true }).waitFor();

    await page.getByRole("link", { name: "Campaigns" }).click();
    await page.getByRole("button", { name: "New campaign" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("After the fair");
    await page.getByRole("textbox", { name: "Subject" }).fill("It was good to meet you");
    await page.getByRole("combobox", { name: "From" }).fill("news@acme.example");
    await page.getByRole("button", { name: "Create the draft" }).click();
    await page.waitForURL(/\/edit$/);
    const id = /cmp_\w+/.exec(page.url())?.[0] ?? "";
    const audience = page.getByRole("region", { name: "Audience" });
    await audience.getByLabel("Lists and segments").check();
    await audience.getByLabel("Send to: add a list or segment").selectOption({ label: `From the fair (${READERS} contacts)` });
    await audience.getByText(`${READERS} people`).waitFor();
    const blocks = page.getByRole("region", { name: "Blocks" });
    await blocks.getByRole("group", { name: "Add a block" }).getByRole("button", { name: "Heading", exact: true }).click();
    await blocks.getByRole("textbox", { name: "Heading" }).fill("Hello ");
    await blocks.getByRole("button", { name: "Variable" }).click();
    const menu = page.getByRole("dialog", { name: "Put in a variable" });
    await menu.getByRole("combobox", { name: "Variable" }).selectOption("firstName");
    await menu.getByRole("textbox", { name: "If it is empty" }).fill("visitor");
    await menu.getByRole("button", { name: "Put it in" }).click();
    await page.getByRole("button", { name: "Test another subject or content" }).click();
    await page.getByRole("group", { name: "Variant B" }).getByRole("textbox", { name: "Subject" }).fill("What you saw at the fair");
    await page.getByRole("combobox", { name: "Test on" }).selectOption({ label: "everybody" });
    await page.getByText("Draft · Saved").waitFor();

    await page.getByRole("button", { name: "Send a test" }).click();
    await page.locator("dialog[open]").getByRole("textbox", { name: /^To/ }).fill("me@acme.example");
    await page.locator("dialog[open]").getByRole("button", { name: "Send", exact: true }).click();
    await page.getByText(/^\d tests? sent/).waitFor();
    await sdk.inbox.wait({ to: "me@acme.example", timeout: 60 });

    await page.getByRole("button", { name: "Review and send" }).click();
    await page.getByRole("radio", { name: "At a time" }).check();
    await page.getByRole("button", { name: "Schedule" }).click();
    await page.getByRole("heading", { name: /^Sending starts on/ }).waitFor();
    expect((await sdk.campaigns.get(id)).status).toBe("SCHEDULED");
    await page.getByRole("button", { name: "Send now" }).click();
    await page.locator("dialog[open]").getByText(`${READERS} people get it.`).waitFor();
    await page.locator("dialog[open]").getByRole("button", { name: "Send now" }).click();
    await waitUntil(async () => (await sdk.campaigns.stats(id)).opens.unique === READERS);
    const { variants } = await sdk.campaigns.stats(id);
    expect(variants.map(({ recipients }) => recipients.total).sort()).toEqual([READERS / 2, READERS / 2]);
    await page.getByRole("tab", { name: "Report" }).click();
    await expect.poll(() => page.locator("dl.figures div", { hasText: "Opened" }).locator("dd").textContent()).toMatch(/^12 /);

    await page.keyboard.press("Control+k");
    await page.keyboard.type("fair3@");
    await page.getByRole("option", { name: /^opened\+fair3@/ }).click();
    await page
      .getByText(/^Opened /)
      .first()
      .waitFor();
    const [mail] = (await sdk.emails.list({ to: "opened+fair3@simulator.mailsvc.test" })).data;
    expect((await sdk.emails.get(mail?.id ?? "")).html).toContain("Hello visitor");
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 4,
);

test(
  "a visitor signs up with a form that a marketer has made, and gets both mails of an automation with a wait",
  async () => {
    await publish(sdk, "hello", "Welcome to Acme");
    await publish(sdk, "tips", "Three tips");
    await sdk.lists.create({ name: "Letters" });
    const { page, faults } = await stage.open("/dashboard/automations");
    await page.getByRole("button", { name: "New automation" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("For new readers");
    await page.getByLabel("First mail", { exact: false }).selectOption({ label: "Welcome to Acme" });
    await page.getByRole("button", { name: "Create the draft" }).click();
    await page.waitForURL(/\/edit$/);
    const id = /aut_\w+/.exec(page.url())?.[0] ?? "";
    await page.getByRole("button", { name: "Add a step after wait", exact: true }).click();
    await page.locator('[data-form-step="send_email"], [data-form-step^="send"]').last().waitFor();
    await page.getByRole("combobox", { name: /^Template/ }).selectOption({ label: "Three tips" });
    await page.getByRole("button", { name: "Save" }).click();
    await page.waitForURL((url) => url.pathname === `/dashboard/automations/${id}`);
    await page.getByRole("button", { name: "Activate" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Activate" }).click();
    await page.getByRole("button", { name: "Pause" }).waitFor();
    expect(await sdk.automations.get(id)).toMatchObject({ status: "ACTIVE", steps: { length: 3 } });

    await page.getByRole("link", { name: "Forms" }).click();
    await page.getByRole("button", { name: "Add a form" }).click();
    const dialog = page.getByRole("dialog", { name: "Add a sign-up form" });
    await dialog.getByLabel("Name", { exact: false }).first().fill("Letters from Acme");
    await dialog.getByLabel("List").selectOption({ label: "Letters" });
    await dialog.getByLabel("First name").check();
    await dialog.getByRole("button", { name: "Add" }).click();
    await page.getByRole("heading", { level: 1, name: "Letters from Acme" }).waitFor();
    const [form] = (await sdk.forms.list()).data;
    const visitor = await (await stage.browser.newContext()).newPage();
    await visitor.goto(form?.url ?? "");
    await visitor.locator('input[type="email"]').fill("mary@example.com");
    await visitor.locator('input[name="firstName"]').fill("Mary");
    await visitor.locator('button[type="submit"]').click();
    const asked = await sdk.inbox.wait({ to: "mary@example.com", timeout: 60, subject: "Confirm" });
    const link = /https?:\/\/[^\s"<]+/.exec(asked.text ?? "")?.[0] ?? "";
    await visitor.goto(link);
    await visitor.getByRole("button").first().click();
    await waitUntil(async () => (await sdk.lists.list()).data.some(({ name, memberCount }) => name === "Letters" && memberCount === 1));
    await visitor.context().close();
    await page.getByRole("link", { name: "mary@example.com" }).waitFor();
    await sdk.inbox.wait({ to: "mary@example.com", timeout: 60, subject: "Welcome" });
    await sdk.clock.advance({ by: "3d" });
    await sdk.inbox.wait({ to: "mary@example.com", timeout: 60, subject: "Three tips" });
    await page.goto(`/dashboard/automations/${id}?tab=entries`);
    await page.getByRole("tab", { name: "Entries" }).click();
    await page.getByRole("row").filter({ hasText: "mary@example.com" }).getByText("completed").waitFor();
    expect((await sdk.automations.entries(id).toArray()).map(({ status }) => status)).toEqual(["COMPLETED"]);
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 4,
);
