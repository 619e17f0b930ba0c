import type { Mailsvc } from "@mailsvc/sdk";
import type { FrameLocator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createStage, PATIENCE_MS, type Stage } from "./browser.ts";
import { tabTo } from "./keyboard.ts";
import { type Look, testLooks } from "./looks.ts";
import { connect, fillAudience, publish, SPRING } from "./marketing.ts";
import { groupVectors, VECTORS, writeHtml } from "./vectors.ts";
import { waitUntil } from "./waiting.ts";
import { follow, watch } from "./watching.ts";

const PEOPLE = 32;
const DAY = 86_400_000;

let stage: Stage;
let sdk: Mailsvc;
const ids: Record<string, string> = {};

const spring = { subjectLine: "Spring is here, {{firstName}}", fromEmail: "news@acme.example", fromName: "Acme", html: SPRING };

beforeAll(async () => {
  stage = await createStage();
  sdk = connect(stage);
  const { list, segment } = await fillAudience(sdk, PEOPLE);
  const create = async (name: string, more: object = {}): Promise<string> => {
    const { id } = await sdk.campaigns.create({ ...spring, name, ...more });
    ids[name] = id;
    return id;
  };
  await publish(sdk, "spring", "The spring template");
  await sdk.campaigns.create({ name: "Only an idea", subjectLine: "Ideas", fromEmail: "news@acme.example" }).then(({ id }) => {
    ids["Only an idea"] = id;
  });
  await create("Draft", { recipientType: "groups", include: [list.id, segment.id], exclude: [segment.id] });
  const later = new Date(Date.parse((await sdk.clock.show()).now) + 5 * DAY).toISOString();
  await create("Scheduled", { scheduledAt: later });
  await sdk.campaigns.cancel(await create("Never sent", { scheduledAt: later }));
  const gone = await sdk.lists.create({ name: "Soon gone" });
  const soon = new Date(Date.parse((await sdk.clock.show()).now) + 2000).toISOString();
  const held = await create("Held", { recipientType: "list", listId: gone.id, scheduledAt: soon });
  await sdk.lists.delete(gone.id);
  const paused = await create("Paused", { throttle: { perSecond: 2 } });
  await sdk.campaigns.send(paused);
  await sdk.campaigns.pause(paused);
  const test = { variants: [{}, { subjectLine: "Summer: 20 % off" }], samplePercent: 50, winner: "manual" };
  await sdk.campaigns.send(await create("A test with a name that is much too long for one line of a list of campaigns", { abTest: test }));
  await sdk.campaigns.send(await create("Sending", { throttle: { perSecond: 0.01 } }));
  const sent = await create("Sent");
  await sdk.campaigns.send(sent);
  await waitUntil(async () => (await sdk.campaigns.stats(sent)).clicks.unique >= 3);
  await waitUntil(async () => (await sdk.campaigns.get(held)).status === "PAUSED");
}, PATIENCE_MS * 3);
afterAll(() => stage?.[Symbol.asyncDispose]());

const TEST = "A test with a name that is much too long for one line of a list of campaigns";

const pages = (): readonly Look[] => [
  ["campaigns", "/dashboard/campaigns", "Never sent"],
  ["campaign-new", `/dashboard/campaigns/${ids["Only an idea"]}/edit`, "Nothing to see yet"],
  ["campaign-edit", `/dashboard/campaigns/${ids["Draft"]}/edit`, "left out"],
  ["campaign-review", `/dashboard/campaigns/${ids["Draft"]}/review`, "What will happen"],
  ["campaign-scheduled", `/dashboard/campaigns/${ids["Scheduled"]}`, "would get it now"],
  ["campaign-held", `/dashboard/campaigns/${ids["Held"]}`, "It was held before it started"],
  ["campaign-cancelled", `/dashboard/campaigns/${ids["Never sent"]}`, "It was cancelled before it started"],
  ["campaign-sending", `/dashboard/campaigns/${ids["Sending"]}`, "to go"],
  ["campaign-paused", `/dashboard/campaigns/${ids["Paused"]}`, "Paused:"],
  ["campaign-test", `/dashboard/campaigns/${ids[TEST]}`, "wait for your decision"],
  ["campaign-sent", `/dashboard/campaigns/${ids["Sent"]}`, "https://acme.example/spring"],
  ["campaign-recipients", `/dashboard/campaigns/${ids["Sent"]}?tab=recipients`, "Export as CSV"],
  ["campaign-content", `/dashboard/campaigns/${ids["Sent"]}?tab=content`, "Desktop"],
  ["campaign-settings", `/dashboard/campaigns/${ids["Sent"]}?tab=settings`, "As fast as the relay takes it"],
];

