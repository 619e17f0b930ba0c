import { afterAll, beforeAll, expect, test } from "vitest";
import { createStage, PATIENCE_MS, type Stage } from "./browser.ts";
import { DEVICES } from "./looks.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await createStage();
}, PATIENCE_MS * 2);
afterAll(() => stage?.[Symbol.asyncDispose]());

test(
  "on a phone, the navigation is behind a button, which a page closes again, and every entry can be brought in sight",
  async () => {
    const { page, faults } = await stage.open("/dashboard/dev", { viewport: DEVICES.phone });
    const nav = page.locator("nav#pages");
    const menu = page.getByRole("button", { name: "Menu" });
    await menu.waitFor();
    for (const name of ["Contacts", "People", "Activity"]) {
      expect(await nav.isVisible()).toBe(false);
      await menu.click();
      await nav.getByRole("link", { name, exact: true }).click();
      await page.getByRole("heading", { level: 1, name }).waitFor();
      await nav.waitFor({ state: "hidden" });
    }
    await menu.click();
    await nav.getByRole("link", { name: "Activity", exact: true }).focus();
    await page.keyboard.press("Escape");
    await nav.waitFor({ state: "hidden" });
    expect(await menu.evaluate((button) => button === document.activeElement)).toBe(true);
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "the clock of dev mode says in words which timer comes next and what has run, and a page without sessions has no empty list",
  async () => {
    const { page, faults } = await stage.open("/dashboard/dev");
    await stage.call("POST", "/__dev/clock/freeze", {});
    const { now } = await stage.call<{ now: string }>("GET", "/__dev/clock");
    const scheduledAt = new Date(Date.parse(now) + 30_000).toISOString();
    await stage.call("POST", "/api/v1/send", {
      from: "hello@acme.example",
      to: "ada@example.com",
      subject: "Later",
      text: "Hi",
      scheduledAt,
    });
    await page.getByText("deliver an email").waitFor();
    await page.getByRole("button", { name: "Next timer" }).click();
    await page.getByRole("status").getByText("deliver an email").waitFor();
    await page.goto("/dashboard/people?tab=sessions");
    await page.getByText("No open sessions").waitFor();
    await expect.poll(() => page.locator("main .items").count()).toBe(0);
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "mail of a campaign is listed and opened with the subject and the text that its reader got",
  async () => {
    await stage.call("POST", "/api/v1/contacts", { email: "grace@example.com", firstName: "Grace" });
    const { id } = await stage.call<{ id: string }>("POST", "/api/v1/campaigns", {
      name: "Spring",
      subjectLine: "Spring is here, {{firstName}}",
      fromEmail: "news@acme.example",
      html: "<p>Hello {{firstName}}, have a look.</p>",
    });
    await stage.call("POST", `/api/v1/campaigns/${id}/send`, {});
    const { page, faults } = await stage.open("/dashboard/activity");
    await page.getByText("Spring is here, Grace").waitFor();
    await expect.poll(() => page.getByText("{{").count()).toBe(0);
    await page.getByRole("link", { name: "grace@example.com" }).click();
    await page.getByRole("heading", { name: "Spring is here, Grace" }).waitFor();
    await page.frameLocator("iframe").getByText("Hello Grace, have a look.").waitFor();
    await page.goto("/dashboard/campaigns");
    await page.locator("code.variable").getByText("{{firstName}}").waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "a plot has numbers that can be read on a phone",
  async () => {
    const { page, faults } = await stage.open("/dashboard/queue", { viewport: DEVICES.phone });
    const numbers = page.locator(".plot svg text");
    await numbers.first().waitFor();
    await expect.poll(() => numbers.first().evaluate((text) => text.getBoundingClientRect().height)).toBeGreaterThan(9);
    await page.setViewportSize(DEVICES.desktop);
    await expect
      .poll(() =>
        page
          .locator(".plot svg")
          .first()
          .evaluate((svg) => svg.getBoundingClientRect().height),
      )
      .toBeLessThan(220);
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);
