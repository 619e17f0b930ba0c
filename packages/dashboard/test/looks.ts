import type { Page } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { listBarriers } from "./barriers.ts";
import { type OpenPage, PATIENCE_MS, picture, type Stage } from "./browser.ts";

/** A page: its name, its path, and a text that is there once it is loaded. */
export type Look = readonly [name: string, path: string, text: string];

/** The sizes in which pages are looked at. */
export const DEVICES = {
  desktop: { width: 1360, height: 860 },
  phone: { width: 390, height: 780 },
} as const;

/** Tests that axe finds no barrier in pages, and that nothing goes wrong in them: on a desktop in the light theme, on a phone in the dark one. */
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
  // One browser profile for all of them: what a page has loaded, the next one need not load again.
  let opened: OpenPage | null = null;
  const close = async (): Promise<void> => {
    await opened?.page.context().close();
    opened = null;
  };
  afterAll(close);
  test.each(pages().map(([name]) => name))(
    "%s has no barrier and no fault, light on a desktop and dark on a phone",
    async (name) => {
      const [, path = "", text = ""] = pages().find(([one]) => one === name) ?? [];
      try {
        if (opened === null) opened = await open(path, { colorScheme: "light", viewport: DEVICES.desktop });
        else await opened.page.goto(path);
        const { page, faults } = opened;
        await page.locator("main").getByText(text).first().waitFor();
        await ready(name, page);
        for (const [device, size] of Object.entries(DEVICES)) {
          await page.setViewportSize(size);
          const theme = device === "desktop" ? "light" : "dark";
          await page.emulateMedia({ colorScheme: theme });
          await picture(page, `${name}-${theme}-${device}`);
          expect(await listBarriers(opened)).toEqual([]);
        }
        expect(faults).toEqual([]);
        await page.setViewportSize(DEVICES.desktop);
        await page.emulateMedia({ colorScheme: "light" });
      } catch (error) {
        // The next page gets a browser profile in which nothing has gone wrong.
        await close();
        throw error;
      }
    },
    PATIENCE_MS * 2,
  );
}
