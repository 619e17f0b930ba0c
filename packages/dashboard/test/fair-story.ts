import type { Mailsvc } from "@mailsvc/sdk";
import { expect } from "vitest";
import type { Stage } from "./browser.ts";
import { waitUntil } from "./waiting.ts";

const READERS = 12;
const FILE = [
  "Email,First name,City",
  ...Array.from(
    { length: READERS },
    (_, i) => `opened+fair${i}@simulator.mailsvc.test,${i === 3 ? "" : `Reader ${i}`},${i % 2 ? "Basel" : "Bern"}`,
  ),
].join("\n");

/**
 * Brings people from a file, makes a segment of them, sends them a campaign in blocks with two subjects, and looks for the one who has read it.
 */
export async function sendAfterTheFair(stage: Stage, sdk: Mailsvc): Promise<void> {
  const { page, faults } = await stage.open("/dashboard/contacts/import");
  await page.getByLabel("Choose a file").setInputFiles({ name: "fair.csv", mimeType: "text/csv", buffer: Buffer.from(FILE) });
  await page.getByRole("textbox", { name: /^Tag for everybody/ }).fill("fair 2027");
  await page.getByRole("button", { name: "Import", exact: true }).click();
  await page.getByRole("heading", { name: "fair.csv is imported" }).waitFor();
  await page.getByRole("link", { name: "Segments" }).click();
  await page.getByRole("link", { name: "Add a segment" }).click();
  await page.getByLabel("Name", { exact: true }).fill("From the fair");
  await page
    .getByRole("group", { name: /^Condition/ })
    .first()
    .getByLabel("Value", { exact: true })
    .fill("fair 2027");
  await page.getByText(`${READERS} people match`).waitFor();
  await page.getByRole("button", { name: "Create the segment" }).click();
  await page.getByText(`${READERS} people`, { exact: true }).waitFor();

  await page.getByRole("link", { name: "Campaigns" }).click();
  await page.getByRole("button", { name: "New campaign" }).click();
  await page.getByRole("textbox", { name: "Name" }).fill("After the fair");
  await page.getByRole("textbox", { name: "Subject" }).fill("It was good to meet you");
  await page.getByRole("combobox", { name: "From" }).fill("news@acme.example");
  await page.getByRole("button", { name: "Create the draft" }).click();
  await page.waitForURL(/\/edit$/);
  const id = /cmp_\w+/.exec(page.url())?.[0] ?? "";
  const audience = page.getByRole("region", { name: "Audience" });
  await audience.getByLabel("Lists and segments").check();
  await audience.getByLabel("Send to: add a list or segment").selectOption({ label: `From the fair (${READERS} contacts)` });
  await audience.getByText(`${READERS} people`).waitFor();
  const blocks = page.getByRole("region", { name: "Blocks" });
  await blocks.getByRole("group", { name: "Add a block" }).getByRole("button", { name: "Heading", exact: true }).click();
  await blocks.getByRole("textbox", { name: "Heading" }).fill("Hello ");
  await blocks.getByRole("button", { name: "Variable" }).click();
  const menu = page.getByRole("dialog", { name: "Put in a variable" });
  await menu.getByRole("combobox", { name: "Variable" }).selectOption("firstName");
  await menu.getByRole("textbox", { name: "If it is empty" }).fill("visitor");
  await menu.getByRole("button", { name: "Put it in" }).click();
  await page.getByRole("button", { name: "Test another subject or content" }).click();
  await page.getByRole("group", { name: "Variant B" }).getByRole("textbox", { name: "Subject" }).fill("What you saw at the fair");
  await page.getByRole("combobox", { name: "Test on" }).selectOption({ label: "everybody" });
  await page.getByText("Draft · Saved").waitFor();

  await page.getByRole("button", { name: "Send a test" }).click();
  await page.locator("dialog[open]").getByRole("textbox", { name: /^To/ }).fill("me@acme.example");
  await page.locator("dialog[open]").getByRole("button", { name: "Send", exact: true }).click();
  await page.getByText(/^\d tests? sent/).waitFor();
  await sdk.inbox.wait({ to: "me@acme.example", timeout: 60 });

  await page.getByRole("button", { name: "Review and send" }).click();
  await page.getByRole("radio", { name: "At a time" }).check();
  await page.getByRole("button", { name: "Schedule" }).click();
  await page.getByRole("heading", { name: /^Sending starts on/ }).waitFor();
  expect((await sdk.campaigns.get(id)).status).toBe("SCHEDULED");
  await page.getByRole("button", { name: "Send now" }).click();
  await page.locator("dialog[open]").getByText(`${READERS} people get it.`).waitFor();
  await page.locator("dialog[open]").getByRole("button", { name: "Send now" }).click();
  await waitUntil(async () => (await sdk.campaigns.stats(id)).opens.unique === READERS);
  const { variants } = await sdk.campaigns.stats(id);
  expect(variants.map(({ recipients }) => recipients.total).sort()).toEqual([READERS / 2, READERS / 2]);
  await page.getByRole("tab", { name: "Report" }).click();
  await expect.poll(() => page.locator("dl.figures div", { hasText: "Opened" }).locator("dd").textContent()).toMatch(/^12 /);

  await page.keyboard.press("Control+k");
  await page.keyboard.type("fair3@");
  await page.getByRole("option", { name: /^opened\+fair3@/ }).click();
  await page
    .getByText(/^Opened /)
    .first()
    .waitFor();
  const [mail] = (await sdk.emails.list({ to: "opened+fair3@simulator.mailsvc.test" })).data;
  expect((await sdk.emails.get(mail?.id ?? "")).html).toContain("Hello visitor");
  expect(faults).toEqual([]);
  await page.context().close();
}
