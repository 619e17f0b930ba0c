import { afterAll, beforeAll, expect, test } from "vitest";
import { createStage, PATIENCE_MS, type Stage } from "./browser.ts";
import { connect } from "./marketing.ts";

const PEOPLE = 20_000;
const BATCH = 1000;
// More rows than fit on a screen, and some above and below.
const MAX_ROWS = 60;
// On a quiet machine the longest is below 50 ms.
const MAX_TASK_MS = 500;

let stage: Stage;
beforeAll(async () => {
  stage = await createStage();
}, PATIENCE_MS * 2);
afterAll(() => stage?.[Symbol.asyncDispose]());

test(
  "the page of a campaign to 20,000 people stays fluent while it is sent and while its recipients are scrolled",
  async () => {
    const sdk = connect(stage);
    for (let from = 0; from < PEOPLE; from += BATCH)
      await sdk.contacts.import({ rows: Array.from({ length: BATCH }, (_, i) => ({ email: `reader${from + i}@example.com` })) });
    const { id } = await sdk.campaigns.create({ name: "Large", subjectLine: "Hello", fromEmail: "news@acme.example", text: "Hello" });
    const { page, faults } = await stage.open(`/dashboard/campaigns/${id}/review`);
    let requests = 0;
    page.on("request", (request) => {
      if (request.url().includes(`/campaigns/${id}/`)) requests += 1;
    });
    await page.getByRole("button", { name: "Send to 20,000 people" }).click();
    await page.getByRole("tab", { name: /^Recipients/ }).click();
    await page.evaluate(() => {
      const seen = { longest: 0 };
      Object.assign(globalThis, { seen });
      new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries()) seen.longest = Math.max(seen.longest, duration);
      }).observe({ type: "longtask" });
    });
    const started = performance.now();
    const earlier = requests;
    // A busy machine takes minutes to send so many.
    await page
      .locator(".page-head")
      .getByText("sent", { exact: true })
      .waitFor({ timeout: PATIENCE_MS * 5 });
    // Twenty thousand events caused some requests a second, not one each.
    expect(requests - earlier).toBeLessThan(((performance.now() - started) / 1000) * 6 + 20);
    const rows = page.locator(".rows");
    let grownAt = performance.now();
    for (let shown = 0; shown < PEOPLE; ) {
      const before = shown;
      shown = await rows.evaluate(async (area) => {
        area.scrollTop = area.scrollHeight;
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        return Math.round((area.querySelector(".space")?.clientHeight ?? 0) / 44);
      });
      await expect.poll(() => rows.locator(".window > .row").count()).toBeLessThan(MAX_ROWS);
      if (shown > before) grownAt = performance.now();
      else if (performance.now() - grownAt > PATIENCE_MS)
        throw new Error(`The list stays at ${shown} rows: ${await page.locator(".foot").innerText()}`);
    }
    await page.getByText("reader0@example.com").waitFor();
    const longest = await page.evaluate(() => (globalThis as unknown as { seen: { longest: number } }).seen.longest);
    if (process.env["FIGURES"]) process.stderr.write(`longest task ${Math.round(longest)} ms, ${requests} requests\n`);
    expect(longest).toBeLessThan(MAX_TASK_MS);
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 8,
);
