import { afterAll, beforeAll, expect, test } from "vitest";
import { createStage, PATIENCE_MS, type Stage } from "./browser.ts";
import { PAYLOADS } from "./payloads.ts";

let stage: Stage;
const ids: string[] = [];
beforeAll(async () => {
  stage = await createStage();
  const html = PAYLOADS.map((payload) => ({ subject: `Mail ${payload}`, html: `<p>hostile</p>${payload}` }));
  for (const mail of html) {
    const from = '"<img src=x onerror=top.executed=1>" <hello@acme.example>';
    const { id } = await stage.call<{ id: string }>("POST", "/api/v1/send", { from, to: "ada@example.com", ...mail });
    ids.push(id);
  }
}, PATIENCE_MS * 2);
afterAll(() => stage?.[Symbol.asyncDispose]());

test(
  "hostile mails execute nothing and load nothing from elsewhere",
  async () => {
    const { page, faults } = await stage.open("/dashboard/activity");
    const elsewhere: string[] = [];
    // What the policy refuses does not get here.
    await page.context().route("https://**", async (route) => {
      elsewhere.push(route.request().url());
      await route.abort();
    });
    for (const id of ids) {
      await page.goto(`/dashboard/activity/${id}`);
      await page.frameLocator("iframe").getByText("hostile").waitFor();
      expect(await page.evaluate(() => "executed" in globalThis)).toBe(false);
      expect(new URL(page.url()).pathname).toBe(`/dashboard/activity/${id}`);
    }
    expect(elsewhere).toEqual([]);
    expect(faults).toEqual([]);
  },
  PATIENCE_MS * 3,
);
