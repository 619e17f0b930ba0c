import { existsSync } from "node:fs";
import { defineConfig } from "@playwright/test";

// The browser of this machine, such as /usr/bin/chromium. Without it the one that `npx playwright install chromium` has fetched.
const { CHROMIUM } = process.env;
if (CHROMIUM && !existsSync(CHROMIUM)) throw new Error(`CHROMIUM names ${CHROMIUM}, where there is no browser.`);

export default defineConfig({
  testMatch: "*.spec.mjs",
  reporter: "list",
  use: { launchOptions: CHROMIUM ? { executablePath: CHROMIUM } : {} },
});