testLooks({
  open: (...args) => stage.open(...args),
  pages,
});

/** Creates a campaign as a person does, from the first word of the draft to the report. */
async function sendCampaign(where: Stage, client: Mailsvc): Promise<void> {
  const { page, faults } = await where.open("/dashboard/campaigns");
  await page.getByRole("button", { name: "New campaign" }).click();
  await page.getByRole("textbox", { name: "Name" }).fill("March news");
  await page.getByRole("textbox", { name: "Subject" }).fill("News of March");
  await page.getByRole("combobox", { name: "From" }).fill("news@acme.example");
  await page.getByRole("button", { name: "Create the draft" }).click();
  await page.waitForURL(/\/edit$/);
  const id = /cmp_\w+/.exec(page.url())?.[0] ?? "";

  const audience = page.getByRole("region", { name: "Audience" });
  await audience.getByText(/^\d+ people$/).waitFor();
  await audience.getByLabel("Lists and segments").check();
  await audience.getByText("Choose at least one list or segment.").waitFor();
  await audience.getByLabel("Send to: add a list or segment").selectOption({ label: "Newsletter (16 contacts)" });
  await audience.getByText("16 people").waitFor();
  await audience.getByLabel("Leave out: add a list or segment").selectOption({ label: "Gold members (11 contacts)" });
  await audience.getByText("10 people").waitFor();

  await page.getByRole("radio", { name: "HTML" }).check();
  const html = page.getByRole("textbox", { name: "HTML" });
  await html.fill("<h1>Hello {{firstName}</h1>");
  await page
    .getByText(/template|brace|closed|Expect/i)
    .first()
    .waitFor();
  await page.getByText("Draft · Not saved").waitFor();
  await html.fill(SPRING);
  await page.getByText("Draft · Saved").waitFor();
  await page.frameLocator("iframe").getByText("Spring is here, reader").waitFor();
  await page
    .getByRole("searchbox", { name: "Show it as a contact gets it" })
    .or(page.getByRole("combobox", { name: "Show it as" }))
    .fill("clicked+1@simulator.mailsvc.test");
  await page.frameLocator("iframe").getByText("Spring is here, Grace").waitFor();

  await page.getByRole("button", { name: "Send a test" }).click();
  await page.getByLabel("To", { exact: false }).first().fill("me@example.com");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByText("1 test sent").waitFor();

  await page.getByRole("button", { name: "Review and send" }).click();
  await page.getByRole("heading", { name: "What will happen" }).waitFor();
  await page.getByText("Newsletter, without Gold members").waitFor();
  expect(await client.campaigns.get(id)).toMatchObject({ status: "DRAFT", recipientType: "groups" });
  await page.getByRole("button", { name: "Send to 10 people" }).click();
  await page.getByRole("tab", { name: "Report" }).waitFor();
  await page.locator("main").getByText("sent", { exact: true }).first().waitFor();
  await waitUntil(async () => (await client.campaigns.stats(id)).recipients.delivered > 0);

  const stats = await client.campaigns.stats(id);
  await page.reload();
  const figures = page.locator("dl.figures");
  await figures.waitFor();
  const shown = Object.fromEntries(
    await figures
      .locator("div")
      .evaluateAll((all) =>
        all.map((one) => [one.querySelector("dt")?.textContent ?? "", one.querySelector("dd")?.firstChild?.textContent ?? ""]),
      ),
  );
  const after = await client.campaigns.stats(id);
  // They may have changed while the page was loaded.
  if (JSON.stringify({ ...stats, computedAt: "" }) === JSON.stringify({ ...after, computedAt: "" }))
    expect(shown).toEqual({
      Accepted: String(stats.rates.delivery.count),
      Opened: String(stats.opens.unique),
      Clicked: String(stats.clicks.unique),
      Unsubscribed: String(stats.unsubscribes),
      Bounced: String(stats.recipients.bounced),
      Complained: String(stats.recipients.complained),
    });
  const counts = await page.getByRole("region", { name: "Recipients" }).locator("tr:not(.reason) td:nth-child(2)").allTextContents();
  expect(counts.slice(0, -1).reduce((sum, count) => sum + Number(count), 0)).toBe(Number(counts.at(-1)));
  expect((await client.campaigns.verify(id)).correct).toBe(true);

  await page.getByRole("tab", { name: /^Recipients/ }).click();
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export as CSV" }).click();
  expect((await download).suggestedFilename()).toBe("March news.csv");
  await page.getByText("10 recipients saved").waitFor();

  await page.getByRole("button", { name: "Send again" }).click();
  await page.getByRole("button", { name: "Make the draft" }).click();
  await page.waitForURL((url) => url.pathname.endsWith("/edit") && !url.pathname.includes(id));
  await page.getByText("Those who did not open the earlier campaign.").waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
}

