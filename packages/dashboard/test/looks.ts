import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { listBarriers } from "./barriers.ts";
import { PATIENCE_MS, picture, type Stage } from "./browser.ts";

/** A page: its name, its path, and a text that is there once it is loaded. */
export type Look = readonly [name: string, path: string, text: string];

const DEVICES = [
  ["desktop", { width: 1360, height: 860 }],
  ["phone", { width: 390, height: 780 }],
] as const;

/** Tests that axe finds no barrier in pages, and that nothing goes wrong in them: on a desktop and a phone, in both themes. */
export function testLooks({
  open,
  pages,
  ready = async () => {},
}: {
  open: Stage["open"];
  /** They may name what a hook has made: its names are read before, paths and texts after. */
  pages: () => readonly Look[];
  /** Waits for what a page loads after its text. */
  ready?: (name: string, page: Page) => Promise<void>;
}): void {
  test.each(pages().map(([name]) => name))(
    "%s has no barrier and no fault, on a desktop and a phone, light and dark",
    async (name) => {
      const [, path = "", text = ""] = pages().find(([one]) => one === name) ?? [];
      for (const [device, viewport] of DEVICES) {
        const opened = await open(path, { colorScheme: "light", viewport });
        // A phone leaves some columns out.
        const state = device === "phone" ? "attached" : "visible";
        await opened.page.locator("main").getByText(text).first().waitFor({ state });
        await ready(name, opened.page);
        for (const theme of ["light", "dark"] as const) {
          await opened.page.emulateMedia({ colorScheme: theme });
          await picture(opened.page, `${name}-${theme}-${device}`);
          // The themes have the same elements, in other colors.
          expect(await listBarriers(opened, theme === "light" ? "all" : "colors")).toEqual([]);
        }
        expect(opened.faults).toEqual([]);
        await opened.page.context().close();
      }
    },
    PATIENCE_MS * 2,
  );
}
