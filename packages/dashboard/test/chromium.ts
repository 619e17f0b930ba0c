import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

// Debian's; the tests drive no browser of their own.
const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

/** Starts the browser. Throws when there is none. */
export function launchBrowser(): Promise<Browser> {
  if (!existsSync(CHROMIUM))
    throw new Error(`There is no browser at ${CHROMIUM}. Install one with apt-get install chromium, or name another in CHROMIUM.`);
  // The sandbox of Chromium needs rights that containers do not give. What is tested is the policy of the pages, not the sandbox.
  return chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--disable-gpu-rasterization", "--disable-software-rasterizer", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"] });
}
