import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { createStage, PATIENCE_MS, type Stage } from "./browser.ts";
import { createMarket } from "./market.ts";
import { createAcme } from "./pictures/acme.ts";
import { buildGallery, nameFile, PICTURES as PAGES, VIEWS } from "./pictures/pages.ts";
import { listRoutes } from "./routes.ts";

// The pictures of the dashboard in the documentation. `npm run screenshots` makes them anew, from the same data at the same instant;
// `npm run screenshots -- template` only one, `npm run screenshots -- pages` those of all pages, and `-- /templates/:id` those of one.

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const FOLDER = join(ROOT, "docs/pictures");
const INSTANT = "2027-01-11T09:00:00.000Z";
const MAX_BYTES = 1_500_000;
const GALLERY = join(FOLDER, "dashboard");
// Sizes in bytes: limit and aim for a page's picture, limit for the whole gallery.
const MAX_PICTURE = 25_000;
const AIM = 22_500;
const MAX_GALLERY = 4_200_000;
const CONTEXT = { locale: "en-US", timezoneId: "UTC", reducedMotion: "reduce" } as const;

const PAGES_WITH_PICTURES = ["README.md", "docs/dashboard.md"];

/** The pictures, and how each is made. */
const PICTURES: Readonly<Record<string, (stage: Stage, page: Page) => Promise<void>>> = {
  email: showRetries,
  inbox: showInbox,
  template: showTemplate,
  conversation: showConversation,
  agent: showAgent,
};

test("every picture is shown on a page, every page shows pictures that exist, and together they are small", () => {
  const shown = new Set<string>();
  for (const file of PAGES_WITH_PICTURES) {
    const text = readFileSync(join(ROOT, file), "utf8");
    const links = [...text.matchAll(/!\[([^\]]+)\]\(([^)]+\.webp)\)/g)];
    expect(links.length, file).toBeGreaterThan(0);
    for (const [, words = "", link = ""] of links) {
      expect(words.length, `${file}: what ${link} shows`).toBeGreaterThan(20);
      expect(dirname(join(ROOT, dirname(file), link)), file).toBe(FOLDER);
      shown.add(link.split("/").at(-1) ?? "");
    }
  }
  // The recording of the terminal is tested by `recording.test.ts`, and the pictures of all pages below.
  const files = readdirSync(FOLDER).filter((file) => file.endsWith(".webp"));
  expect(files.sort()).toEqual(
    Object.keys(PICTURES)
      .map((name) => `${name}.webp`)
      .sort(),
  );
  expect([...shown].sort()).toEqual(files.sort());
  expect(files.reduce((sum, file) => sum + statSync(join(FOLDER, file)).size, 0)).toBeLessThan(MAX_BYTES);
});

test("every page of the dashboard has its pictures, light, dark and on a phone, which are small, and a page shows them", () => {
  const routes = listRoutes();
  expect(routes.length).toBeGreaterThan(30);
  expect(Object.keys(PAGES).sort()).toEqual([...routes].sort());
  const files = Object.keys(PAGES).flatMap((route) => Object.keys(VIEWS).map((view) => `${nameFile(route)}-${view}.webp`));
  expect(readdirSync(GALLERY).sort()).toEqual(files.sort());
  const sizes = files.map((file) => statSync(join(GALLERY, file)).size);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(MAX_PICTURE);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(MAX_GALLERY);
  expect(readFileSync(join(ROOT, "docs/dashboard-pictures.md"), "utf8")).toBe(buildGallery());
});

test("every page of the dashboard is looked at by a test, in both themes and two widths", () => {
  const folder = join(ROOT, "packages/dashboard/test");
  const tests = readdirSync(folder).filter((name) => name.endsWith(".test.ts"));
  const opened = tests
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .filter((text) => text.includes("testLooks("))
    .flatMap((text) => [...text.matchAll(/["`]\/dashboard(\/[^"`]*)["`]/g)].map(([, path = ""]) => path.replace(/\?.*$/, "")))
    .map((path) => path.split("/"));
  const missing = listRoutes().filter((path) => {
    const parts = path.split("/");
    return !opened.some((one) => one.length === parts.length && parts.every((part, i) => part.startsWith(":") || part === one[i]));
  });
  expect(missing).toEqual([]);
});

const wanted = process.env["PICTURES"] ?? "all";

