import type { Page } from "playwright-core";
import { expect } from "vitest";
import type { Stage } from "./browser.ts";
import { EXECUTED } from "./vectors.ts";

/** Opens a page of the dashboard, and counts what is executed in it or in any of its frames, and what is loaded from elsewhere. */
export async function watch(stage: Stage, path: string, bypassCSP: boolean) {
  const { page, faults } = await stage.open(path, { bypassCSP });
  const seen = { executed: 0, elsewhere: [] as string[] };
  page.context().on("console", (message) => {
    if (message.text() === EXECUTED) seen.executed += 1;
  });
  await page.context().route(/^https?:/, async (route) => {
    const url = route.request().url();
    if (url.startsWith(stage.server.url)) return route.continue();
    seen.elsewhere.push(url);
    return route.abort();
  });
  /** Expects that nothing was executed; and where the policies of pages hold, that nothing was loaded from elsewhere, and nothing failed. */
  const expectNothing = (): void => {
    expect(seen.executed).toBe(0);
    if (!bypassCSP) expect({ elsewhere: seen.elsewhere, faults }).toEqual({ elsewhere: [], faults: [] });
  };
  return { page, seen, expectNothing };
}

/** Goes to a page of the dashboard as a link in it does. */
export async function follow(page: Page, path: string): Promise<void> {
  await page.evaluate((to) => {
    history.pushState(null, "", to);
    dispatchEvent(new PopStateEvent("popstate"));
  }, path);
}
