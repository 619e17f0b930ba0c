import type { AgentClient } from "@mailsvc/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabase } from "../../server/test/postgres.ts";
import { createStage, PATIENCE_MS, picture, type Stage } from "./browser.ts";
import { tabTo } from "./keyboard.ts";
import { type Look, testLooks } from "./looks.ts";
import { createMarket, type Market } from "./market.ts";
import { PAYLOADS } from "./payloads.ts";

let stage: Stage;
let market: Market;
let agent: AgentClient;
let activation = "";
const RUN = "run-for-the-launch";

beforeAll(async () => {
  stage = await createStage();
  market = await createMarket(stage);
  await market.list("launch-writer", "Launch Writer");
  await market.list("page-painter", "Page Painter", ["brand:read", "assets:write", "agent:consume_credits"], "Paints what a page needs.");
  await market.list("list-keeper", "List Keeper", ["lists:read_metadata", "agent:wakeups"], "Watches how lists grow and tells you.");
  agent = await market.turnOn("launch-writer");
  activation = agent.activationId;
  await market.brand.credits.grant({ amount: 1000, description: "March" });
  await agent.runs.start({ runId: RUN, title: "Draft the launch page", trigger: { type: "message" } });
  await agent.runs.log({
    runId: RUN,
    entries: [
      { message: "Read the brand" },
      { message: "The logo is small", level: "warn", data: { width: 40 } },
      { message: "Wrote the headline" },
    ],
    progress: { percent: 50, label: "Writing the page" },
  });
  await agent.credits.consume({ amount: 25, action: "draft-page", runId: RUN, description: "400 words" }, { idempotencyKey: "draft-1" });
  await agent.messages.create({ text: "The first draft is ready.\n\nI used **your** colors." });
  await market.brand.messages.create(activation, { text: "Please mention the summer sale." });
  await agent.messages.create({
    type: "APPROVAL_REQUEST",
    text: "I would send it on Monday at nine.",
    approval: { title: "Use this subject?", preview: { kind: "text", text: "Summer is here: 20 % off for two days" } },
  });
}, PATIENCE_MS * 3);
afterAll(async () => {
  await market?.[Symbol.asyncDispose]();
  await stage?.[Symbol.asyncDispose]();
});

const pages = (): readonly Look[] => [
  ["catalog", "/dashboard/catalog", "Page Painter"],
  ["catalog-agent", "/dashboard/catalog/page-painter", "Read brand colors, logo and voice"],
  ["install", "/dashboard/install/page-painter", "Read brand colors, logo and voice"],
  ["agents", "/dashboard/agents", "Launch Writer"],
  ["agent", `/dashboard/agents/${activation}`, "Please mention the summer sale."],
  ["agent-run", `/dashboard/agents/${activation}/runs/${RUN}`, "Wrote the headline"],
  ["approvals", "/dashboard/approvals", "Use this subject?"],
  ["credits", "/dashboard/credits", "400 words"],
];

testLooks({
  open: (...args) => stage.open(...args),
  pages,
});

