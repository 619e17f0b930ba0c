import { afterAll, beforeAll, expect, test } from "vitest";
import { createStage, PATIENCE_MS, type Stage } from "./browser.ts";
import { DEVICES } from "./looks.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await createStage();
  await stage.call("POST", "/api/v1/contacts", { email: "grace@example.com", firstName: "Grace", lastName: "Hopper" });
  await stage.call("POST", "/api/v1/campaigns", {
    name: "Spring sale",
    subjectLine: "Everything must go",
    fromEmail: "news@acme.example",
    html: "<p>Hi</p>",
  });
  await stage.call("POST", "/api/v1/send", { from: "hello@acme.example", to: "ada@example.com", subject: "Spring order 7", text: "Hi" });
}, PATIENCE_MS * 2);
afterAll(() => stage?.[Symbol.asyncDispose]());

test(
  "by keyboard alone, Ctrl K finds pages, people, campaigns and mail, and Enter opens what is chosen",
  async () => {
    const { page, faults } = await stage.open("/dashboard/dev");
    const dialog = page.getByRole("dialog", { name: "Find" });
    const field = dialog.getByRole("combobox");
    await page.getByRole("button", { name: /^Find/ }).waitFor();
    const open = async (text: string): Promise<void> => {
      await page.keyboard.press("Control+k");
      await dialog.waitFor();
      expect(await field.evaluate((input) => input === document.activeElement)).toBe(true);
      await page.keyboard.type(text);
    };

    await open("supp");
    await dialog.getByRole("option", { name: "Suppressions page", selected: true }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Suppressions" }).waitFor();

    await open("hopper");
    await dialog.getByRole("option", { name: "grace@example.com Grace Hopper contact", selected: true }).waitFor();
    await dialog.getByRole("option", { name: "All mail with a subject that begins with “hopper”" }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Grace Hopper" }).waitFor();

    await open("spring");
    await dialog.getByRole("option", { name: "Spring order 7" }).waitFor();
    await dialog.getByRole("option", { name: "Spring sale Everything must go campaign" }).waitFor();
    // A campaign stands above the mails with its words.
    const found = (await dialog.getByRole("option").allTextContents()).filter((text) => /^Spring (?:sale|order)/.test(text));
    expect(found.map((text) => text.split(" ", 2)[1])).toEqual(["saleEverything", "order"]);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "an id is found as what it names, an unknown one as nothing, and an address as the mail that it got",
  async () => {
    const { page, faults } = await stage.open("/dashboard/activity");
    const mail = await stage.call<{ data: { id: string }[] }>("GET", "/api/v1/emails?to=ada@example.com");
    const id = mail.data[0]?.id ?? "";
    const find = page.getByRole("button", { name: /^Find/ });
    const dialog = page.getByRole("dialog", { name: "Find" });
    const field = dialog.getByRole("combobox");

    await find.click();
    await field.fill(id);
    await dialog.getByRole("option", { name: "Spring order 7 email", selected: true }).waitFor();
    await field.fill(`em_${"0".repeat(26)}`);
    await expect.poll(() => dialog.getByRole("option", { name: "email" }).count()).toBe(0);
    await field.fill("ada@example.com");
    await dialog.getByRole("option", { name: "Spring order 7" }).click();
    await page.getByRole("heading", { level: 1, name: "Spring order 7" }).waitFor();
    await dialog.waitFor({ state: "hidden" });
    expect(faults.filter((fault) => !fault.includes("404"))).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "on a phone the dialog fits, a kind that fails is named, and the others are still found",
  async () => {
    const { page } = await stage.open("/dashboard/activity", { viewport: DEVICES.phone });
    await page.route("**/api/v1/contacts?*", (route) => route.abort());
    await page.getByRole("button", { name: /^Find/ }).click();
    const dialog = page.getByRole("dialog", { name: "Find" });
    await dialog.getByRole("combobox").fill("spring");
    await dialog.getByText("These could not be searched: contacts.").waitFor();
    await dialog.getByRole("option", { name: "Spring sale" }).waitFor();
    const { width = 0 } = (await dialog.boundingBox()) ?? {};
    expect(width).toBeLessThanOrEqual(DEVICES.phone.width);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);
