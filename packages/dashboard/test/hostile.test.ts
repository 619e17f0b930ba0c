import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createStage, PATIENCE_MS, type Stage } from "./browser.ts";
import { EXECUTED, VECTORS } from "./vectors.ts";
import { follow, watch as watchStage } from "./watching.ts";

/** Where others can put a text that the dashboard shows. */
const PLACES: Readonly<Record<string, (vector: string, i: number) => object>> = {
  html: (vector) => ({ html: `<p>hostile</p>${vector}` }),
  text: (vector) => ({ text: `hostile ${vector}` }),
  subject: (vector) => ({ subject: `hostile ${vector}` }),
  from: (vector) => ({ from: `${JSON.stringify(vector)} <hello@acme.example>` }),
  to: (vector, i) => ({ to: `${JSON.stringify(vector)} <reader${i}@example.com>` }),
  tag: (vector) => ({ tags: { kind: vector.slice(0, 250) } }),
  header: (vector) => ({ headers: { "X-Hostile": vector } }),
  file: (vector) => ({ attachments: [{ filename: vector.replaceAll(/[\\/]/g, "_"), content: "aGk=" }] }),
};

/** A mail for each vector, which has it in all of these places. */
const MAILS = VECTORS.map((vector, i) => Object.assign({}, ...Object.values(PLACES).map((put) => put(vector, i))) as object);

let stage: Stage;
const watch = (path: string, bypassCSP: boolean) => watchStage(stage, path, bypassCSP);
const mails: { readonly id: string; readonly captured: string }[] = [];

beforeAll(async () => {
  stage = await createStage();
  const answer = `<script>console.log('${EXECUTED}')</script>`;
  await stage.call("POST", "/api/v1/webhooks", { url: await answerWith(answer), description: answer });
  mails.push(
    ...(await Promise.all(
      MAILS.map(async (mail, i) => {
        const { id } = await stage.call<{ id: string }>("POST", "/api/v1/send", mail);
        const captured = await stage.call<{ id: string }>("GET", `/__dev/inbox/wait?timeout=60&to=reader${i}@example.com`);
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
async function lookAt(page: Page, path: string): Promise<string> {
  await follow(page, path);
  await page.frameLocator("iframe").getByText("hostile").waitFor();
  return page.evaluate(async () => {
    // What is rendered is drawn, and what that causes has happened.
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
    for (const [i, { id, captured }] of mails.entries()) {
      for (const path of [`/dashboard/activity/${id}`, `/dashboard/inbox/${captured}`]) {
        expect(await lookAt(page, path)).toContain(`hostile ${VECTORS[i]}`);
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
    for (const [i, vector] of VECTORS.entries()) {
      if (!vector.includes("javascript:")) continue;
      await follow(page, `/dashboard/activity/${mails[i]?.id}`);
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
    for (const { id } of mails) {
      await page.goto(`/dashboard/frame/emails/${id}?workspace=${workspaceId}&remote=1`);
      await page.getByText("hostile").waitFor();
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
