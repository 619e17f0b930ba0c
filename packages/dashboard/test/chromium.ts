import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

// Debian's; the tests drive no browser of their own.
const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

const FLAGS = [
  // The sandbox of Chromium needs rights that containers do not give. The tests concern the policy of the pages, not the sandbox.
  "--no-sandbox",
  "--disable-dev-shm-usage",
  // A process that draws what nobody sees.
  "--disable-gpu",
  "--disable-gpu-rasterization",
  "--disable-software-rasterizer",
  // It asks its maker for nothing.
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Starts the browser. Throws when there is none. */
export function launchBrowser(): Promise<Browser> {
  if (!existsSync(CHROMIUM))
    throw new Error(`There is no browser at ${CHROMIUM}. Install one with apt-get install chromium, or name another in CHROMIUM.`);
  return chromium.launch({ executablePath: CHROMIUM, args: [...FLAGS] });
}