test(
  "a brand finds an agent, reads what it asks for, consents, and turns it on",
  async () => {
    const { page, faults } = await stage.open("/dashboard/catalog");
    await page.getByRole("searchbox", { name: "Search" }).fill("paints");
    await page.getByText("Launch Writer").waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Page Painter" }).click();
    await page.getByText("Save images to the asset library").waitFor();
    const turnOn = page.getByRole("button", { name: "Turn it on" });
    expect(await turnOn.isDisabled()).toBe(true);
    await page.getByLabel("Credits a month, at most").fill("500");
    await page.getByRole("checkbox", { name: /I let Page Painter do this/ }).check();
    await turnOn.click();
    await page.waitForURL(/\/dashboard\/agents\/act_/);
    await page.getByText("at most 500 a month").waitFor();
    const { data } = await market.brand.activations.list({ agentSlug: "page-painter" });
    expect(data).toMatchObject([{ status: "active", creditLimit: 500, scopes: ["brand:read", "assets:write", "agent:consume_credits"] }]);
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "a brand answers an approval by keyboard alone, and the number in the navigation follows",
  async () => {
    const { page, faults } = await stage.open("/dashboard/credits");
    await page.getByRole("link", { name: /^Approvals 1 open$/ }).waitFor();
    const { id } = await agent.messages.create({
      type: "APPROVAL_REQUEST",
      text: "It is short.",
      approval: { title: "Publish the launch page?" },
    });
    await page.getByRole("link", { name: /^Approvals 2 open$/ }).waitFor();
    await tabTo(page, /^Approvals/);
    await page.keyboard.press("Enter");
    await page.getByText("Publish the launch page?").waitFor();
    await tabTo(page, /Comment for the agent/);
    await page.keyboard.type("Nice.");
    await tabTo(page, /^Approve /);
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: /^Approvals 1 open$/ }).waitFor();
    expect((await market.brand.messages.get(id)).approval).toMatchObject({ status: "APPROVED", comment: "Nice." });
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "a brand sees the mail that an agent proposes in a closed frame, and sends it to the people of its lists",
  async () => {
    const { brand } = market;
    const list = (await brand.lists.create({ name: "Readers" })).id;
    await brand.contacts.create({ email: "ada@example.com", firstName: "Ada" });
    await brand.lists.add(list, { contacts: ["ada@example.com"] });
    const propose = async (title: string) =>
      agent.messages.create({
        type: "APPROVAL_REQUEST",
        text: "A greeting.",
        approval: {
          title,
          proposal: {
            kind: "campaign",
            name: "Greeting",
            subject: "Hello {{firstName}}",
            html: "<p>Good to have you.</p><script>top.executed = 1</script><img src=x onerror='top.executed = 1'>",
            lists: [list],
          },
        },
      });
    const first = await propose("Send the greeting?");
    const { page, faults } = await stage.open("/dashboard/approvals");
    const card = (title: string) => page.getByRole("article", { name: title });
    const greeting = card("Send the greeting?");
    await greeting.getByText("Readers (1)").waitFor();
    await greeting.frameLocator("iframe").getByText("Good to have you.").waitFor();
    expect(await page.evaluate(() => "executed" in globalThis)).toBe(false);
    await greeting.getByLabel("From").fill("news@acme.example");
    await greeting.getByRole("button", { name: "Send to 1 person" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Send to 1 person" }).click();
    await greeting.waitFor({ state: "detached" });
    expect((await brand.approvals.get(first.id)).proposal?.created).toMatchObject({ kind: "campaign", sent: true });
    const second = await propose("Keep the greeting?");
    await card("Keep the greeting?").getByRole("button", { name: "Approve as a draft" }).click();
    await card("Keep the greeting?").waitFor({ state: "detached" });
    const { created } = (await brand.approvals.get(second.id)).proposal ?? {};
    expect(await brand.campaigns.get(created?.id ?? "")).toMatchObject({ status: "DRAFT", fromEmail: "news@acme.example" });
    await page.goto(`/dashboard/campaigns/${created?.id}/edit`);
    expect(await page.getByText("proposed by").getByRole("link").getAttribute("href")).toBe(`/dashboard/agents/${activation}`);
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "what an agent writes is shown as text and executes nothing",
  async () => {
    await market.list("hostile", `Agent ${PAYLOADS[1]}`, undefined, PAYLOADS.join("\n"));
    const hostile = await market.turnOn("hostile");
    const texts = PAYLOADS.map((payload, i) => `hostile ${i} ${payload} [x](javascript:top.executed=1)`);
    const run = await hostile.runs.start({ title: (texts[0] ?? "").slice(0, 200) });
    await hostile.runs.log({
      runId: run.runId,
      entries: texts.map((message) => ({ message, data: { [message.slice(0, 50)]: message } })),
      progress: { percent: 1, label: (texts[1] ?? "").slice(0, 200) },
    });
    for (const text of texts.slice(0, 9)) {
      await hostile.messages.create({ text, format: "markdown" });
      const approval = { title: text.slice(0, 200), preview: { kind: "text", text } as const };
      await hostile.messages.create({ type: "APPROVAL_REQUEST", text, approval });
    }
    const { page, faults } = await stage.open("/dashboard/approvals");
    const paths = [
      "/dashboard/approvals",
      "/dashboard/agents",
      `/dashboard/agents/${hostile.activationId}`,
      `/dashboard/agents/${hostile.activationId}/runs/${run.runId}`,
      "/dashboard/catalog",
      "/dashboard/catalog/hostile",
    ];
    for (const path of paths) {
      await page.goto(path);
      await page
        .locator("main")
        .getByText(/hostile \d|<img/)
        .first()
        .waitFor();
      expect(await page.evaluate(() => "executed" in globalThis), path).toBe(false);
      expect(await page.locator("main :is(img, script, iframe, object, embed, video, base, meta, style)").count(), path).toBe(0);
      expect(await page.locator('main a[href^="javascript:"]').count(), path).toBe(0);
    }
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 3,
);

test(
  "on Postgres, a brand reads why an agent is paused after failures, and resumes it",
  async () => {
    const database = await createDatabase();
    try {
      await using other = await createStage({ flags: { "database-url": database.url } });
      await using there = await createMarket(other);
      await there.list("launch-writer", "Launch Writer");
      there.hooks.script = () => 500;
      const { id } = await there.brand.activations.create({ agentSlug: "launch-writer", acceptedPermissions: await readScopes(there) });
      const { page, faults } = await other.open("/dashboard/agents");
      await page.getByRole("link", { name: "Launch Writer" }).click();
      await page.getByText("not yet").waitFor();
      // Until the last retry has failed.
      while ((await there.brand.activations.get(id)).status === "active") await there.brand.clock.advance({ by: "6h" });
      await page.getByRole("heading", { name: "Paused: its webhook fails" }).waitFor();
      await page.getByText("status 500").waitFor();
      await picture(page, "agent-paused");
      there.hooks.script = () => 200;
      await page.getByRole("button", { name: "Resume" }).click();
      await page.getByRole("heading", { name: "Its last failure, cleared" }).waitFor();
      expect(await there.brand.activations.get(id)).toMatchObject({ status: "active", pauseReasons: [] });
      expect(faults).toEqual([]);
    } finally {
      await database.drop();
    }
  },
  PATIENCE_MS * 4,
);

async function readScopes({ brand }: Market) {
  return (await brand.catalog.get("launch-writer")).permissions.map(({ scope }) => scope);
}
