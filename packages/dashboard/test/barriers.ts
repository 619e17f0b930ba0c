import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { OpenPage } from "./browser.ts";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/** Lists axe's findings: in the whole page or below a selector. */
export async function listBarriers({ page }: Pick<OpenPage, "page">, within = ""): Promise<string[]> {
  // The policy of the page refuses scripts that are put into it; those of the test's own world are not the page's.
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(await readFile(AXE, "utf8"));
  return page.evaluate(async (within) => {
    const { axe } = globalThis as unknown as { axe: typeof import("axe-core") };
    // Selectors and what passes are not looked at, and take half of the time.
    const options = { iframes: false, selectors: false, resultTypes: ["violations" as const] };
    const { violations } = await axe.run(within === "" ? document : within, options);
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
  }, within);
}