test(
  "a person writes a campaign, sees whom it reaches, sends it, reads the report, and sends it again to who did not open it",
  async () => {
    await using other = await createStage();
    const client = connect(other);
    await fillAudience(client, PEOPLE);
    await sendCampaign(other, client);
  },
  PATIENCE_MS * 4,
);

test(
  "a person pauses a campaign while a slow server takes it, and resumes it; nobody gets it twice",
  async () => {
    const { id } = await sdk.campaigns.create({ ...spring, name: "Slow", throttle: { perSecond: 4 } });
    const { page, faults } = await stage.open(`/dashboard/campaigns/${id}/review`);
    await page.getByRole("button", { name: /^Send to \d+ people$/ }).click();
    await page.getByRole("heading", { name: /^Sending: \d+ people to go$/ }).waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("heading", { name: /^Paused: \d+ people wait$/ }).waitFor();
    expect(await sdk.campaigns.get(id)).toMatchObject({ status: "PAUSED" });
    // Impossible actions are hidden in this state.
    await expect.poll(() => page.getByRole("button", { name: /^(?:Pause|Send now|Send again|Delete|Edit)$/ }).count()).toBe(0);
    await sdk.campaigns.update(id, {}).catch(() => {});
    await page.getByRole("button", { name: "Resume" }).click();
    await page.locator("main").getByText("sent", { exact: true }).first().waitFor();
    const all = await sdk.campaigns.recipients(id, { limit: 1000 }).toArray();
    expect(new Set(all.map(({ contactId }) => contactId)).size).toBe(PEOPLE);
    expect(all.every(({ attempts }) => attempts <= 1)).toBe(true);
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 3,
);

test(
  "by keyboard alone, a person schedules a campaign, moves its date, and cancels it",
  async () => {
    const { id } = await sdk.campaigns.create({ ...spring, name: "By keyboard" });
    const { page, faults } = await stage.open(`/dashboard/campaigns/${id}/edit`, { timezoneId: "Europe/Berlin" });
    await page.getByText(/^\d+ people$/).waitFor();
    await tabTo(page, /^Review and send/);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: /^Send to/ }).waitFor();
    await tabTo(page, /^Now/);
    await page.keyboard.press("ArrowDown");
    await page.getByRole("button", { name: "Schedule" }).waitFor();
    await tabTo(page, /^Schedule/);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: /^Sending starts on/ }).waitFor();
    const { scheduledAt } = await sdk.campaigns.get(id);
    // Nine o'clock there, in winter or in summer.
    expect(scheduledAt).toMatch(/T0[78]:00:00/);
    await tabTo(page, /^Change the date/);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "When to send it" }).waitFor();
    await tabTo(page, /^At a time/);
    await page.keyboard.press("Tab");
    // An hour later: behind December comes the January before it.
    for (const key of ["ArrowRight", "ArrowRight", "ArrowRight", "ArrowUp"]) await page.keyboard.press(key);
    await tabTo(page, /^Save/);
    await page.keyboard.press("Enter");
    await page.getByText("The date is changed").waitFor();
    expect((await sdk.campaigns.get(id)).scheduledAt).not.toBe(scheduledAt);
    await tabTo(page, /^Cancel the campaign/);
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Cancel this campaign for good?" });
    await dialog.waitFor();
    await tabTo(page, /^Cancel the campaign/);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "It was cancelled before it started" }).waitFor();
    expect(await sdk.campaigns.get(id)).toMatchObject({ status: "CANCELLED", startedAt: null });
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 3,
);

