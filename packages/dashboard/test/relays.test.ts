import { afterAll, beforeAll, expect, test } from "vitest";
import { createStage, PATIENCE_MS, type Stage } from "./browser.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await createStage();
}, PATIENCE_MS * 2);
afterAll(() => stage?.[Symbol.asyncDispose]());

test(
  "a relay is added and changed in forms; a refused field says why, and what is not said stays",
  async () => {
    const { page, faults } = await stage.open("/dashboard/relays");
    await page.getByRole("button", { name: "Add a relay" }).click();
    const adding = page.getByRole("dialog", { name: "Add a relay" });
    expect(await adding.getByLabel("Name").evaluate((input) => input === document.activeElement)).toBe(true);
    await adding.getByLabel("Name").fill("ses");
    await adding.getByLabel("Host").fill("not a host");
    await adding.getByRole("button", { name: "Add" }).click();
    await adding.getByRole("alert").waitFor();
    await adding.getByLabel("Host").fill("smtp.acme.example");
    await adding.getByLabel("User").fill("mailer");
    await adding.getByLabel("Password").fill("correct-horse");
    await adding.getByRole("button", { name: "Add" }).click();
    await page.getByRole("heading", { level: 1, name: "ses" }).waitFor();
    await page.getByText("smtp.acme.example:587").waitFor();

    await page.getByRole("button", { name: "Change" }).click();
    const changing = page.getByRole("dialog", { name: "Change ses" });
    expect(await changing.getByLabel("Password").inputValue()).toBe("");
    await changing.getByLabel("Emails per second").fill("14");
    await changing.getByRole("button", { name: "Save" }).click();
    await page.getByText("14 mails per second").waitFor();
    await page.getByText("smtp.acme.example:587").waitFor();
    await page.getByText("mailer", { exact: true }).waitFor();
    expect(faults.filter((fault) => !fault.includes("400"))).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);
