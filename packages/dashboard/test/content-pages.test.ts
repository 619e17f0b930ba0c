import { afterAll, beforeAll, expect, test } from "vitest";
import { createStage, PATIENCE_MS, picture, type Stage } from "./browser.ts";
import { type Look, testLooks } from "./looks.ts";
import { createMarket, type Market } from "./market.ts";
import { type Acme, createAcme } from "./pictures/acme.ts";
import { paint } from "./pictures/paint.ts";

// Landing pages and their files, the brand, the plan, requests and changes.

let stage: Stage;
let market: Market;
let acme: Acme | null = null;

beforeAll(async () => {
  stage = await createStage();
  market = await createMarket(stage);
  acme = await createAcme(stage, market);
}, PATIENCE_MS * 3);
afterAll(async () => {
  acme?.close();
  await market?.[Symbol.asyncDispose]();
  await stage?.[Symbol.asyncDispose]();
});

const pages = (): readonly Look[] => [
  ["pictures", "/dashboard/pictures", "Tulips before our shop"],
  ["picture", `/dashboard/pictures/${acme?.picture}`, "600 × 300"],
  ["brand", "/dashboard/brand", "Language and texts"],
  ["landing-pages", "/dashboard/landing-pages", "Spring guide"],
  ["landing-page", `/dashboard/landing-pages/${acme?.landingPage}`, "I agree that Acme"],
  ["lead-magnets", "/dashboard/lead-magnets", "The spring guide"],
  ["lead-magnet", `/dashboard/lead-magnets/${acme?.magnet}`, "Spring guide"],
  ["plan", "/dashboard/plan", "Three agents"],
  ["requests", "/dashboard/requests", "/api/v1/"],
  ["key", `/dashboard/keys/${acme?.key}`, "Who did what"],
  ["audit", "/dashboard/audit", "changed the brand"],
];

testLooks({ open: (...args) => stage.open(...args), pages });

