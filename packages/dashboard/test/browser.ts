import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { readConfig } from "../../server/src/config.ts";
import { silentLog } from "../../server/src/lib/log.ts";
import { type RunningServer, serve } from "../../server/src/serve.ts";
import { launchBrowser } from "./chromium.ts";

/** Time limit for a busy machine, ms. A quiet one needs less than a tenth. */
export const PATIENCE_MS = 60_000;

/** A server and a browser that looks at it. */
export interface Stage extends AsyncDisposable {
  readonly server: RunningServer;
  readonly browser: Browser;
  /** Opens a new browser profile at a page of the dashboard. Script errors and refused requests are kept in `faults`. */
  open(path: string, options?: BrowserContextOptions): Promise<OpenPage>;
  /** Calls the API with the first key of the server, or another one. */
  call<T>(method: string, path: string, body?: object, key?: string | null): Promise<T>;
}

/** A page, and all that went wrong in it: uncaught errors, and what its policy refused. */
export interface OpenPage {
  readonly page: Page;
  readonly faults: readonly string[];
  /** Requests that the policy of a mail frame blocked. */
  readonly refusedInMail: readonly string[];
}

// The files of a worker share a browser, whose start takes a second; it ends with the worker.
let shared: Promise<Browser> | null = null;

async function openBrowser(): Promise<Browser> {
  shared ??= launchBrowser();
  const browser = await shared;
  if (browser.isConnected()) return browser;
  shared = null;
  return openBrowser();
}

interface StageOptions {
  readonly dev?: boolean;
  readonly flags?: Record<string, string>;
  /** Starts a browser of its own, which ends with the stage. */
  readonly launch?: () => Promise<Browser>;
}

/** Starts a server, and a browser unless one is there. Throws when there is no browser. */
export async function createStage({ dev = true, flags = {}, launch }: StageOptions = {}): Promise<Stage> {
  const contexts: BrowserContext[] = [];
  const browser = await (launch ?? openBrowser)();
  const data = mkdtempSync(join(tmpdir(), "mailsvc-dashboard-"));
  const server = await serve(readConfig({ flags: { port: "0", data, ...flags }, env: {}, dev }), silentLog);
  return {
    server,
    browser,
    open: async (path, options = {}) => {
      const context = await browser.newContext({ baseURL: server.url, ...options });
      contexts.push(context);
      context.setDefaultTimeout(PATIENCE_MS);
      const page = await context.newPage();
      const faults: string[] = [];
      const refusedInMail: string[] = [];
      page.on("pageerror", (error) => faults.push(String(error)));
      page.on("console", (message) => {
        const refused =
          /\/dashboard\/frame\/|^about:srcdoc/.test(message.location().url) || message.text().startsWith("Blocked script execution")
            ? refusedInMail
            : faults;
        if (message.type() === "error" && !/status of 4\d\d/.test(message.text())) refused.push(message.text());
      });
      await page.goto(path);
      return { page, faults, refusedInMail };
    },
    call: async <T>(method: string, path: string, body?: object, key: string | null = server.apiKey) => {
      const response = await fetch(`${server.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }) },
        ...(body && { body: JSON.stringify(body) }),
      });
      if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
      return (await response.json()) as T;
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(contexts.map((context) => context.close()));
      if (launch) await browser.close();
      await server.close();
      rmSync(data, { recursive: true, force: true });
    },
  };
}

/** Writes a picture of a page into the folder that SCREENSHOTS names, if it does. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env["SCREENSHOTS"];
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  // Hiding the caret would put a style into the page, which its policy refuses.
  await page.screenshot({ path: join(folder, `${name}.png`), caret: "initial" });
}
