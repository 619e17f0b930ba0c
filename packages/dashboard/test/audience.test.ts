import { afterAll, beforeAll } from "vitest";
import { type Audience, createAudience } from "./audience.ts";
import { createStage, PATIENCE_MS, type Stage } from "./browser.ts";
import { type Look, testLooks } from "./looks.ts";

let stage: Stage;
let audience: Audience;

beforeAll(async () => {
  stage = await createStage();
  audience = await createAudience(stage);
}, PATIENCE_MS * 3);
afterAll(() => stage?.[Symbol.asyncDispose]());

/** The pages, and a text that is there once all is loaded. */
const pages = (): readonly Look[] => [
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

testLooks({
  open: (...args) => stage.open(...args),
  pages,
});