test(
  "a picture is uploaded, becomes the logo, and is deleted after a question",
  async () => {
    const { page, faults } = await stage.open("/dashboard/pictures");
    await page.getByRole("button", { name: "Upload a picture" }).click();
    const dialog = page.getByRole("dialog");
    const file = { name: "mark.png", mimeType: "image/png", buffer: Buffer.from(paint(60, 30, [10, 120, 60], [255, 255, 255]), "base64") };
    await dialog.getByLabel("File").setInputFiles(file);
    await dialog.getByLabel("Text in its place").fill("Our mark");
    await dialog.getByLabel("Tags").fill("logo, new mark");
    await dialog.getByRole("button", { name: "Upload" }).click();
    await page.getByRole("heading", { name: "mark.png" }).waitFor();
    await page.getByText("logo, new mark").waitFor();
    await page.getByRole("button", { name: "Make it the logo" }).click();
    await page.getByText("It is your logo now").waitFor();
    await page.goto("/dashboard/brand");
    await page.getByRole("link", { name: "mark.png" }).click();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByRole("heading", { name: "Pictures" }).waitFor();
    await page.goto("/dashboard/brand");
    await page.getByText("none yet").waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "a file that is no picture is refused in the dialog, which keeps what was typed",
  async () => {
    const { page } = await stage.open("/dashboard/pictures");
    await page.getByRole("button", { name: "Upload a picture" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("File").setInputFiles({ name: "notes.png", mimeType: "image/png", buffer: Buffer.from("no picture") });
    await dialog.getByLabel("Text in its place").fill("Notes");
    await dialog.getByRole("button", { name: "Upload" }).click();
    await dialog.getByRole("alert").first().waitFor();
    expect(await dialog.getByLabel("Text in its place").inputValue()).toBe("Notes");
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "the brand's colors and voice are changed, and a color that is none is refused by its field",
  async () => {
    const { page, faults } = await stage.open("/dashboard/brand");
    const look = page.getByRole("region", { name: "Colors and fonts" });
    await look.getByRole("button", { name: "Edit" }).click();
    const dialog = page.getByRole("dialog", { name: "Colors and fonts" });
    await dialog.getByLabel("Secondary", { exact: true }).fill("blue");
    await dialog.getByRole("button", { name: "Save" }).click();
    expect(
      await dialog.getByLabel("Secondary", { exact: true }).evaluate((input: HTMLInputElement) => input.validity.patternMismatch),
    ).toBe(true);
    await dialog.getByLabel("Secondary", { exact: true }).fill("#855000");
    await dialog.getByRole("button", { name: "Save" }).click();
    await look.getByText("#855000").waitFor();
    await page.getByRole("region", { name: "Voice" }).getByRole("button", { name: "Edit" }).click();
    await page.getByRole("dialog").getByLabel("Do not").fill("Promise dates\n\nShout");
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await page.getByRole("listitem").getByText("Shout").waitFor();
    const { colors, voice } = await market.brand.brand.get();
    expect(colors).toMatchObject({ primary: "#3150c8", secondary: "#855000" });
    expect(voice).toMatchObject({ tone: ["calm", "plain"], donts: ["Promise dates", "Shout"] });
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "a page of an agent is put online after a question, taken offline at once, and deleted with its numbers",
  async () => {
    const { page, faults } = await stage.open("/dashboard/landing-pages");
    await page.getByRole("link", { name: "Summer sale" }).click();
    await page.getByText("once it is online").waitFor();
    await page.getByRole("button", { name: "Put online" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Put online" }).click();
    await page.getByRole("status").getByText("It is online").waitFor();
    const address = await page.locator("main").getByRole("link", { name: "/p/summer-sale" }).getAttribute("href");
    expect((await fetch(address ?? "")).status).toBe(200);
    await page.getByRole("button", { name: "Take offline" }).click();
    await page.getByRole("status").getByText("It is offline").waitFor();
    expect((await fetch(address ?? "")).status).toBe(404);
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByRole("heading", { name: "Landing pages" }).waitFor();
    await page.getByRole("link", { name: "Spring guide" }).waitFor();
    expect(await page.getByRole("link", { name: "Summer sale" }).count()).toBe(0);
    await page.getByRole("link", { name: "Letters from Acme" }).click();
    await page.getByText("Where people sign up").waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "a lead magnet is uploaded and downloaded as it was",
  async () => {
    const { page, faults } = await stage.open("/dashboard/lead-magnets");
    await page.getByRole("button", { name: "Upload a file" }).click();
    const dialog = page.getByRole("dialog");
    const content = Buffer.from("%PDF-1.7\n% a checklist\n%%EOF\n");
    await dialog.getByLabel("File").setInputFiles({ name: "checklist.pdf", mimeType: "application/pdf", buffer: content });
    await dialog.getByLabel("Title").fill("The checklist");
    await dialog.getByRole("button", { name: "Upload" }).click();
    await page.getByRole("heading", { name: "The checklist" }).waitFor();
    await page.getByText("No page offers it yet").waitFor();
    const url = await page.getByRole("link", { name: "Download" }).getAttribute("href");
    expect(Buffer.from(await (await fetch(url ?? "")).arrayBuffer()).equals(content)).toBe(true);
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "a smaller plan names the agents that it turns off before it is chosen",
  async () => {
    const { page, faults } = await stage.open("/dashboard/plan");
    await page.getByRole("button", { name: "End the plan" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Turned off for good").waitFor();
    await dialog.getByRole("link", { name: "Launch Writer" }).waitFor();
    await picture(page, "plan-none");
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Choose Free" }).click();
    await page.getByRole("dialog").getByText("No agent is paused").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Choose Free" }).click();
    await page.getByText("1 of 1 agent turned on").waitFor();
    expect((await market.brand.plans.get()).plan).toBe("free");
    await market.brand.plans.change({ plan: "scale" });
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "the audit log shows who changed what, with the values before and after, and is filtered by person and noun",
  async () => {
    await market.brand.lists.update(acme?.newsletter ?? "", { name: "Letters", description: null });
    const { page, faults } = await stage.open("/dashboard/audit");
    const change = page.locator(".change", { hasText: "changed the list Letters" });
    await change.locator("summary").click();
    await change.getByRole("row", { name: "name Newsletter Letters" }).waitFor();
    await change.getByRole("row", { name: "description Once a month nothing" }).waitFor();
    await page.getByRole("combobox", { name: "Of" }).selectOption("templates");
    await page.locator(".change", { hasText: "the template Order shipped" }).first().waitFor();
    expect(await page.locator(".change", { hasText: "the key" }).count()).toBe(0);
    await page.getByRole("combobox", { name: "By" }).selectOption({ label: "Tom Ayodele" });
    await page.getByText("No change fits these filters").waitFor();
    await page.goto(`/dashboard/audit?object=${acme?.key}`);
    await expect.poll(() => page.locator(".change").count()).toBe(2);
    await page.locator(".change").first().getByRole("link", { name: "Shop in production" }).click();
    await page.getByRole("heading", { name: "Shop in production" }).waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "a request appears by itself, and is found by its path and its failure",
  async () => {
    const { page, faults } = await stage.open("/dashboard/requests?failed=true");
    await page.locator(".filters").waitFor();
    await fetch(`${stage.server.url}/api/v1/lists/list_missing`, { headers: { authorization: `Bearer ${stage.server.apiKey}` } });
    await page.locator("main").getByText("/api/v1/lists/list_missing").waitFor();
    await page.getByPlaceholder("Path: /api/v1/send").fill("/api/v1/lists");
    await expect.poll(() => page.locator(".window .row").count()).toBe(1);
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "a server that keeps no requests says how to keep them",
  async () => {
    await using server = await createStage({ dev: false });
    const { url } = await server.call<{ url: string }>("POST", "/api/v1/dashboard/links", { role: "owner" });
    const { page, faults } = await server.open(url);
    await page.getByRole("heading").first().waitFor();
    await page.goto("/dashboard/requests");
    await page.getByText("This server keeps no requests").waitFor();
    await page.getByText("--keep requests=30").waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "a key is renamed and revoked on its page",
  async () => {
    const { id } = await market.brand.keys.create({ name: "Till", permissions: ["transactional:send"] });
    const { page, faults } = await stage.open("/dashboard/keys");
    await page.getByRole("link", { name: "Till" }).click();
    await page.getByRole("button", { name: "Rename" }).click();
    await page.getByLabel("What it is for").fill("Till in Bern");
    await page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
    await page.getByRole("heading", { name: "Till in Bern" }).waitFor();
    await page.getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page.locator(".page-head").getByText("revoked").waitFor();
    const { data } = await market.brand.keys.list({ revoked: true });
    expect(data.map((key) => key.id)).toContain(id);
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);
