import type { Mailsvc } from "@mailsvc/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createStage, PATIENCE_MS, type Stage } from "./browser.ts";
import { connect } from "./marketing.ts";
import { waitUntil } from "./waiting.ts";

// Dialogs that are open while something else happens to what they change.

let stage: Stage;
let sdk: Mailsvc;
beforeAll(async () => {
  stage = await createStage();
  sdk = connect(stage);
}, PATIENCE_MS * 2);
afterAll(() => stage?.[Symbol.asyncDispose]());

test(
  "what is typed into a dialog stays while events load the page around it again",
  async () => {
    const { id } = await sdk.webhooks.create({ url: "http://127.0.0.1:9/one" });
    const { page, faults } = await stage.open(`/dashboard/webhooks/${id}`);
    await page.getByRole("button", { name: "Change" }).click();
    const url = page.locator("dialog[open]").getByLabel("URL");
    await url.fill("http://127.0.0.1:9/two");
    const loaded = page.waitForResponse((response) => response.url().endsWith(`/webhooks/${id}`) && response.request().method() === "GET");
    await sdk.contacts.create({ email: "ada@example.com" });
    await (await loaded).finished();
    // Waits until it is drawn.
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
    expect(await url.inputValue()).toBe("http://127.0.0.1:9/two");
    await page.locator("dialog[open]").getByRole("button", { name: "Save" }).click();
    await waitUntil(async () => (await sdk.webhooks.get(id)).url === "http://127.0.0.1:9/two");
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
