import { Mailsvc } from "@mailsvc/sdk";
import { RECIPIENT_LANGUAGES } from "@mailsvc/sdk/contract";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { listBarriers } from "./barriers.ts";
import { createStage, PATIENCE_MS, picture, type Stage } from "./browser.ts";
import { DEVICES } from "./looks.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** The languages whose pages are looked at: how many; the shorter runs take some in turn. */
    languagesInTurn: number | null;
  }
}

/** The languages of this run: all, or those whose turn it is today. */
function pickLanguages(): readonly (typeof RECIPIENT_LANGUAGES)[number][] {
  const some = inject("languagesInTurn");
  if (some === null) return RECIPIENT_LANGUAGES;
  const first = Math.floor(Date.now() / 86_400_000) * some;
  return Array.from({ length: some }, (_, i) => RECIPIENT_LANGUAGES[(first + i) % RECIPIENT_LANGUAGES.length] ?? "en");
}

let stage: Stage;
let sdk: Mailsvc;
let page: Page;

beforeAll(async () => {
  stage = await createStage();
  sdk = new Mailsvc({ apiKey: stage.server.apiKey ?? "", baseUrl: stage.server.url, timeoutMs: PATIENCE_MS });
  await sdk.brand.update({ name: "Fern & Field", website: "https://fern.example/", colors: { primary: "#0f766e" } });
  page = await (await stage.browser.newContext()).newPage();
}, PATIENCE_MS * 3);
afterAll(async () => {
  await page?.context().close();
  await stage?.[Symbol.asyncDispose]();
});

/** A page as the server answers. It runs no scripts, those of axe neither, so it is shown in a page that does. */
async function show(url: string, language: string, form?: Record<string, string>): Promise<string> {
  const response = await fetch(new URL(url, stage.server.url), {
    ...(form && { method: "POST", body: new URLSearchParams(form) }),
    headers: { accept: "text/html", "accept-language": language },
  });
  const html = await response.text();
  await page.setContent(html);
  return html;
}

/** Looks at the page that is shown, wide in the light and narrow in the dark. */
async function look(name: string, language: string): Promise<void> {
  expect(await page.evaluate(() => [document.documentElement.lang, document.documentElement.dir])).toEqual([
    language,
    language === "ar" ? "rtl" : "ltr",
  ]);
  await page.locator("details.languages summary").click();
  for (const [device, size] of Object.entries(DEVICES)) {
    const theme = device === "desktop" ? "light" : "dark";
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme: theme });
    await picture(page, `recipient-${language}-${name}-${theme}`);
    expect([name, theme, await listBarriers({ page })]).toEqual([name, theme, []]);
    const isTooWide = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
    expect([name, device, isTooWide]).toEqual([name, device, false]);
  }
}

const linkTo = (path: string, text: string | null): string => new RegExp(`https?://\\S+/${path}/[^\\s"]+`).exec(text ?? "")?.[0] ?? "";

test.each(pickLanguages())(
  "pages in %s have no barriers and are no wider than a phone",
  async (language) => {
    // So many sign-ups from one network would be too many at once.
    await sdk.clock.advance({ by: "1h" });
    await sdk.brand.update({ locale: language });
    const list = await sdk.lists.create({ name: `News ${language}` });
    const form = await sdk.forms.create({
      ...{ name: "Fern & Field", listId: list.id, fields: ["firstName", "lastName", "phone"], consentCheckbox: true },
    });
    const email = `ada.${language}@example.com`;
    await show(form.url, language);
    await look("form", language);
    await show(form.url, language, { email: "x" });
    await look("form-refused", language);
    await show(form.url, language, { email, consent: "yes" });
    await look("thanks", language);
    await show(`${form.url}/unsubscribe`, language);
    await look("leave", language);
    const { text } = await sdk.inbox.wait({ to: email, timeout: 60 });
    const confirm = linkTo("lists/confirm", text);
    await show(confirm, language);
    await look("confirm", language);
    await show(confirm, language, {});
    await look("confirmed", language);
    const preferences = linkTo("unsubscribe", text);
    await show(preferences, language);
    await look("preferences", language);
    await show(preferences, language, { action: "all" });
    await look("unsubscribed", language);
  },
  PATIENCE_MS * 5,
);
