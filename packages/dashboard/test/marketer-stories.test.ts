import type { Mailsvc } from "@mailsvc/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createStage, PATIENCE_MS, type Stage } from "./browser.ts";
import { sendAfterTheFair } from "./fair-story.ts";
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

test(
  "a marketer brings people from a file, makes a segment of them, tries two subjects, and sees that one of them has read it",
  () => sendAfterTheFair(stage, sdk),
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
