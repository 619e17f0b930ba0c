import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { OpenPage } from "./browser.ts";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/** What axe finds, as text. */
export async function listBarriers({ page }: OpenPage): Promise<string[]> {
  // The policy of the page refuses scripts that are put into it; those of the test's own world are not the page's.
  await page.evaluate(await readFile(AXE, "utf8"));
  return page.evaluate(async () => {
    const { violations } = await (globalThis as unknown as { axe: typeof import("axe-core") }).axe.run(document, { iframes: false });
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
  });
}
