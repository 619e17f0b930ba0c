import type { Page } from "playwright-core";

// More than any page has stops.
const MAX_PRESSES = 200;

/** Presses Tab until the focus is on a link, a button or a field with this name. */
export async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let presses = 0; presses < MAX_PRESSES; presses += 1) {
    await page.keyboard.press("Tab");
    const focused = await page.evaluate(() => {
      const { activeElement: at } = document;
      // Not an area that scrolls, whose text is that of all it holds.
      if (!at?.matches("a, button, input, select, textarea, summary")) return "";
      const label = at instanceof HTMLInputElement ? (at.labels?.[0]?.textContent ?? "").trim() : (at.textContent ?? "");
      return `${label} ${at.getAttribute("placeholder") ?? ""}`;
    });
    if (name.test(focused)) return;
  }
  throw new Error(`Tab does not reach ${String(name)}.`);
}
