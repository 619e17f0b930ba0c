import type { Mailsvc } from "@mailsvc/sdk";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createStage, type OpenPage, PATIENCE_MS, type Stage } from "./browser.ts";
import { createMarket, type Market } from "./market.ts";
import { fillAudience, publish } from "./marketing.ts";
import { waitUntil } from "./waiting.ts";

// Stories of people on the way: with a finger, on a screen as wide as a hand.

const PHONE = { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true } as const;

let stage: Stage;
let market: Market;
let sdk: Mailsvc;
beforeAll(async () => {
  stage = await createStage();
  market = await createMarket(stage);
  sdk = market.brand;
  await fillAudience(sdk, 16);
}, PATIENCE_MS * 2);
afterAll(async () => {
  await market?.[Symbol.asyncDispose]();
  await stage?.[Symbol.asyncDispose]();
});

const openPhone = (path: string): Promise<OpenPage> => stage.open(path, PHONE);

/** Goes to a page by the menu. */
async function goTo(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name: /^Menu/ }).tap();
  await page
    .getByRole("navigation", { name: "Pages" })
    .getByRole("link", { name: new RegExp(`^${name}`) })
    .tap();
  await page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
}

/** A button of the dialog that is open. */
const inDialog = (page: Page, name: string): Locator => page.locator("dialog[open]").getByRole("button", { name, exact: true });

async function leave({ page, faults }: OpenPage): Promise<void> {
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE.viewport.width);
  expect(faults).toEqual([]);
  await page.context().close();
}

test(
  "on a phone, a person reads why a mail did not arrive, and lets the address get mail again",
  async () => {
    const to = "bounced+grace@simulator.mailsvc.test";
    const { id } = await sdk.emails.send({ from: "hello@acme.example", to, subject: "Your receipt", text: "Thank you." });
    await waitUntil(async () => (await sdk.emails.get(id)).status === "bounced");
    const opened = await openPhone("/dashboard");
    const { page } = opened;
    await goTo(page, "Activity");
    await page.getByRole("link", { name: to }).tap();
    await page.getByRole("heading", { level: 1, name: "Your receipt" }).waitFor();
    await page.getByRole("heading", { name: "Timeline" }).scrollIntoViewIfNeeded();
    await page.getByRole("button", { name: "Allow mail again" }).tap();
    await page.getByRole("button", { name: "Allow mail again" }).waitFor({ state: "detached" });
    expect((await sdk.suppressions.list({ search: "grace" })).data).toEqual([]);
    await leave(opened);
  },
  PATIENCE_MS * 2,
);

test(
  "on a phone, a person stops a campaign that is going out, and lets it go on",
  async () => {
    const spring = { subjectLine: "Spring is here", fromEmail: "news@acme.example", text: "Spring is here." };
    const { id } = await sdk.campaigns.create({ ...spring, name: "Spring", throttle: { perSecond: 1 } });
    await sdk.campaigns.send(id);
    const opened = await openPhone("/dashboard");
    const { page } = opened;
    await page.getByRole("region", { name: "Under way" }).getByRole("link", { name: "Spring" }).tap();
    await page.getByRole("button", { name: "Pause" }).tap();
    await page.getByRole("heading", { name: /^Paused: \d+ people wait$/ }).waitFor();
    expect((await sdk.campaigns.get(id)).status).toBe("PAUSED");
    await page.getByRole("button", { name: "Resume" }).tap();
    await page.getByRole("heading", { name: /^Sending: / }).waitFor();
    expect((await sdk.campaigns.get(id)).status).toBe("SENDING");
    await page.getByRole("button", { name: "Cancel the campaign" }).tap();
    await inDialog(page, "Cancel the campaign").tap();
    await waitUntil(async () => (await sdk.campaigns.get(id)).status === "CANCELLED");
    await leave(opened);
  },
  PATIENCE_MS * 2,
);

test(
  "on a phone, a person answers the question of a customer",
  async () => {
    const mail = {
      from: "Acme <hello@acme.example>",
      to: "Ada Lovelace <ada@example.com>",
      subject: "Your order",
      text: "It is on its way.",
    };
    await sdk.emails.send({ ...mail, replyTo: "auto" });
    const captured = await sdk.inbox.wait({ subject: "Your order", timeout: 60 });
    await sdk.inbox.reply(captured.id, { text: "When does it come?" });
    const opened = await openPhone("/dashboard");
    const { page } = opened;
    await goTo(page, "Received");
    await page.getByRole("link", { name: /ada@example\.com/ }).tap();
    await page.getByText("When does it come?").first().waitFor();
    await page.getByLabel("Answer ada@example.com").fill("Tomorrow before noon.");
    await page.getByRole("button", { name: "Send the answer" }).tap();
    await page.getByRole("article").filter({ hasText: "Tomorrow before noon." }).waitFor();
    const { data } = await sdk.emails.list({ to: "ada@example.com", subject: "Re: Your order" });
    expect(data).toHaveLength(1);
    await leave(opened);
  },
  PATIENCE_MS * 2,
);