test.skipIf(process.env["PICTURES"] === undefined)(
  "makes the pictures of all pages",
  async () => {
    const pages = Object.entries(PAGES).filter(([route]) => wanted === "all" || wanted === "pages" || wanted.split(",").includes(route));
    if (pages.length === 0) return;
    mkdirSync(GALLERY, { recursive: true });
    writeFileSync(join(ROOT, "docs/dashboard-pictures.md"), buildGallery());
    await using stage = await createStage();
    await using market = await createMarket(stage);
    const acme = await createAcme(stage, market);
    // All that fail are named, so that one run finds them.
    const failed: string[] = [];
    const { now } = await stage.call<{ now: string }>("GET", "/__dev/clock");
    for (const [view, { viewport, colorScheme, scale }] of Object.entries(VIEWS)) {
      const context = await stage.browser.newContext({ ...CONTEXT, baseURL: stage.server.url, viewport, colorScheme });
      context.setDefaultTimeout(PATIENCE_MS);
      const page = await context.newPage();
      await page.clock.setFixedTime(now);
      await page.goto("/dashboard/people");
      for (const [route, { at, text, builder = false, ready }] of pages) {
        const workspace = builder ? market.builderWorkspace : stage.server.workspaceId;
        await page.evaluate((id) => localStorage.setItem("mailsvc.workspace", id ?? ""), workspace);
        try {
          await page.goto(`/dashboard${at(acme)}`);
          // A phone leaves some columns out.
          await page.locator("main").getByText(text).first().waitFor({ state: "attached" });
          await ready?.(page);
          await page.locator("main .loading").first().waitFor({ state: "detached" });
          await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
          await shoot(page, join(GALLERY, `${nameFile(route)}-${view}.webp`), { scale, most: AIM });
        } catch (error) {
          failed.push(`${route}, ${view}: ${(error as Error).message}`);
        }
      }
      await context.close();
    }
    acme.close();
    expect(failed).toEqual([]);
  },
  PATIENCE_MS * 20,
);

test.skipIf(process.env["PICTURES"] === undefined)(
  "makes the pictures",
  async () => {
    mkdirSync(FOLDER, { recursive: true });
    for (const [name, show] of Object.entries(PICTURES)) {
      if (wanted !== "all" && wanted !== name) continue;
      await using stage = await createStage();
      await stage.call("POST", "/__dev/clock/freeze", { at: INSTANT });
      const context = await stage.browser.newContext({ ...CONTEXT, baseURL: stage.server.url, viewport: { width: 1360, height: 860 } });
      context.setDefaultTimeout(PATIENCE_MS);
      const page = await context.newPage();
      await show(stage, page);
      await shoot(page, join(FOLDER, `${name}.webp`));
      await context.close();
    }
  },
  PATIENCE_MS * 10,
);

/** Writes what a page shows as WebP, which Playwright does not write by itself, in the best quality that has at most `most` bytes. */
async function shoot(page: Page, file: string, { scale = 1, most = Number.POSITIVE_INFINITY } = {}): Promise<void> {
  const client = await page.context().newCDPSession(page);
  const { width = 0, height = 0 } = page.viewportSize() ?? {};
  for (let quality = 82; ; quality -= 12) {
    const clip = { x: 0, y: 0, width, height, scale };
    const { data } = await client.send("Page.captureScreenshot", { format: "webp", quality, clip });
    const bytes = Buffer.from(data, "base64");
    if (bytes.length > most && quality > 12) continue;
    writeFileSync(file, bytes);
    break;
  }
  await client.detach();
}

const ORDER = `<!doctype html>
<html lang="en">
  <head>
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Your order</title>
  </head>
  <body style="margin: 0; padding: 32px; font-family: Arial, sans-serif; color: #1c1f26">
    <h1 style="font-size: 24px">Your order is on its way</h1>
    <p>Hello {{ name }}, the parcel with your order {{ order.number }} left our house today.</p>
    <p><a href="https://acme.example/track/{{ order.number }}" style="color: #3150c8">Track your parcel</a></p>
    <p style="font-size: 13px; color: #5c6370">Acme Ltd, 1 Main Street</p>
  </body>
</html>
`;

const MAIL = {
  from: "Acme <hello@acme.example>",
  subject: "Your order is on its way",
  html: ORDER.replaceAll("{{ name }}", "Ada").replaceAll("{{ order.number }}", "1042"),
  text: "Hello Ada, the parcel with your order 1042 left our house today.",
};

