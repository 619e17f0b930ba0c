import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, inject, test } from "vitest";
import { createStage, PATIENCE_MS, picture, type Stage } from "./browser.ts";
import { listPaleButtons } from "./button-contrast.ts";
import { listDialogFaults, listFirstTabFaults, listTabFaults } from "./dialogs.ts";
import { createGate, type Gate } from "./gate.ts";
import { createMarket, type Market } from "./market.ts";
import { type Acme, createAcme } from "./pictures/acme.ts";
import { nameFile, PICTURES } from "./pictures/pages.ts";
import { listSqueezed, listUnreachable, widthsOf } from "./reach.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Of so many pages one is checked. */
    everyPage: number;
  }
}

// Rules for every page, checked with the data of the pictures. One server and one browser profile serve them all.

let stage: Stage;
let market: Market;
let acme: Acme;
let gate: Gate;
let page: Page;
const errors: string[] = [];

beforeAll(async () => {
  stage = await createStage();
  market = await createMarket(stage);
  acme = await createAcme(stage, market);
  gate = await createGate(stage.server.url);
  const context = await stage.browser.newContext({ baseURL: gate.url, hasTouch: true, reducedMotion: "reduce" });
  context.setDefaultTimeout(PATIENCE_MS);
  page = await context.newPage();
  page.on("pageerror", (error) => errors.push(String(error)));
  await page.clock.setFixedTime((await stage.call<{ now: string }>("GET", "/__dev/clock")).now);
  await page.goto("/dashboard/people");
}, PATIENCE_MS * 3);

afterAll(async () => {
  acme?.close();
  await page?.context().close();
  await gate?.close();
  await market?.[Symbol.asyncDispose]();
  await stage?.[Symbol.asyncDispose]();
});

// Also after a test that has failed.
afterEach(() => gate?.open());

async function show(route: string): Promise<void> {
  const { at, text, builder = false, ready } = PICTURES[route] ?? { at: () => "", text: "" };
  const workspace = builder ? market.builderWorkspace : stage.server.workspaceId;
  await page.evaluate((id) => localStorage.setItem("mailsvc.workspace", id ?? ""), workspace);
  await page.goto(`/dashboard${at(acme)}`);
  await page.locator("main").getByText(text).first().waitFor({ state: "attached" });
  await ready?.(page);
  await page.locator("main .loading").first().waitFor({ state: "detached" });
}

// Pages share their buttons, their frame and what says that the server is gone, so the buttons of each are looked at in one theme, it is
// scrolled in two of the widths, and every third one loses its server.
test.each(
  Object.keys(PICTURES)
    .map((route, place) => [route, place] as const)
    .filter(([, place]) => place % inject("everyPage") === 0),
)(
  "%s can be reached to its end, read in all states of its buttons, and used by keys",
  async (route, place) => {
    const faults: Record<string, readonly string[]> = {};
    const note = (what: string, found: readonly string[]): void => {
      if (found.length > 0) faults[what] = found;
    };
    await page.setViewportSize({ width: 1280, height: 800 });
    await show(route);
    note("first Tab", await listFirstTabFaults(page));
    const theme = place % 2 === 0 ? "light" : "dark";
    await page.emulateMedia({ colorScheme: theme });
    note(`buttons, ${theme}`, await listPaleButtons(page));
    for (const width of widthsOf(place)) {
      await page.setViewportSize({ width, height: 800 });
      await picture(page, `${nameFile(route)}-${width}`);
      note(`room at ${width}`, await listSqueezed(page));
      note(`reach at ${width}`, await listUnreachable(page, width));
    }
    if (place % 3 === 0) await outlastOutage();
    for (const colorScheme of ["dark", "light"] as const) {
      await page.emulateMedia({ colorScheme });
      note(`dialogs, ${colorScheme}`, await listDialogFaults({ page }));
      note(`tabs, ${colorScheme}`, await listTabFaults({ page }));
    }
    note("errors", errors.splice(0));
    expect(faults).toEqual({});
  },
  PATIENCE_MS * 2,
);

/** The page says when the server is gone, and goes on when it is back. */
async function outlastOutage(): Promise<void> {
  await gate.close();
  await page.locator(".outage p").waitFor();
  await gate.open();
  await page.locator(".outage p").waitFor({ state: "detached" });
  await page.locator("main .loading").first().waitFor({ state: "detached" });
}

test(
  "a link to another page, and the way back, put the focus on the title of the page that comes",
  async () => {
    await page.setViewportSize({ width: 1280, height: 800 });
    await show("/activity");
    const lost: string[] = [];
    const check = async (name: string): Promise<void> => {
      await page.locator("main h1").waitFor();
      await page
        .locator("main h1:focus")
        .waitFor({ timeout: PATIENCE_MS / 10 })
        .catch(() => lost.push(name));
    };
    const links = page.locator(".side nav a:not([aria-current])");
    for (const href of await links.evaluateAll((all) => all.map((link) => link.getAttribute("href") ?? ""))) {
      await page.locator(`.side nav a[href="${href}"]`).click();
      await page.locator(`.side nav a[href="${href}"][aria-current]`).waitFor();
      await check(href);
    }
    await page.goBack();
    await check("back");
    expect(lost).toEqual([]);
  },
  PATIENCE_MS * 2,
);

test(
  "what was typed into a draft while the server was gone is saved when it is back",
  async () => {
    await page.setViewportSize({ width: 1280, height: 800 });
    await show("/campaigns/:id/edit");
    const subject = page.getByRole("textbox", { name: "Subject", exact: true });
    await gate.close();
    await page.locator(".outage p").waitFor();
    await subject.fill("Typed while the server was gone");
    await page.getByText("Draft · Not saved").waitFor();
    await gate.open();
    await page.getByText("Draft · Saved").waitFor();
    const { subjectLine } = await market.brand.campaigns.get(acme.draft);
    expect(subjectLine).toBe("Typed while the server was gone");
  },
  PATIENCE_MS,
);

test(
  "a page whose script could not be loaded comes by itself when the server is back",
  async () => {
    // A profile that has no script of the page yet.
    const context = await stage.browser.newContext({ baseURL: gate.url });
    context.setDefaultTimeout(PATIENCE_MS);
    const fresh = await context.newPage();
    await fresh.goto("/dashboard/activity");
    await fresh.locator("main h1").waitFor();
    await gate.close();
    await fresh.locator(".outage p").waitFor();
    await fresh.locator(".side nav a", { hasText: "Senders" }).click();
    await fresh.getByText("The page could not be loaded").first().waitFor({ state: "attached" });
    await gate.open();
    await fresh.getByText("shop.acme.example").first().waitFor();
    await context.close();
  },
  PATIENCE_MS * 2,
);
