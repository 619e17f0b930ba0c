import { afterAll, beforeAll, expect, test } from "vitest";
import { createStage, PATIENCE_MS, type Stage } from "./browser.ts";

// The server looks at the newest 1,000 emails for a page of a search: it may be empty although an older one fits.

const MAIL = { from: "hello@acme.example", text: "Hi" };

let stage: Stage;
beforeAll(async () => {
  stage = await createStage();
}, PATIENCE_MS * 2);
afterAll(() => stage?.[Symbol.asyncDispose]());

test(
  "an email is found below a thousand newer ones that do not fit",
  async () => {
    await stage.call("POST", "/api/v1/send", { ...MAIL, to: "ada@example.com", subject: "Your order 1048 is on its way" });
    const { now } = await stage.call<{ now: string }>("GET", "/__dev/clock");
    const scheduledAt = new Date(Date.parse(now) + 3_600_000).toISOString();
    for (let batch = 0; batch < 11; batch += 1) {
      const emails = Array.from({ length: 100 }, (_, i) => ({
        ...MAIL,
        to: `reader${batch * 100 + i}@example.com`,
        subject: "News",
        scheduledAt,
      }));
      await stage.call("POST", "/api/v1/send/batch", { emails });
    }
    const { page, faults } = await stage.open("/dashboard/activity?subject=Your%20order%201048%20is%20on%20its%20way");
    await page.locator("main").getByText("Your order 1048 is on its way").waitFor();
    await page.goto("/dashboard/activity?subject=Nothing%20like%20this");
    await page.getByText("No email fits these filters").waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 3,
);

test(
  "a long search says how far it has come, can be stopped and taken up again, and finds nothing only at its end",
  async () => {
    const { page, faults } = await stage.open("/dashboard/dev");
    let asked = 0;
    let last = Number.POSITIVE_INFINITY;
    await page.route(/\/api\/v1\/emails\?/, async (route) => {
      asked += 1;
      const hasMore = asked < last;
      const pagination = {
        page: 1,
        limit: 100,
        total: 0,
        totalIsMinimum: true,
        totalPages: 0,
        hasMore,
        nextCursor: hasMore ? `${asked}` : null,
      };
      await route.fulfill({ json: { data: [], pagination } });
    });
    await page.goto("/dashboard/activity?subject=Deep");
    await page.getByText(/^Nothing yet. Looked at the newest \d+,000 emails, searching…$/).waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    const stopped = page.locator("p", { hasText: /^Stopped after the newest [\d,]+ emails/ });
    await stopped.waitFor();
    const words = await stopped.textContent();
    await expect.poll(() => page.getByText("No email fits").count()).toBe(0);
    last = asked + 3;
    expect(await stopped.textContent()).toBe(words);
    await page.getByRole("button", { name: "Search further" }).click();
    await page.getByText("No email fits these filters").waitFor();
    expect(asked).toBe(last);
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);
