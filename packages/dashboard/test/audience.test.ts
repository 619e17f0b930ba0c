import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Audience, createAudience } from "./audience.ts";
import { listBarriers } from "./barriers.ts";
import { createStage, PATIENCE_MS, picture, type Stage } from "./browser.ts";

let stage: Stage;
let audience: Audience;

beforeAll(async () => {
  stage = await createStage();
  audience = await createAudience(stage);
}, PATIENCE_MS * 3);
afterAll(() => stage?.[Symbol.asyncDispose]());

/** The pages, and a text that is there once all is loaded. */
const pages = (): readonly (readonly [name: string, path: string, text: string])[] => [
  ["contacts", "/dashboard/contacts", "ada@example.com"],
  ["contacts-none", "/dashboard/contacts?search=nobody", "No contact fits these filters"],
  ["contact", `/dashboard/contacts/${audience?.ada}`, "Joined the list Newsletter"],
  ["contact-emails", `/dashboard/contacts/${audience?.ada}?tab=emails`, "Your order is on its way"],
  ["contact-consent", `/dashboard/contacts/${audience?.ada}?tab=consent`, "not confirmed"],
  ["contact-import", "/dashboard/contacts/import", "Choose a file"],
  ["lists", "/dashboard/lists", "Product news"],
  ["list", `/dashboard/lists/${audience?.newsletter}`, "121 members"],
  ["list-opt-in", `/dashboard/lists/${audience?.news}`, "double opt-in"],
  ["segments", "/dashboard/segments", "Active VIPs"],
  ["segment", `/dashboard/segments/${audience?.vips}`, "ada@example.com"],
  ["segment-rules", `/dashboard/segments/${audience?.vips}?tab=rules`, "people match"],
  ["new-segment", "/dashboard/segments/new", "Complete the conditions"],
  ["suppressions", "/dashboard/suppressions", "linus@example.com"],
  ["suppression", `/dashboard/suppressions/${audience?.bounced}`, "The email that caused it"],
];

describe.each(["light", "dark"] as const)("in the %s theme", (colorScheme) => {
  test.each(pages().map(([name]) => name))(
    "%s has no barrier and no fault",
    async (name) => {
      const [, path = "", text = ""] = pages().find(([one]) => one === name) ?? [];
      for (const [device, viewport] of [
        ["desktop", { width: 1360, height: 860 }],
        ["phone", { width: 390, height: 780 }],
      ] as const) {
        const opened = await stage.open(path, { colorScheme, viewport });
        await opened.page.locator("main").getByText(text).first().waitFor();
        await picture(opened.page, `${name}-${colorScheme}-${device}`);
        expect(await listBarriers(opened)).toEqual([]);
        expect(opened.faults).toEqual([]);
        await opened.page.context().close();
      }
    },
    PATIENCE_MS * 2,
  );
});