test(
  "on a phone, a person finds on the overview what an agent asks, and decides it",
  async () => {
    await market.list("launch-writer", "Launch Writer");
    const agent = await market.turnOn("launch-writer");
    const { id } = await agent.messages.create({
      type: "APPROVAL_REQUEST",
      text: "It is short.",
      approval: { title: "Publish the page?" },
    });
    const opened = await openPhone("/dashboard");
    const { page } = opened;
    await page.getByRole("region", { name: "Needs you" }).getByRole("link", { name: "1 approval to answer" }).tap();
    const card = page.getByRole("article").filter({ hasText: "Publish the page?" });
    await card.getByLabel(/^Comment for the agent/).fill("Without the second picture.");
    await card.getByRole("button", { name: "Reject" }).tap();
    await page.getByText("Publish the page?").waitFor({ state: "detached" });
    expect((await sdk.messages.get(id)).approval).toMatchObject({ status: "REJECTED", comment: "Without the second picture." });
    await leave(opened);
  },
  PATIENCE_MS * 2,
);

test(
  "on a phone, a person notes somebody met at a fair, with a tag and on a list",
  async () => {
    const opened = await openPhone("/dashboard");
    const { page } = opened;
    await goTo(page, "Contacts");
    await page.getByRole("button", { name: "Add a contact" }).tap();
    const dialog = page.getByRole("dialog", { name: "Add a contact" });
    await dialog.getByLabel("Email address").fill("radia@example.com");
    await dialog.getByLabel("First name").fill("Radia");
    await dialog.getByLabel("Tags").fill("fair");
    await dialog.getByLabel("Tags").press("Enter");
    await inDialog(page, "Add").tap();
    await page.getByRole("heading", { level: 1, name: "Radia" }).waitFor();
    await page.getByRole("button", { name: "Add to a list" }).tap();
    await page.getByRole("combobox", { name: /^List/ }).selectOption({ label: "Newsletter" });
    await inDialog(page, "Add").tap();
    await page.getByRole("link", { name: "Newsletter" }).first().waitFor();
    const [radia] = (await sdk.contacts.list({ search: "radia@" })).data;
    expect(radia).toMatchObject({ firstName: "Radia", tags: ["fair"] });
    expect((await sdk.contacts.get(radia?.id ?? "")).lists).toMatchObject([{ name: "Newsletter" }]);
    await leave(opened);
  },
  PATIENCE_MS * 2,
);

test(
  "on a phone, a person writes a short campaign in blocks, and sends it",
  async () => {
    await publish(sdk, "unused", "Unused");
    const opened = await openPhone("/dashboard/campaigns");
    const { page } = opened;
    await page.getByRole("button", { name: "New campaign" }).tap();
    await page.getByRole("textbox", { name: "Name" }).fill("Closed on Monday");
    await page.getByRole("textbox", { name: "Subject" }).fill("We are closed on Monday");
    await page.getByRole("combobox", { name: "From" }).fill("news@acme.example");
    await inDialog(page, "Create the draft").tap();
    await page.waitForURL(/\/edit$/);
    const id = /cmp_\w+/.exec(page.url())?.[0] ?? "";
    const blocks = page.getByRole("region", { name: "Blocks" });
    const add = (kind: string) => blocks.getByRole("group", { name: "Add a block" }).getByRole("button", { name: kind, exact: true }).tap();
    await add("Text");
    await blocks.getByRole("textbox", { name: "Text", exact: true }).fill("We open again on Tuesday.");
    await add("Heading");
    await blocks.getByRole("textbox", { name: "Heading" }).fill("Closed on Monday");
    await blocks.getByRole("button", { name: /^More for Heading/ }).tap();
    await page.getByRole("button", { name: "Move up", exact: true }).last().tap();
    await waitUntil(async () => (await sdk.campaigns.get(id)).blocks?.map(({ type }) => type).join(" ") === "heading text");
    await page.getByRole("button", { name: "Review and send" }).tap();
    // Until then the button may move under the finger.
    await page.getByText(/problems found|see Problems/i).waitFor();
    await page.getByRole("button", { name: /^Send to \d+ people$/ }).tap();
    await page.getByRole("tab", { name: "Report" }).waitFor();
    await waitUntil(async () => (await sdk.campaigns.get(id)).status === "SENT");
    await leave(opened);
  },
  PATIENCE_MS * 2,
);
