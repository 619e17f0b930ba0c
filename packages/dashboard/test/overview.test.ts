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
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);
