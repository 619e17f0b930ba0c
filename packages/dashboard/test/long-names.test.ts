import { afterAll, beforeAll, expect, test } from "vitest";
import { createStage, PATIENCE_MS, type Stage } from "./browser.ts";
import { DEVICES } from "./looks.ts";
import { createMarket } from "./market.ts";
import { connect } from "./marketing.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await createStage();
}, PATIENCE_MS * 2);
afterAll(() => stage?.[Symbol.asyncDispose]());

test(
  "names and addresses without a space, as long as the server takes them, make no page wider than the window",
  async () => {
    const sdk = connect(stage);
    const name = "W".repeat(100);
    await sdk.lists.create({ name });
    const webhook = await sdk.webhooks.create({ url: `https://example.com/${"h".repeat(400)}`, events: ["*"] });
    const automation = await sdk.automations.create({ name, trigger: { type: "contact.created" }, steps: [], connections: [] });
    const { page, faults } = await stage.open("/dashboard");
    for (const [path, text] of [
      ["contacts", "Contacts"],
      ["lists", name],
      [`webhooks/${webhook.id}`, "Rotate the secret"],
      [`automations/${automation.id}`, "Activate"],
      [`automations/${automation.id}/edit`, "Save"],
    ] as const) {
      for (const viewport of [DEVICES.phone, { width: 1280, height: 800 }]) {
        await page.setViewportSize(viewport);
        await page.goto(`/dashboard/${path}`);
        await page.locator("main").getByText(text, { exact: true }).first().waitFor();
        if (path === "contacts") await page.locator(".filters option", { hasText: name }).waitFor({ state: "attached" });
        const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect(wider, `${path} at ${viewport.width}`).toBeLessThanOrEqual(0);
      }
    }
    expect(faults).toEqual([]);
  },
  PATIENCE_MS * 3,
);

test(
  "words of 60 letters in every text of an agent stay within its cards, and the buttons to answer in sight",
  async () => {
    await using market = await createMarket(stage);
    const word = "W".repeat(60);
    await market.list("wordy", word, undefined, word);
    const agent = await market.turnOn("wordy");
    const run = await agent.runs.start({ runId: word, title: word, trigger: { type: "message", ref: word } });
    await agent.runs.log({
      runId: run.runId,
      entries: [{ message: word, data: { [word]: word } }],
      progress: { percent: 1, label: word },
    });
    await agent.messages.create({ text: word });
    await agent.messages.create({
      type: "APPROVAL_REQUEST",
      text: word,
      approval: {
        title: word,
        preview: { kind: "text", text: word },
        options: [
          { id: "yes", label: word, style: "primary" },
          { id: "no", label: "V".repeat(60) },
        ],
      },
    });
    await market.brand.credits.grant({ amount: 10, description: word });
    await agent.credits.consume({ amount: 1, action: "draft", runId: run.runId, description: word }, { idempotencyKey: "1" });
    const { page, faults } = await stage.open("/dashboard");
    const at = `agents/${agent.activationId}`;
    for (const path of ["approvals", "agents", at, `${at}/runs/${word}`, "catalog", "catalog/wordy", "credits"]) {
      for (const viewport of [DEVICES.phone, { width: 820, height: 900 }, { width: 1280, height: 800 }]) {
        await page.setViewportSize(viewport);
        await page.goto(`/dashboard/${path}`);
        await page.locator("main").getByText(word).first().waitFor({ state: "attached" });
        const beyond = await page.evaluate(listBeyondCards);
        expect(beyond, `${path} at ${viewport.width}`).toEqual([]);
      }
    }
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 5,
);

/** Runs in the page: what is wider than the window, or than the card in which it stands. */
function listBeyondCards(): string[] {
  const beyond = document.documentElement.scrollWidth > innerWidth ? ["the page is wider than the window"] : [];
  for (const element of document.querySelectorAll("main *")) {
    const { left, right, width } = element.getBoundingClientRect();
    const card = element.parentElement?.closest(".card, .message, .page-head, .preview, .row > div")?.getBoundingClientRect();
    const cut = element.closest(".row > div, .hidden");
    const most = Math.min(card?.right ?? innerWidth, innerWidth);
    if (width > 0 && !cut && (right > most + 1 || left < (card?.left ?? 0) - 1)) beyond.push(`${element.tagName}.${element.className}`);
  }
  return beyond;
}
