import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createStage, PATIENCE_MS, type Stage } from "./browser.ts";
import { connect } from "./marketing.ts";

const PER_PAGE = 100;

let stage: Stage;
beforeAll(async () => {
  stage = await createStage();
}, PATIENCE_MS * 2);
afterAll(() => stage?.[Symbol.asyncDispose]());

/** Sends as many emails, each with a number in its subject. */
async function send(from: number, count: number): Promise<void> {
  const mails = Array.from({ length: count }, (_, i) => ({
    from: "hello@acme.example",
    to: `reader${from + i}@example.com`,
    subject: `Number ${from + i}`,
    text: "Hello.",
  }));
  for (let at = 0; at < count; at += PER_PAGE) await connect(stage).emails.sendBatch({ emails: mails.slice(at, at + PER_PAGE) });
}

/** Scrolls through the list and returns the subjects of all rows, first to last. */
async function readAll(page: Page): Promise<string[]> {
  return page.locator(".rows").evaluate(async (area) => {
    const seen = new Map<number, string>();
    const frame = (): Promise<unknown> => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    for (area.scrollTop = 0; ; area.scrollTop += area.clientHeight / 2) {
      await frame();
      for (const row of area.querySelectorAll(".window > .row"))
        seen.set(Number(row.getAttribute("aria-rowindex")), row.children[1]?.textContent ?? "");
      if (area.scrollTop + area.clientHeight >= area.scrollHeight - 1) break;
    }
    return [...seen].sort(([a], [b]) => a - b).map(([, subject]) => subject);
  });
}

test(
  "a list shows all that came while its next page was read, also when that was more than a page",
  async () => {
    await send(0, PER_PAGE * 2 - 1);
    const { page, faults } = await stage.open("/dashboard/activity");
    await page.getByText(`Number ${PER_PAGE * 2 - 2}`, { exact: true }).waitFor();
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    await page.route(
      /\/api\/v1\/emails\?.*cursor=/,
      async (route) => {
        asked.resolve();
        await answer.promise;
        await route.continue();
      },
      { times: 1 },
    );
    await page.locator(".rows").evaluate((area) => {
      area.scrollTop = area.scrollHeight;
    });
    await asked.promise;
    const sent = PER_PAGE * 2 - 1;
    const total = sent + PER_PAGE * 1.5;
    await send(sent, total - sent);
    await expect
      .poll(async () => (await connect(stage).emails.list({ status: "delivered" })).pagination.total, { timeout: PATIENCE_MS })
      .toBe(total);
    // All events have come by then.
    await page.evaluate(() => new Promise((done) => setTimeout(done, 1000)));
    answer.resolve();
    const expected = Array.from({ length: total }, (_, i) => `Number ${total - 1 - i}`);
    await expect.poll(() => readAll(page), { timeout: PATIENCE_MS }).toEqual(expected);
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 4,
);