test(
  "arrow keys in the choice of lists and segments only propose; Enter and the button beside it add, and so does a click",
  async () => {
    const { id } = await sdk.campaigns.create({ ...spring, name: "To some" });
    const { page, faults } = await stage.open(`/dashboard/campaigns/${id}/edit`);
    const choice = page.getByLabel("Leave out: add a list or segment");
    const chips = page.getByRole("region", { name: "Audience" }).locator(".chip");
    const picked = (): Promise<string | null> => choice.locator("option:checked").textContent();
    await choice.focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowUp");
    expect(await picked()).toBe("Newsletter (16 contacts)");
    await page.getByRole("button", { name: "Add", exact: true }).waitFor();
    await expect.poll(() => chips.count()).toBe(0);
    await page.keyboard.press("Enter");
    await chips.getByText("Newsletter").waitFor();
    expect(await picked()).toBe("Add a list or segment…");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await chips.getByText("Gold members").waitFor();
    await expect.poll(() => chips.count()).toBe(2);
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "a campaign goes out when each reader's clock shows the time, from before the first of them does",
  async () => {
    const { id } = await sdk.campaigns.create({ ...spring, name: "Local" });
    const { page } = await stage.open(`/dashboard/campaigns/${id}/review`);
    await page.getByLabel("When each reader's clock shows a time").check();
    await page.getByLabel("Date and time").fill("2031-03-01T09:00");
    await page.getByText("Choose a time within a year.").waitFor();
    expect(await page.getByRole("button", { name: /^S/ }).last().isDisabled()).toBe(true);
    const soon = new Date(Date.parse((await sdk.clock.show()).now) + 10 * DAY).toISOString().slice(0, 11);
    await page.getByLabel("Date and time").fill(`${soon}09:00`);
    await page.getByText(/before the first clock shows this time/).waitFor();
    await page.getByRole("button", { name: "Schedule" }).click();
    await page.getByRole("heading", { name: /^Sending starts on/ }).waitFor();
    const { localTime, scheduledAt } = await sdk.campaigns.get(id);
    expect(localTime).toMatchObject({ at: `${soon}09:00`, field: "timeZone" });
    expect(Date.parse(`${soon}09:00Z`) - Date.parse(scheduledAt ?? "")).toBe(14.5 * 3_600_000);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "a person decides an A/B test",
  async () => {
    const id = ids[TEST] ?? "";
    await waitUntil(async () =>
      (await sdk.campaigns.stats(id)).variants.every(({ recipients }) => recipients.delivered + recipients.bounced >= 3),
    );
    const { page } = await stage.open(`/dashboard/campaigns/${id}`);
    await page.getByRole("heading", { name: /^The sample is out: \d+ people wait for the winner$/ }).waitFor();
    await page.getByRole("button", { name: "B wins" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "B wins" }).click();
    await page.getByText("B won on a sample of 50%").waitFor();
    expect(await sdk.campaigns.get(id)).toMatchObject({ winner: "B" });
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "what is wrong with a field stands at it, and all others are saved",
  async () => {
    const { id } = await sdk.campaigns.create({ ...spring, name: "With faults" });
    const { page } = await stage.open(`/dashboard/campaigns/${id}/edit`);
    await page.getByRole("combobox", { name: "From address" }).fill("nobody at acme");
    await page.getByRole("textbox", { name: "Subject", exact: true }).fill("Another subject");
    await page.getByRole("region", { name: "Sender" }).getByRole("alert").waitFor();
    await page.getByText("Draft · Not saved").waitFor();
    await waitUntil(async () => (await sdk.campaigns.get(id)).subjectLine === "Another subject");
    expect((await sdk.campaigns.get(id)).fromEmail).toBe("news@acme.example");
    await page.getByRole("button", { name: "Review and send" }).click();
    await page.getByText("Some fields are not saved yet").waitFor();
    await page.getByRole("combobox", { name: "From address" }).fill("hello@acme.example");
    await page.getByText("Draft · Saved").waitFor();
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "two people write one draft: what only one of them has changed is saved, and of what both have changed the person decides",
  async () => {
    const { id } = await sdk.campaigns.create({ ...spring, name: "Shared" });
    const { page, faults } = await stage.open(`/dashboard/campaigns/${id}/edit`);
    const subject = page.getByRole("textbox", { name: "Subject", exact: true });
    await subject.waitFor();
    await sdk.campaigns.update(id, { name: "Renamed by a colleague" });
    await subject.fill("Mine");
    await page.getByText("Draft · Saved").waitFor();
    await page.getByRole("heading", { name: "Renamed by a colleague" }).waitFor();
    await waitUntil(async () => (await sdk.campaigns.get(id)).subjectLine === "Mine");
    await sdk.campaigns.update(id, { subjectLine: "Theirs" });
    await subject.fill("Mine again");
    const conflict = page.getByRole("alert", { name: "Changed by somebody else" });
    await conflict.getByText("They differ in: subject.").waitFor();
    await page.getByText("Draft · Not saved").waitFor();
    expect((await sdk.campaigns.get(id)).subjectLine).toBe("Theirs");
    await conflict.getByRole("button", { name: "Keep mine" }).click();
    await page.getByText("Draft · Saved").waitFor();
    expect(await sdk.campaigns.get(id)).toMatchObject({ subjectLine: "Mine again", name: "Renamed by a colleague" });
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "a viewer reads, and is offered nothing that changes something; a marketer is",
  async () => {
    await using live = await createStage({ dev: false, flags: { "trust-sender": "acme.example" } });
    const client = connect(live);
    const { id } = await client.campaigns.create({ ...spring, name: "Read only" });
    const { url } = await live.call<{ url: string }>("POST", "/api/v1/dashboard/links", { role: "viewer" });
    const { page, faults } = await live.open(url);
    await page.getByRole("link", { name: "Campaigns" }).click();
    await page.getByRole("link", { name: /^Read only/ }).click();
    await page.getByRole("heading", { name: "It is a draft" }).waitFor();
    await expect.poll(() => page.locator("main .page-head button, main .page-head .button").count()).toBe(0);
    await page.goto(`/dashboard/campaigns/${id}/edit`);
    await page.waitForURL((to) => to.pathname === `/dashboard/campaigns/${id}`);
    await page.goto("/dashboard/automations");
    await page.getByText("Automations that your colleagues make").waitFor();
    await expect.poll(() => page.getByRole("button", { name: "New automation" }).count()).toBe(0);
    expect(faults).toEqual([]);
    const { url: forMarketer } = await live.call<{ url: string }>("POST", "/api/v1/dashboard/links", { role: "marketer" });
    const marketer = await live.open(forMarketer);
    await marketer.page.getByRole("link", { name: "Automations" }).click();
    await marketer.page.getByRole("button", { name: "New automation" }).waitFor();
    await marketer.page.getByRole("link", { name: "Campaigns" }).click();
    await marketer.page.getByRole("link", { name: /^Read only/ }).click();
    await marketer.page.getByRole("button", { name: "Review and send" }).waitFor();
    expect(marketer.faults).toEqual([]);
  },
  PATIENCE_MS * 3,
);

test(
  "hostile names, subjects and contents execute nothing",
  async () => {
    const { page, expectNothing } = await watch(stage, "/dashboard/campaigns", false);
    const list = await sdk.lists.create({ name: `hostile ${VECTORS[0]}`.slice(0, 200) });
    // hostile.test.ts has all of them in mails, which are shown in the same frame.
    const groups = groupVectors(180).filter((_, at) => at % 3 === 0);
    const hostile = await Promise.all(
      groups.map((group) => {
        const line = `hostile ${group.map((i) => VECTORS[i]?.replaceAll(/\s+/g, " ")).join(" ")}`.slice(0, 190);
        return sdk.campaigns.create({
          ...spring,
          name: line,
          subjectLine: line.replaceAll("{", ""),
          previewText: line.replaceAll("{", ""),
          fromName: "hostile",
          html: writeHtml(group).replaceAll("{", ""),
          recipientType: "list",
          listId: list.id,
        });
      }),
    );
    // The frame of the editor, opened outside of it.
    const frame = await page.context().newPage();
    for (const [at, { id }] of hostile.entries()) {
      await follow(page, `/dashboard/campaigns/${id}/edit`);
      const shown = (root: FrameLocator | Page, i: number) => root.getByText(`hostile ${i}`, { exact: true }).waitFor();
      for (const i of groups[at] ?? []) await shown(page.frameLocator("iframe"), i);
      await frame.goto(`/dashboard/frame/campaigns/${id}?workspace=${stage.server.workspaceId}`);
      for (const i of groups[at] ?? []) await shown(frame, i);
    }
    await page.goto("/dashboard/campaigns");
    await page
      .getByRole("link", { name: /hostile/ })
      .first()
      .waitFor();
    expectNothing();
    await expect.poll(() => page.locator("main :is(img, script, iframe, object, embed, video, base, meta, style)").count()).toBe(0);
    await page.context().close();
  },
  PATIENCE_MS * 5,
);

test(
  "who looks at a template finds on the way back what was written, and only what can be sent is offered",
  async () => {
    const frame = { name: "Frame", slug: "frame", type: "layout" as const, html: "<html><body>{{{body}}}</body></html>" };
    await sdk.templates.create({ ...frame, publish: true });
    await sdk.templates.archive(await publish(sdk, "archived", "An archived template"));
    const { id } = await sdk.campaigns.create({ ...spring, name: "Undecided" });
    const { page, faults } = await stage.open(`/dashboard/campaigns/${id}/edit`);
    await page.getByRole("radio", { name: "A template" }).check();
    const choice = page.getByRole("combobox", { name: "Template" });
    const offered = (await choice.getByRole("option").allTextContents()).join();
    expect(offered).toContain("The spring template, version 1");
    expect(offered).not.toMatch(/Frame|An archived template/);
    await choice.selectOption({ label: "The spring template, version 1" });
    await waitUntil(async () => (await sdk.campaigns.get(id)).templateId !== null);
    await page.getByRole("radio", { name: "HTML" }).check();
    expect(await page.getByRole("textbox", { name: "HTML" }).inputValue()).toBe(SPRING);
    await waitUntil(async () => (await sdk.campaigns.get(id)).html !== null);
    expect(await sdk.campaigns.get(id)).toMatchObject({ html: SPRING, templateId: null });
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);