/** Opens a page at the server's time, which was moved. */
async function look(stage: Stage, page: Page, path: string): Promise<void> {
  await page.clock.setFixedTime((await stage.call<{ now: string }>("GET", "/__dev/clock")).now);
  await page.goto(path);
}

/** A mail to a full mailbox, after a day of retries. */
async function showRetries(stage: Stage, page: Page): Promise<void> {
  const { id } = await stage.call<{ id: string }>("POST", "/api/v1/send", { ...MAIL, to: "softbounced@simulator.mailsvc.test" });
  await stage.call("POST", "/__dev/clock/advance", { by: "6h" });
  await look(stage, page, `/dashboard/activity/${id}`);
  await page.getByRole("heading", { name: "Timeline" }).waitFor();
  await page.frameLocator("iframe").getByText("left our house today").waitFor();
}

async function showInbox(stage: Stage, page: Page): Promise<void> {
  const subjects = ["Welcome to Acme", "Confirm your address", "Your receipt", "Your order is on its way"];
  for (const [i, subject] of subjects.entries()) {
    const to = `${["grace", "alan", "edsger", "ada"][i]}@example.com`;
    await stage.call("POST", "/api/v1/send", { ...MAIL, to, subject });
    await stage.call("POST", "/__dev/clock/advance", { by: "7m" });
  }
  const { data } = await stage.call<{ data: { id: string }[] }>("GET", "/__dev/inbox");
  await look(stage, page, `/dashboard/inbox/${data[0]?.id}`);
  await page.frameLocator("iframe").getByText("left our house today").waitFor();
}

async function showTemplate(stage: Stage, page: Page): Promise<void> {
  const { from } = MAIL;
  const subject = "Your order {{ order.number }} is on its way";
  const { id } = await stage.call<{ id: string }>("POST", "/api/v1/templates", {
    name: "Order shipped",
    subject,
    from,
    html: ORDER,
    publish: true,
  });
  await look(stage, page, "/dashboard/templates");
  await page.evaluate(
    (key) => localStorage.setItem(key, JSON.stringify({ name: "Ada", order: { number: "1042" } })),
    `mailsvc.samples.${id}`,
  );
  await look(stage, page, `/dashboard/templates/${id}`);
  await page.locator(".cm-content").waitFor();
  await page.getByRole("list", { name: "Problems" }).waitFor();
  await page.frameLocator('iframe[title="The preview"]').frameLocator("iframe").getByText("Hello Ada").waitFor();
}

async function showConversation(stage: Stage, page: Page): Promise<void> {
  await stage.call("POST", "/api/v1/send", { ...MAIL, to: "ada@example.com", replyTo: "auto" });
  // Until then it is delivered.
  await stage.call("POST", "/__dev/clock/advance", { by: "2h" });
  const [mail] = (await stage.call<{ data: { id: string }[] }>("GET", "/__dev/inbox")).data;
  const { id } = await stage.call<{ id: string }>("POST", `/__dev/inbox/${mail?.id}/reply`, { text: "Can I still change the address?" });
  await stage.call("POST", "/__dev/clock/advance", { by: "20m" });
  await stage.call("POST", `/api/v1/received/${id}/reply`, { text: "Of course. Where shall it go?" });
  await stage.call("POST", "/__dev/clock/advance", { by: "1m" });
  await look(stage, page, `/dashboard/received/${id}`);
  await page.getByText("Where shall it go?").waitFor();
}

async function showAgent(stage: Stage, page: Page): Promise<void> {
  await using market = await createMarket(stage);
  await market.list("launch-writer", "Launch Writer");
  const agent = await market.turnOn("launch-writer");
  await agent.messages.create({ text: "The first draft of the launch mail is ready. I used your colors and your voice." });
  await market.brand.messages.create(agent.activationId, { text: "Nice. Please mention the summer sale." });
  await agent.messages.create({
    type: "APPROVAL_REQUEST",
    text: "I would send it on Monday at nine.",
    approval: { title: "Use this subject?", preview: { kind: "text", text: "Summer is here: 20 % off for two days" } },
  });
  await look(stage, page, `/dashboard/agents/${agent.activationId}`);
  await page.getByText("Use this subject?").first().waitFor();
}
