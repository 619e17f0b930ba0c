import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createStage, PATIENCE_MS, type Stage } from "./browser.ts";
import { EXECUTED, groupVectors, VECTORS, writeHtml } from "./vectors.ts";
import { follow, watch as watchStage } from "./watching.ts";

// The share of mails that is looked at where the policies of pages hold: one in so many.
const UNDER_POLICIES = 3;

// As much as the name of a sender may hold, with what stands around it.
const GROUPS = groupVectors(180);

/** Fields of a mail in which others can place text that the dashboard shows. */
const PLACES: Readonly<Record<string, (group: readonly number[], at: number) => object>> = {
  html: (group) => ({ html: writeHtml(group) }),
  text: (group) => ({ text: group.map((i) => `hostile ${i} ${VECTORS[i]}`).join("\n") }),
  subject: (group) => ({ subject: `hostile ${toLine(group)}` }),
  from: (group) => ({ from: `${JSON.stringify(toLine(group))} <hello@acme.example>` }),
  to: (group, at) => ({ to: `${JSON.stringify(toLine(group))} <reader${at}@example.com>` }),
  tag: (group) => ({ tags: Object.fromEntries(group.map((i) => [`kind${i}`, VECTORS[i]?.slice(0, 250)])) }),
  header: (group) => ({ headers: Object.fromEntries(group.map((i) => [`X-Hostile-${i}`, VECTORS[i]])) }),
  file: (group) => ({ attachments: group.map((i) => ({ filename: VECTORS[i]?.replaceAll(/[\\/]/g, "_"), content: "aGk=" })) }),
};

const toLine = (group: readonly number[]): string => group.map((i) => VECTORS[i]).join(" ");

/** Mails that have all vectors in all of these places. */
const MAILS = GROUPS.map((group, at) => Object.assign({}, ...Object.values(PLACES).map((put) => put(group, at))) as object);

let stage: Stage;
const watch = (path: string, bypassCSP: boolean) => watchStage(stage, path, bypassCSP);
const mails: { readonly id: string; readonly captured: string }[] = [];

beforeAll(async () => {
  stage = await createStage();
  const answer = `<script>console.log('${EXECUTED}')</script>`;
  await stage.call("POST", "/api/v1/webhooks", { url: await answerWith(answer), description: answer });
  mails.push(
    ...(await Promise.all(
      MAILS.map(async (mail, at) => {
        const { id } = await stage.call<{ id: string }>("POST", "/api/v1/send", mail);
        const captured = await stage.call<{ id: string }>("GET", `/__dev/inbox/wait?timeout=60&to=reader${at}@example.com`);
        return { id, captured: captured.id };
      }),
    )),
  );
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

/** Looks at a mail: at all that is in sight at once, its HTML, and each of its tabs; what these show as text. */
async function lookAt(page: Page, path: string, group: readonly number[]): Promise<string> {
  await follow(page, path);
  for (const i of group) await page.frameLocator("iframe").getByText(`hostile ${i}`, { exact: true }).waitFor();
  return page.evaluate(async () => {
    // Lets rendered content be painted and its effects happen.
    const frame = (): Promise<unknown> => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    const seen: string[] = [];
    for (const tab of document.querySelectorAll<HTMLElement>('main [role="tab"]')) {
      tab.click();
      await frame();
      seen.push(document.querySelector('main [role="tabpanel"]')?.textContent ?? "");
    }
    return seen.join("\n");
  });
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
  "mails that are hostile in every place execute nothing, %s",
  async (_, bypassCSP) => {
    expect(VECTORS.length * Object.keys(PLACES).length).toBeGreaterThan(200);
    const { page, expectNothing } = await watch("/dashboard/activity", bypassCSP);
    for (const [at, { id, captured }] of mails.entries()) {
      // A vector that does nothing without the policies does nothing under them: these are tried with some of the mails.
      if (!bypassCSP && at % UNDER_POLICIES !== 0) continue;
      for (const path of [`/dashboard/activity/${id}`, `/dashboard/inbox/${captured}`]) {
        const seen = await lookAt(page, path, GROUPS[at] ?? []);
        for (const i of GROUPS[at] ?? []) expect(seen).toContain(`hostile ${i} ${VECTORS[i]}`);
        expect(new URL(page.url()).pathname).toBe(path);
      }
    }
    expectNothing();
  },
  PATIENCE_MS * 8,
);

test(
  "links of hostile mails that a person clicks execute nothing",
  async () => {
    const { page, seen } = await watch("/dashboard/activity", false);
    for (const [at, group] of GROUPS.entries()) {
      if (!toLine(group).includes("javascript:")) continue;
      await follow(page, `/dashboard/activity/${mails[at]?.id}`);
      const frame = page.frameLocator("iframe");
      for (const i of group) await frame.getByText(`hostile ${i}`, { exact: true }).waitFor();
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
    for (const [at, { id }] of mails.entries()) {
      await page.goto(`/dashboard/frame/emails/${id}?workspace=${workspaceId}&remote=1`);
      for (const i of GROUPS[at] ?? []) await page.getByText(`hostile ${i}`, { exact: true }).waitFor();
    }
    expect(seen.executed).toBe(0);
  },
  PATIENCE_MS * 3,
);

test(
  "what a hostile receiver of webhooks answers, and lists of hostile mail, execute nothing",
  async () => {
    const { page, expectNothing } = await watch("/dashboard/webhooks", false);
    for (const path of ["activity", "inbox", "events", "webhooks"]) {
      await page.goto(`/dashboard/${path}`);
      await page.locator(".rows a").first().waitFor();
    }
    await page.locator(".rows a").first().click();
    await page.getByText("All attempts have failed").waitFor();
    await page.locator(".rows .row", { hasText: "500" }).first().locator("a").click();
    await page.getByText("Attempt 1").waitFor();
    await page.getByText(answered).first().waitFor();
    expectNothing();
  },
  PATIENCE_MS * 2,
);
