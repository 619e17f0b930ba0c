import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createStage, PATIENCE_MS, type Stage } from "./browser.ts";
import { EXECUTED, VECTORS } from "./vectors.ts";
import { follow, watch as watchStage } from "./watching.ts";

/** Where others can put a text that the dashboard shows. */
const PLACES = {
  html: (vector) => ({ html: `<p>hostile</p>${vector}` }),
  text: (vector) => ({ text: `hostile ${vector}` }),
  subject: (vector) => ({ subject: `hostile ${vector}` }),
  from: (vector) => ({ from: `${JSON.stringify(vector)} <hello@acme.example>` }),
  to: (vector) => ({ to: `${JSON.stringify(vector)} <ada@example.com>` }),
  tag: (vector) => ({ tags: { kind: vector.slice(0, 250) } }),
  header: (vector) => ({ headers: { "X-Hostile": vector } }),
  file: (vector) => ({ attachments: [{ filename: vector.replaceAll(/[\\/]/g, "_"), content: "aGk=" }] }),
} satisfies Readonly<Record<string, (vector: string) => object>>;

const MAILS = Object.entries(PLACES).flatMap(([place, put]) => VECTORS.map((vector) => ({ place, put, vector })));

let stage: Stage;
const watch = (path: string, bypassCSP: boolean) => watchStage(stage, path, bypassCSP);
const mails: { readonly id: string; readonly captured: string }[] = [];

beforeAll(async () => {
  stage = await createStage();
  const ids = new Map<string, string>();
  for (const [i, { put, vector }] of MAILS.entries()) {
    const mail = { from: "hello@acme.example", to: `reader${i}@example.com`, subject: `Mail ${i}`, text: "hostile" };
    const { id } = await stage.call<{ id: string }>("POST", "/api/v1/send", { ...mail, ...put(vector) });
    ids.set(id, "");
  }
  const answer = `<script>console.log('${EXECUTED}')</script>`;
  await stage.call("POST", "/api/v1/webhooks", { url: await answerWith(answer), description: answer });
  while ([...ids.values()].includes("")) {
    let cursor = "";
    do {
      const page = await stage.call<{ data: { id: string; emailId: string }[]; pagination: { nextCursor: string | null } }>(
        "GET",
        `/__dev/inbox?limit=100${cursor === "" ? "" : `&cursor=${cursor}`}`,
      );
      for (const { id, emailId } of page.data) ids.set(emailId, id);
      cursor = page.pagination.nextCursor ?? "";
    } while (cursor !== "");
  }
  for (const [id, captured] of ids) mails.push({ id, captured });
}, PATIENCE_MS * 5);
afterAll(async () => {
  await stage?.[Symbol.asyncDispose]();
  receiver.close();
});

let answered = "";
const receiver = createServer((_request, response) => response.writeHead(500, { "content-type": "text/html" }).end(answered));

/** A receiver of webhooks that answers with a text; answers its address. */
async function answerWith(text: string): Promise<string> {
  answered = text;
  await new Promise<void>((done) => receiver.listen(0, "127.0.0.1", done));
  return `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
}

/** The tab of an email that shows what stands in a place, for places that are not in sight at once. */
const TABS: Readonly<Record<string, string>> = { header: "Headers", file: "Attachments", to: "Recipients" };

/** Looks at an email: all that is in sight at once, and the tab that shows what is hostile. */
async function lookAt(page: Page, id: string, place: string): Promise<void> {
  await follow(page, `/dashboard/activity/${id}`);
  await page.locator("main code", { hasText: id }).first().waitFor();
  if (place === "html") await page.frameLocator("iframe").getByText("hostile").waitFor();
  const tab = TABS[place];
  if (tab !== undefined) await page.getByRole("tab", { name: tab }).click();
}

test("what counts executions counts them", async () => {
  const { page, seen } = await watch("/dashboard/activity", true);
  await page.goto("about:blank");
  const said = page.waitForEvent("console", (message) => message.text() === EXECUTED);
  await page.setContent(VECTORS[3] ?? "");
  await said;
  expect(seen.executed).toBe(1);
});

test.each([
  ["and load nothing from elsewhere", false],
  ["not even where the browser ignores the policies of pages", true],
])(
  `more than 200 hostile mails execute nothing, %s`,
  async (_, bypassCSP) => {
    expect(mails.length).toBeGreaterThan(200);
    const { page, faults, seen } = await watch("/dashboard/activity", bypassCSP);
    for (const [i, { id, captured }] of mails.entries()) {
      await lookAt(page, id, MAILS[i]?.place ?? "");
      expect(new URL(page.url()).pathname).toBe(`/dashboard/activity/${id}`);
      if (bypassCSP) continue;
      await follow(page, `/dashboard/inbox/${captured}`);
      await page.getByText("What happened").waitFor();
    }
    expect(seen.executed).toBe(0);
    if (bypassCSP) return;
    expect(seen.elsewhere).toEqual([]);
    expect(faults).toEqual([]);
  },
  PATIENCE_MS * 15,
);

test(
  "links of hostile mails that a person clicks execute nothing",
  async () => {
    const { page, seen } = await watch("/dashboard/activity", false);
    for (const [i, { place, vector }] of MAILS.entries()) {
      if (place !== "html" || !vector.includes("javascript:")) continue;
      await page.goto(`/dashboard/activity/${mails[i]?.id}`);
      const frame = page.frameLocator("iframe");
      await frame.getByText("hostile").waitFor();
      for (const link of await frame.locator("a, button").all()) await link.click({ force: true, noWaitAfter: true });
    }
    expect(seen.executed).toBe(0);
  },
  PATIENCE_MS * 3,
);

test(
  "a mail that is opened outside of its frame executes nothing",
  async () => {
    const { page, seen } = await watch("/dashboard/activity", false);
    const { workspaceId } = stage.server;
    for (const [i, { place }] of MAILS.entries()) {
      if (place !== "html") continue;
      await page.goto(`/dashboard/frame/emails/${mails[i]?.id}?workspace=${workspaceId}&remote=1`);
      await page.getByText("hostile").waitFor();
    }
    expect(seen.executed).toBe(0);
  },
  PATIENCE_MS * 3,
);

test(
  "what a hostile receiver of webhooks answers, and lists of hostile mail, execute nothing",
  async () => {
    const { page, faults, seen } = await watch("/dashboard/webhooks", false);
    for (const path of ["activity", "inbox", "events", "webhooks"]) {
      await page.goto(`/dashboard/${path}`);
      await page.locator(".rows a").first().waitFor();
    }
    await page.locator(".rows a").first().click();
    await page.getByText("All attempts have failed").waitFor();
    await page.locator(".rows .row", { hasText: "500" }).first().locator("a").click();
    await page.getByText("Attempt 1").waitFor();
    await page.getByText(answered).first().waitFor();
    expect(seen).toEqual({ executed: 0, elsewhere: [] });
    expect(faults).toEqual([]);
  },
  PATIENCE_MS * 2,
);
