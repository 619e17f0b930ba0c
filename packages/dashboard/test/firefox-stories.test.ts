import { existsSync } from "node:fs";
import type { Browser } from "playwright-core";
// The newest one sends Debian's Firefox a command that it does not know yet.
import { firefox } from "playwright-core-older";
import { expect, test } from "vitest";
import { createStage, PATIENCE_MS, picture } from "./browser.ts";
import { sendAfterTheFair } from "./fair-story.ts";
import { createMarket } from "./market.ts";
import { connect } from "./marketing.ts";
import { createAcme } from "./pictures/acme.ts";
import { nameFile, PICTURES } from "./pictures/pages.ts";

// The dashboard in another engine than Chromium's.

/** Starts Firefox as people install it, driven by WebDriver BiDi. Throws when there is none. */
async function launchFirefox(): Promise<Browser> {
  const { FIREFOX } = process.env;
  const executablePath = (FIREFOX === undefined ? ["/usr/bin/firefox-esr", "/usr/bin/firefox"] : [FIREFOX]).find((path) =>
    existsSync(path),
  );
  if (executablePath === undefined)
    throw new Error("There is no Firefox. Install it with apt-get install firefox-esr, or give its path in FIREFOX.");
  const browser = await firefox.launch({ channel: "moz-firefox", executablePath });
  // Stories use what both versions have.
  return browser as unknown as Browser;
}

test(
  "in Firefox, a marketer brings people from a file, sends them a campaign in blocks, and sees who has read it",
  async () => {
    await using stage = await createStage({ launch: launchFirefox });
    await sendAfterTheFair(stage, connect(stage));
  },
  PATIENCE_MS * 6,
);

test(
  "in Firefox, every page shows what it has, without an error",
  async () => {
    await using stage = await createStage({ launch: launchFirefox });
    await using market = await createMarket(stage);
    const acme = await createAcme(stage, market);
    const { page, faults } = await stage.open("/dashboard/people");
    const missing: string[] = [];
    for (const [route, { at, text, builder = false, ready }] of Object.entries(PICTURES)) {
      const workspace = builder ? market.builderWorkspace : stage.server.workspaceId;
      await page.evaluate((id) => localStorage.setItem("mailsvc.workspace", id ?? ""), workspace);
      await page.goto(`/dashboard${at(acme)}`);
      try {
        await page.locator("main").getByText(text).first().waitFor({ state: "attached" });
        await ready?.(page);
        await page.locator("main .loading").first().waitFor({ state: "detached" });
      } catch (error) {
        missing.push(`${route}: ${String(error)}`);
      }
      await picture(page, nameFile(route));
    }
    expect({ missing, faults }).toEqual({ missing: [], faults: [] });
    acme.close();
  },
  PATIENCE_MS * 10,
);
