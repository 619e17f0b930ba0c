import { expect, test } from "vitest";
import { createStage, PATIENCE_MS } from "./browser.ts";

test.each([
  ["a server without a name for mail says that none can come", {}, true],
  ["a server with a name for mail says nothing", { "inbound-domain": "in.acme.example" }, false],
] as const)(
  "%s",
  async (_, flags, isSaid) => {
    await using stage = await createStage({ dev: false, flags });
    await stage.call("POST", "/api/v1/inbound-domains", { domain: "mail.acme.example" });
    const { url } = await stage.call<{ url: string }>("POST", "/api/v1/dashboard/links", {});
    const { page } = await stage.open(url);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await page.goto("/dashboard/inbound-domains");
    await page.getByText("Priority").waitFor();
    await expect.poll(() => page.getByText("No mail can come here yet").count()).toBe(isSaid ? 1 : 0);
  },
  PATIENCE_MS * 2,
);
