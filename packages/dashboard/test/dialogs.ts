import type { Page } from "playwright-core";
import { listBarriers } from "./barriers.ts";
import type { OpenPage } from "./browser.ts";

/** Lists faults of a page's dialogs: the first focus, the focus after closing, and axe's findings. */
export async function listDialogFaults({ page }: Pick<OpenPage, "page">): Promise<string[]> {
  const faults: string[] = [];
  const openers = page.locator("button:has(+ dialog):visible");
  for (let i = 0; i < (await openers.count()); i += 1) {
    const opener = openers.nth(i);
    if (await opener.isDisabled()) continue;
    const name = (await opener.textContent()) ?? "";
    await opener.click();
    const dialog = page.locator("dialog[open]");
    await dialog.waitFor();
    // Waits for the choices of fields, such as senders.
    await dialog.locator(".loading").first().waitFor({ state: "detached" });
    const focus = await dialog.evaluate((element) => {
      const first = element.querySelector(
        "input:not([type=hidden]):enabled, select:enabled, textarea:enabled, button:enabled, a[href], summary",
      );
      // Content that is loaded after the dialog has opened takes no focus from its first button.
      const button = first?.matches("input, select, textarea") ? first : element.querySelector(".buttons.end button:enabled");
      const { activeElement: at } = document;
      return at === first || at === button
        ? null
        : `the focus is on ${at?.tagName} ${at?.textContent?.slice(0, 30)}, not on ${first?.outerHTML.slice(0, 80)}`;
    });
    if (focus !== null) faults.push(`${name}: ${focus}`);
    for (const barrier of await listBarriers({ page }, "dialog[open]")) faults.push(`${name}: ${barrier}`);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    if (!(await opener.evaluate((element) => element === document.activeElement)))
      faults.push(`${name}: closed, it does not give the focus back`);
  }
  return faults;
}

/** Lists axe's findings for each tab of a page. */
export async function listTabFaults({ page }: Pick<OpenPage, "page">): Promise<string[]> {
  const faults: string[] = [];
  const tabs = page.locator('main [role="tab"][aria-selected="false"]');
  const names = await page.locator('main [role="tab"]').evaluateAll((all) => all.map(({ id }) => id));
  if ((await tabs.count()) === 0) return [];
  for (const id of names) {
    const tab = page.locator(`[id="${id}"]`);
    // Another tab may have taken it away with its panel.
    if ((await tab.count()) === 0) continue;
    await tab.click();
    await page.locator("main .loading").first().waitFor({ state: "detached" });
    for (const barrier of await listBarriers({ page }, "main")) faults.push(`${await tab.textContent()}: ${barrier}`);
  }
  return faults;
}

/** Presses Tab on a page that was just opened; says where the focus is unless it is on the link that skips the navigation. */
export async function listFirstTabFaults(page: Page): Promise<string[]> {
  await page.keyboard.press("Tab");
  const at = await page.evaluate(() => document.activeElement?.textContent ?? "");
  return at === "Skip to the content" ? [] : [`the first Tab leads to “${at.slice(0, 40)}”`];
}
