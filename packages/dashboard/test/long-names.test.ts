import { afterAll, beforeAll, expect, test } from "vitest";
import { createStage, PATIENCE_MS, type Stage } from "./browser.ts";
import { DEVICES } from "./looks.ts";
import { connect } from "./marketing.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await createStage();
}, PATIENCE_MS * 2);
afterAll(() => stage?.[Symbol.asyncDispose]());

test(
  "names and addresses without a space, as long as the server takes them, make no page wider than the window",
  async () => {
    const sdk = connect(stage);
    const name = "W".repeat(100);
    await sdk.lists.create({ name });
    const webhook = await sdk.webhooks.create({ url: `https://example.com/${"h".repeat(400)}`, events: ["*"] });
    const automation = await sdk.automations.create({ name, trigger: { type: "contact.created" }, steps: [], connections: [] });
    const { page, faults } = await stage.open("/dashboard");
    for (const [path, text] of [
      ["contacts", "Contacts"],
      ["lists", name],
      [`webhooks/${webhook.id}`, "Rotate the secret"],
      [`automations/${automation.id}`, "Activate"],
      [`automations/${automation.id}/edit`, "Save"],
    ] as const) {
      for (const viewport of [DEVICES.phone, { width: 1280, height: 800 }]) {
        await page.setViewportSize(viewport);
        await page.goto(`/dashboard/${path}`);
        await page.locator("main").getByText(text, { exact: true }).first().waitFor();
        if (path === "contacts") await page.locator(".filters option", { hasText: name }).waitFor({ state: "attached" });
        const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect(wider, `${path} at ${viewport.width}`).toBeLessThanOrEqual(0);
      }
    }
    expect(faults).toEqual([]);
  },
  PATIENCE_MS * 3,
);
