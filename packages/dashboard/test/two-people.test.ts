import type { Mailsvc } from "@mailsvc/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createStage, PATIENCE_MS, type Stage } from "./browser.ts";
import { connect } from "./marketing.ts";
import { waitUntil } from "./waiting.ts";

// Dialogs that are open while something else happens to what they change.

const MAIL_PROGRAM = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36";

let stage: Stage;
let sdk: Mailsvc;
beforeAll(async () => {
  stage = await createStage();
  sdk = connect(stage);
}, PATIENCE_MS * 2);
afterAll(() => stage?.[Symbol.asyncDispose]());

test(
  "what is chosen and typed for sending a campaign again stays while its readers open it",
  async () => {
    await sdk.contacts.create({ email: "ada@example.com" });
    const spring = { name: "Spring", subjectLine: "Spring is here", fromEmail: "news@acme.example", html: "<p>Spring</p>" };
    const { id } = await sdk.campaigns.create(spring);
    await sdk.campaigns.send(id);
    await waitUntil(async () => (await sdk.campaigns.get(id)).status === "SENT");
    const { page, faults } = await stage.open(`/dashboard/campaigns/${id}`);
    await page.getByRole("button", { name: "Send again" }).click();
    const dialog = page.getByRole("dialog", { name: "Send it again" });
    await dialog.getByLabel("To those whom it did not reach").check();
    await dialog.getByRole("textbox", { name: "Subject" }).fill("Did you see it?");
    const opened = page.locator("dl.figures div", { hasText: "Opened" }).locator("dd");
    const before = await opened.textContent();
    const { html } = await sdk.inbox.wait({ to: "ada@example.com", timeout: 60 });
    // Sooner, and without a mail program's name, it counts as a machine.
    await sdk.clock.advance({ by: "1h" });
    await fetch(/src="([^"]+\/t\/o\/[^"]+)"/.exec(html ?? "")?.[1] ?? "", { headers: { "user-agent": MAIL_PROGRAM } });
    await expect.poll(() => opened.textContent()).not.toBe(before);
    expect(await dialog.getByLabel("To those whom it did not reach").isChecked()).toBe(true);
    expect(await dialog.getByRole("textbox", { name: "Subject" }).inputValue()).toBe("Did you see it?");
    await dialog.getByRole("button", { name: "Make the draft" }).click();
    await page.waitForURL(/\/edit$/);
    expect(await sdk.campaigns.get(/cmp_\w+/.exec(page.url())?.[0] ?? "")).toMatchObject({ subjectLine: "Did you see it?" });
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "of two people who change one object, neither takes back what the other has changed",
  async () => {
    const list = await sdk.lists.create({ name: "Letters", description: "Once a month" });
    const webhook = await sdk.webhooks.create({ url: "http://127.0.0.1:9/one", description: "The shop" });
    const { page, faults } = await stage.open(`/dashboard/lists/${list.id}`);
    const dialog = page.locator("dialog[open]");
    const save = async (): Promise<void> => {
      await dialog.getByRole("button", { name: "Save" }).click();
      await dialog.waitFor({ state: "detached" });
    };
    await page.getByRole("button", { name: "Settings" }).click();
    await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("Letters from Acme");
    await sdk.lists.update(list.id, { description: "Twice a month" });
    await save();
    expect(await sdk.lists.get(list.id)).toMatchObject({ name: "Letters from Acme", description: "Twice a month" });

    await page.goto(`/dashboard/webhooks/${webhook.id}`);
    await page.getByRole("button", { name: "Change" }).click();
    await dialog.getByLabel("Alert").fill("ops@acme.example");
    await sdk.webhooks.update(webhook.id, { url: "http://127.0.0.1:9/two" });
    await save();
    expect(await sdk.webhooks.get(webhook.id)).toMatchObject({ url: "http://127.0.0.1:9/two", alertEmail: "ops@acme.example" });
    // Nothing is changed.
    await page.getByRole("button", { name: "Change" }).click();
    await save();
    expect(await sdk.webhooks.get(webhook.id)).toMatchObject({ description: "The shop", alertEmail: "ops@acme.example" });
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);
