import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createStage, PATIENCE_MS, type Stage } from "./browser.ts";
import { createMarket, type Market } from "./market.ts";
import { groupVectors, VECTORS, writeHtml } from "./vectors.ts";
import { follow, watch } from "./watching.ts";

// Mail that was sent is looked at in hostile.test.ts.

let stage: Stage;
let market: Market;
const templates: string[] = [];
const received: string[] = [];

// A vector that does nothing without the policies of pages does nothing under them: these are tried with one in so many.
const UNDER_POLICIES = 3;

// As long as the name of a template may be, with what stands around it.
const MOST = 180;

const GROUPS = groupVectors(MOST);
const agentPages: string[] = [];

beforeAll(async () => {
  stage = await createStage();
  market = await createMarket(stage);
  const prepared = await Promise.all(GROUPS.map(prepare));
  for (const { template, reply } of prepared) {
    templates.push(template);
    received.push(reply);
  }
  await market.list("hostile", "Hostile");
  const agent = await market.turnOn("hostile");
  const run = await agent.runs.start({ title: (VECTORS[0] ?? "").slice(0, 200) });
  await agent.runs.log({
    runId: run.runId,
    entries: VECTORS.map((vector, i) => ({ message: `hostile ${i} ${vector}`, data: { [vector.slice(0, 50)]: vector } })),
    progress: { percent: 1, label: (VECTORS[1] ?? "").slice(0, 200) },
  });
  for (const [i, vector] of VECTORS.entries()) {
    const text = `hostile ${i} ${vector} [x](javascript:top.executed=1)`;
    await agent.messages.create({ text, format: "markdown" });
    if (i % 4 !== 0) continue;
    const approval = { title: text.slice(0, 200), preview: { kind: "text", text } as const };
    await agent.messages.create({ type: "APPROVAL_REQUEST", text, approval });
  }
  agentPages.push(
    "/dashboard/approvals",
    `/dashboard/agents/${agent.activationId}`,
    `/dashboard/agents/${agent.activationId}/runs/${run.runId}`,
  );
}, PATIENCE_MS * 5);

/** Stores a template that has vectors in all of its fields, and an answer to a mail that has them as text, as HTML and as files. */
async function prepare(group: readonly number[], at: number): Promise<{ readonly template: string; readonly reply: string }> {
  const vectors = group.map((i) => VECTORS[i] ?? "");
  const line = vectors.join(" ");
  const html = writeHtml(group);
  const fields = { name: `Hostile ${line}`, slug: `hostile-${at}`, subject: `Hostile ${line}`, html };
  const template = await stage.call<{ id: string }>("POST", "/api/v1/templates", fields);
  const mail = { from: "hello@acme.example", to: `reader${at}@example.com`, subject: `Mail ${at} ${line}`, text: "Hi", replyTo: "auto" };
  await stage.call("POST", "/api/v1/send", mail);
  const captured = await stage.call<{ id: string }>("GET", `/__dev/inbox/wait?timeout=60&to=reader${at}@example.com`);
  const reply = await stage.call<{ id: string }>("POST", `/__dev/inbox/${captured.id}/reply`, {
    text: group.map((i) => `hostile ${i} ${VECTORS[i]}`).join("\n"),
    html,
    attachments: vectors.map((vector) => ({ filename: vector.replaceAll(/[\\/]/g, "_"), content: "aGk=" })),
  });
  return { template: template.id, reply: reply.id };
}

afterAll(async () => {
  await market?.[Symbol.asyncDispose]();
  await stage?.[Symbol.asyncDispose]();
});

describe.each([
  ["nothing, and load nothing from elsewhere", false],
  ["nothing where the browser ignores the policies of pages", true],
])("execute %s:", (_, bypassCSP) => {
  const isTried = (at: number): boolean => bypassCSP || at % UNDER_POLICIES === 0;

  test(
    "templates in their editor and preview",
    async () => {
      const { page, expectNothing } = await watch(stage, "/dashboard/templates", bypassCSP);
      for (const [at, id] of templates.entries()) {
        if (!isTried(at)) continue;
        await follow(page, `/dashboard/templates/${id}`);
        const preview = page.frameLocator('iframe[title="The preview"]').frameLocator("iframe");
        for (const i of GROUPS[at] ?? []) await preview.getByText(`hostile ${i}`, { exact: true }).waitFor();
      }
      expectNothing();
    },
    PATIENCE_MS * 5,
  );

  test(
    "answers of people, as text and as HTML",
    async () => {
      const { page, expectNothing } = await watch(stage, "/dashboard/received", bypassCSP);
      for (const [at, id] of received.entries()) {
        if (!isTried(at)) continue;
        await follow(page, `/dashboard/received/${id}`);
        for (const i of GROUPS[at] ?? []) await page.getByText(`hostile ${i} `).filter({ visible: true }).first().waitFor();
        await page.getByRole("button", { name: "Show the HTML" }).click();
        for (const i of GROUPS[at] ?? []) await page.frameLocator("iframe").getByText(`hostile ${i}`, { exact: true }).waitFor();
      }
      expectNothing();
    },
    PATIENCE_MS * 5,
  );

  test(
    "messages, requests and logs of agents",
    async () => {
      const { page, expectNothing } = await watch(stage, "/dashboard/approvals", bypassCSP);
      for (const path of agentPages) {
        await follow(page, path);
        await page
          .locator("main")
          .getByText(/hostile \d/)
          .first()
          .waitFor();
        expect(await page.locator("main :is(img, script, iframe, object, embed, video, base, meta, style)").count(), path).toBe(0);
        expect(await page.locator('main a[href^="javascript:"]').count(), path).toBe(0);
      }
      expectNothing();
    },
    PATIENCE_MS * 3,
  );
});
