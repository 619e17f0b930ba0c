import { afterAll, beforeAll, expect, test } from "vitest";
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
  ["forms", "/dashboard/forms", "Letters"],
  ["form", `/dashboard/forms/${audience?.form}`, "Where people sign up"],
  ["segments", "/dashboard/segments", "Active VIPs"],
  ["segment", `/dashboard/segments/${audience?.vips}`, "ada@example.com"],
  ["segment-rules", `/dashboard/segments/${audience?.vips}?tab=rules`, "people match"],
  ["new-segment", "/dashboard/segments/new", "Complete the conditions"],
  ["suppressions", "/dashboard/suppressions", "linus@example.com"],
  ["suppression", `/dashboard/suppressions/${audience?.bounced}`, "Came from"],
];

testLooks({
  open: (...args) => stage.open(...args),
  pages,
});

test(
  "while another person is loaded, nothing of the one before can be read or pressed",
  async () => {
    const [grace] = (await audience.sdk.contacts.list({ search: "reader0@", limit: 1 })).data;
    const { page, faults } = await stage.open(`/dashboard/contacts/${audience.ada}`);
    await page.getByRole("heading", { name: "Ada Lovelace" }).waitFor();
    let answer = (): void => {};
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route(`**/api/v1/contacts/${grace?.id}`, async (route) => {
      await held;
      await route.continue();
    });
    await page.evaluate((id) => {
      const link = document.createElement("a");
      link.href = `/dashboard/contacts/${id}`;
      document.body.append(link);
      link.click();
    }, grace?.id);
    await page.getByRole("heading", { name: "Ada Lovelace" }).waitFor({ state: "detached" });
    await expect.poll(() => page.getByRole("button", { name: "Delete" }).count()).toBe(0);
    answer();
    await page.getByRole("heading", { name: "Grace Hopper" }).waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "a brand makes a sign-up form, copies its HTML, changes it and takes it offline",
  async () => {
    const { page, faults } = await stage.open("/dashboard/forms");
    await page.getByRole("button", { name: "Add a form" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name", { exact: false }).first().fill("Waiting list");
    await dialog.getByLabel("List").selectOption({ label: "Newsletter" });
    await dialog.getByRole("checkbox", { name: "First name" }).check();
    await dialog.getByLabel("Button").fill("Join");
    await dialog.getByRole("button", { name: "Add" }).click();
    await page.getByRole("heading", { name: "Waiting list" }).waitFor();
    const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
    const form = await audience.sdk.forms.get(id);
    expect(form).toMatchObject({ button: "Join", fields: ["firstName"], doubleOptIn: true, status: "PUBLISHED", redirectUrl: null });
    await page.getByRole("region", { name: "The HTML of the form" }).getByText(form.url).waitFor();
    await page.getByRole("button", { name: "Edit" }).click();
    await dialog.getByLabel("Button").fill("");
    await dialog.getByLabel("Page that follows").fill("https://acme.example/thanks");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved").waitFor();
    const changed = await audience.sdk.forms.get(id);
    expect(changed).toMatchObject({ redirectUrl: "https://acme.example/thanks", fields: ["firstName"], listId: form.listId, button: null });
    await page.getByRole("button", { name: "Take offline" }).click();
    await page.getByText("offline", { exact: true }).waitFor();
    expect((await fetch(form.url)).status).toBe(404);
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);
