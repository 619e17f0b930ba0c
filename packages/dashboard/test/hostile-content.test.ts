import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createStage, PATIENCE_MS, type Stage } from "./browser.ts";
import { createMarket, type Market } from "./market.ts";
import { VECTORS } from "./vectors.ts";
import { follow, watch } from "./watching.ts";

// Mail that was sent is looked at in hostile.test.ts.

let stage: Stage;
let market: Market;
const templates: string[] = [];
const received: string[] = [];
const agentPages: string[] = [];

beforeAll(async () => {
  stage = await createStage();
  market = await createMarket(stage);
  for (const [i, vector] of VECTORS.entries()) {
    const html = `<p>hostile ${i}</p>${vector}`;
    const fields = { name: `Hostile ${vector}`.slice(0, 200), slug: `hostile-${i}`, subject: `Hostile ${vector}`, html };
    templates.push((await stage.call<{ id: string }>("POST", "/api/v1/templates", fields)).id);
    const mail = { from: "hello@acme.example", to: `reader${i}@example.com`, subject: `Mail ${i} ${vector}`, text: "Hi", replyTo: "auto" };
    await stage.call("POST", "/api/v1/send", mail);
    const captured = await stage.call<{ id: string }>("GET", `/__dev/inbox/wait?timeout=60&to=reader${i}@example.com`);
    const reply = await stage.call<{ id: string }>("POST", `/__dev/inbox/${captured.id}/reply`, {
      text: `hostile ${i} ${vector}`,
      html,
      attachments: [{ filename: vector.replaceAll(/[\\/]/g, "_"), content: "aGk=" }],
    });
    received.push(reply.id);
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
afterAll(async () => {
  await market?.[Symbol.asyncDispose]();
  await stage?.[Symbol.asyncDispose]();
});

describe.each([
  ["nothing, and load nothing from elsewhere", false],
  ["nothing where the browser ignores the policies of pages", true],
])("execute %s:", (_, bypassCSP) => {
  test(
    "templates in their editor and preview",
    async () => {
      const { page, faults, seen } = await watch(stage, "/dashboard/templates", bypassCSP);
      for (const [i, id] of templates.entries()) {
        await follow(page, `/dashboard/templates/${id}`);
        await page.frameLocator('iframe[title="The preview"]').frameLocator("iframe").getByText(`hostile ${i}`, { exact: true }).waitFor();
      }
      expect(seen.executed).toBe(0);
      if (bypassCSP) return;
      expect(seen.elsewhere).toEqual([]);
      expect(faults).toEqual([]);
    },
    PATIENCE_MS * 5,
  );

  test(
    "answers of people, as text and as HTML",
    async () => {
      const { page, faults, seen } = await watch(stage, "/dashboard/received", bypassCSP);
      for (const [i, id] of received.entries()) {
        await follow(page, `/dashboard/received/${id}`);
        await page.getByText(`hostile ${i} `).first().waitFor();
        await page.getByRole("button", { name: "Show the HTML" }).click();
        await page.frameLocator("iframe").getByText(`hostile ${i}`, { exact: true }).waitFor();
      }
      expect(seen.executed).toBe(0);
      if (bypassCSP) return;
      expect(seen.elsewhere).toEqual([]);
      expect(faults).toEqual([]);
    },
    PATIENCE_MS * 5,
  );

  test(
    "messages, requests and logs of agents",
    async () => {
      const { page, faults, seen } = await watch(stage, "/dashboard/approvals", bypassCSP);
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
      expect(seen).toEqual({ executed: 0, elsewhere: [] });
      expect(faults).toEqual([]);
    },
    PATIENCE_MS * 3,
  );
});
