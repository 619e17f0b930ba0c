import { afterAll, beforeAll, expect, test } from "vitest";
import { createStage, PATIENCE_MS, type Stage } from "./browser.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await createStage();
}, PATIENCE_MS * 2);
afterAll(() => stage?.[Symbol.asyncDispose]());

test(
  "a suppressed mail offers a button that lets the address get mail again, and the command behind it",
  async () => {
    const { now } = await stage.call<{ now: string }>("GET", "/__dev/clock");
    const scheduledAt = new Date(Date.parse(now) + 3_600_000).toISOString();
    const mail = { from: "hello@acme.example", to: "ada@example.com", subject: "Hello", text: "Hi", scheduledAt };
    const { id } = await stage.call<{ id: string }>("POST", "/api/v1/send", mail);
    await stage.call("POST", "/api/v1/suppressions", { email: "ada@example.com", reason: "manual", scope: "all" });
    await stage.call("POST", "/__dev/clock/advance", { by: "2h" });
    const { page, faults } = await stage.open(`/dashboard/activity/${id}`);
    const command = page.getByText("mailsvc suppressions remove ada@example.com");
    await page.getByRole("button", { name: "Allow mail again" }).waitFor();
    expect(await command.isVisible()).toBe(false);
    await page.getByText("In a terminal").click();
    await command.waitFor();
    await page.getByRole("button", { name: "Allow mail again" }).click();
    await page.getByRole("button", { name: "Allow mail again" }).waitFor({ state: "hidden" });
    const { data } = await stage.call<{ data: unknown[] }>("GET", "/api/v1/suppressions");
    expect(data).toEqual([]);
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);
