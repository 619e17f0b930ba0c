import { existsSync } from "node:fs";
import type { Browser } from "playwright-core";
// The newest one sends Debian's Firefox a command that it does not know yet.
import { firefox } from "playwright-core-older";

const FIREFOX = process.env["FIREFOX"] ?? "/usr/bin/firefox-esr";

/** Starts Firefox as people install it, driven by WebDriver BiDi. Throws when there is none. */
export async function launchFirefox(): Promise<Browser> {
  if (!existsSync(FIREFOX))
    throw new Error(`There is no Firefox at ${FIREFOX}. Install it with apt-get install firefox-esr, or name another in FIREFOX.`);
  const browser = await firefox.launch({ channel: "moz-firefox", executablePath: FIREFOX });
  // Stories use what both versions have.
  return browser as unknown as Browser;
}
