import { expect, test } from "vitest";
import { createStage, PATIENCE_MS } from "./browser.ts";

test(
  "the first page shows three steps on an empty server, then the mail, and what needs somebody",
  async () => {
    await using stage = await createStage();
    const { page, faults } = await stage.open("/dashboard");
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    await page.getByText("Send a first mail").waitFor();
    expect(await page.locator(".first-steps > li").count()).toBe(3);
    expect(await page.locator("main .plot, main table").count()).toBe(0);
    await stage.call("POST", "/api/v1/send", { from: "hello@acme.example", to: "ada@example.com", subject: "Hello", text: "Hi" });
    await stage.call("POST", "/api/v1/senders", { domain: "shop.acme.example" });
    await page.goto("/dashboard/overview");
    await page.getByRole("row", { name: "example.com" }).waitFor();
    const plot = page.getByRole("table", { name: "Mail accepted, delivered, opened and clicked, by day" });
    expect(await plot.getByRole("rowheader").allTextContents()).toEqual(["Accepted", "Delivered", "Opened", "Clicked"]);
    await page.getByRole("button", { name: "7 days" }).click();
    await expect.poll(() => plot.getByRole("columnheader").count()).toBe(8);

    await page.getByRole("button", { name: "Limits" }).click();
    const limits = page.getByRole("dialog", { name: "Limits of bounces and complaints" });
    expect(await limits.getByRole("spinbutton").evaluateAll((all) => all.map((input) => (input as HTMLInputElement).value))).toEqual([
      "5",
      "10",
      "0.1",
      "0.3",
      "200",
    ]);
    await limits.getByRole("spinbutton").nth(1).fill("7");
    await limits.getByRole("spinbutton").nth(3).fill("");
    await limits.getByRole("button", { name: "Save" }).click();
    await limits.waitFor({ state: "hidden" });
    expect(await stage.call("GET", "/api/v1/metrics/limits")).toMatchObject({
      ...{ leastMails: 200, bounce: { warn: 0.05, pause: 0.07 }, complaint: { warn: 0.001, pause: null } },
    });
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);
