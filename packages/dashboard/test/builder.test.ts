import { afterAll, beforeAll, expect, test } from "vitest";
import { createStage, type OpenPage, PATIENCE_MS, picture, type Stage } from "./browser.ts";
import { type Look, testLooks } from "./looks.ts";
import { createMarket, type Market } from "./market.ts";

let stage: Stage;
let market: Market;
let dead = "";

beforeAll(async () => {
  stage = await createStage();
  market = await createMarket(stage);
  await market.list("launch-writer", "Launch Writer", ["brand:read", "agent:post_messages", "agent:write_runs"]);
  const { hooks, builder, brand } = market;
  await builder.listings.create({ slug: "draft-one", name: "A draft", webhookUrl: hooks.url, permissions: ["brand:read"] });
  hooks.script = () => 503;
  const { id } = await brand.activations.create({
    agentSlug: "launch-writer",
    acceptedPermissions: ["brand:read", "agent:post_messages", "agent:write_runs"],
  });
  // Until the last retry has failed.
  while ((await brand.activations.get(id)).status === "active") await brand.clock.advance({ by: "6h" });
  dead = (await builder.deliveries.list("launch-writer", { state: "dead" })).data[0]?.id ?? "";
  hooks.script = () => 200;
}, PATIENCE_MS * 3);
afterAll(async () => {
  await market?.[Symbol.asyncDispose]();
  await stage?.[Symbol.asyncDispose]();
});

/** A page in the builder's workspace. */
async function open(path: string, options: Parameters<Stage["open"]>[1] = {}): Promise<OpenPage> {
  const opened = await stage.open("/dashboard/people", options);
  await opened.page.getByRole("combobox", { name: "Workspace" }).selectOption(market.builderWorkspace);
  await opened.page.goto(path);
  return opened;
}

const pages = (): readonly Look[] => [
  ["listings", "/dashboard/listings", "Launch Writer"],
  ["listing", "/dashboard/listings/launch-writer", "Permissions the agent needs"],
  ["listing-draft", "/dashboard/listings/draft-one", "Submit and pay"],
  ["listing-activations", "/dashboard/listings/launch-writer?tab=activations", "The webhook answered 503."],
  ["listing-deliveries", "/dashboard/listings/launch-writer?tab=deliveries", "agent.activated"],
  ["listing-delivery", `/dashboard/listings/launch-writer/deliveries/${dead}`, "Attempt 1"],
  ["new-listing", "/dashboard/new-listing", "Create the draft"],
];

testLooks({
  open,
  pages,
});

test(
  "a builder describes the settings of an agent and registers an address for install links",
  async () => {
    const { page, faults } = await open("/dashboard/listings/draft-one");
    const save = () => page.getByRole("button", { name: "Save" }).click();
    await page.getByLabel("Settings").fill("{");
    await save();
    await page.getByText("This is not JSON").waitFor();
    await page.getByLabel("Settings").fill('{"type": "object", "properties": {"tone": {"type": "text"}}}');
    await save();
    await expect.poll(() => page.locator('[aria-invalid="true"]').count()).toBe(1);
    const settingsSchema = { type: "object", properties: { tone: { type: "string", enum: ["warm", "dry"] } } };
    await page.getByLabel("Settings").fill(JSON.stringify(settingsSchema));
    await page.getByLabel("Addresses that install links").fill("https://agent.example.com/installed\n");
    await save();
    await page.getByText("Saved").waitFor();
    expect(await market.builder.listings.get("draft-one")).toMatchObject({
      settingsSchema,
      installRedirects: ["https://agent.example.com/installed"],
    });
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "a builder edits a listing, sees what is wrong at its field, and corrects it",
  async () => {
    const { page, faults } = await open("/dashboard/listings");
    await page.getByRole("link", { name: "Launch Writer" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("");
    await page.getByLabel("Webhook URL").fill("ftp://agent.example.com/hook");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("A webhook URL must start with https://.").waitFor();
    await expect.poll(() => page.locator('[aria-invalid="true"]').count()).toBe(2);
    await picture(page, "listing-wrong");
    await page.getByRole("textbox", { name: "Name" }).fill("Launch Writer 2");
    await page.getByLabel("Webhook URL").fill(market.hooks.url);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "Launch Writer 2" }).waitFor();
    expect(await market.builder.listings.get("launch-writer")).toMatchObject({ name: "Launch Writer 2", webhookUrl: market.hooks.url });
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "a builder sends a test webhook and sees a wrong answer, then a right one",
  async () => {
    const { page, faults } = await open("/dashboard/listings/launch-writer");
    market.hooks.script = () => (response) => response.writeHead(500).end("<script>top.executed = 1</script> no handler");
    const send = page.getByRole("button", { name: "Send a test webhook" });
    await send.click();
    await page.getByText("no handler").waitFor();
    await page.getByText("Status 500").waitFor();
    await picture(page, "listing-tested");
    expect(await page.evaluate(() => "executed" in globalThis)).toBe(false);
    market.hooks.script = () => 200;
    await send.click();
    await page.getByRole("heading", { name: "The webhook took the test" }).waitFor();
    expect(market.hooks.types().filter((type) => type === "test.ping")).toHaveLength(2);
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "a builder rotates the secret, sees it once, and how long the old one still signs",
  async () => {
    const { page, faults } = await open("/dashboard/listings/launch-writer");
    await page.getByRole("button", { name: "Rotate the secret" }).click();
    await page.getByLabel("The old secret still signs").selectOption("For an hour");
    await page.getByRole("button", { name: "Rotate", exact: true }).click();
    const shown = page.getByRole("region", { name: "The new AGENT_WEBHOOK_SECRET" });
    await shown.waitFor();
    expect((await shown.textContent())?.length).toBeGreaterThan(20);
    await page.getByText("signs until").waitFor();
    await picture(page, "listing-rotated");
    await page.getByRole("button", { name: "I have stored it" }).click();
    await shown.waitFor({ state: "detached" });
    expect((await market.builder.listings.get("launch-writer")).secretRotatesAt).not.toBeNull();
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "a builder submits a draft and pays, and it is in the catalog",
  async () => {
    const { page, faults } = await open("/dashboard/listings/draft-one");
    await page.getByRole("button", { name: "Submit and pay" }).click();
    await page.getByRole("button", { name: "Confirm the payment" }).click();
    await page.getByText("Paid until").waitFor();
    expect(await market.brand.catalog.get("draft-one")).toMatchObject({ name: "A draft" });
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);
