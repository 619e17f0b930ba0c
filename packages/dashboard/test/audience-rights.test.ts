import { Mailsvc } from "@mailsvc/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createStage, PATIENCE_MS, picture, type Stage } from "./browser.ts";
import { EXECUTED, VECTORS } from "./vectors.ts";

let live: Stage;
let sdk: Mailsvc;
let ada = "";
let list = "";
let segment = "";

beforeAll(async () => {
  live = await createStage({ dev: false });
  sdk = new Mailsvc({ apiKey: live.server.apiKey ?? "", baseUrl: live.server.url });
  ada = (await sdk.contacts.create({ email: "ada@example.com" })).id;
  list = (await sdk.lists.create({ name: "Newsletter" })).id;
  await sdk.lists.add(list, { contacts: [ada] });
  segment = (await sdk.segments.create({ name: "All", rules: { field: "email", operator: "exists" } })).id;
  await sdk.suppressions.create({ email: "gone@example.com" });
}, PATIENCE_MS * 2);
afterAll(() => live?.[Symbol.asyncDispose]());

const pages = (): readonly (readonly [path: string, text: string | RegExp])[] => [
  ["contacts", "ada@example.com"],
  [`contacts/${ada}`, "Lists and segments"],
  ["contacts/import", "Import contacts"],
  ["lists", "Newsletter"],
  [`lists/${list}`, "ada@example.com"],
  ["segments", "All"],
  [`segments/${segment}?tab=rules`, /exists|People who match/],
  ["suppressions", "gone@example.com"],
  ["suppressions/gone@example.com", "No mail of any kind"],
];

/** All buttons of the pages that change something, by page. */
async function listButtons(role: "owner" | "marketer" | "viewer"): Promise<Readonly<Record<string, string[]>>> {
  const { url } = await live.call<{ url: string }>("POST", "/api/v1/dashboard/links", { role });
  const { page, faults } = await live.open(url);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  const found: Record<string, string[]> = {};
  for (const [path, text] of pages()) {
    await page.goto(`/dashboard/${path}`);
    await page.locator("main").getByText(text).first().waitFor();
    const names = await page
      .locator("main :is(button:not([role='tab'], .code-block button), a.button, .pick input):visible")
      .evaluateAll((all) => all.map((one) => one.textContent?.trim() || (one.getAttribute("aria-label") ?? "").replace(/ .*/, "")));
    found[path.split("?")[0]?.replace(/_\w+/, "") ?? ""] = [...new Set(names)];
  }
  expect(faults).toEqual([]);
  await page.context().close();
  return found;
}

test(
  "a viewer is shown no button that changes something, a marketer those of contacts, lists and segments",
  async () => {
    expect(await listButtons("viewer")).toEqual({
      contacts: ["Export"],
      "contacts/con": ["Download their data"],
      "contacts/import": [],
      lists: [],
      "lists/list": [],
      segments: [],
      "segments/seg": [],
      suppressions: [],
      "suppressions/gone@example.com": [],
    });
    const marketer = await listButtons("marketer");
    expect(marketer["contacts"]).toEqual(["Export", "Import", "Add a contact", "Choose"]);
    expect(marketer["contacts/con"]).toEqual(["Unsubscribe", "Edit", "Delete", "Remove", "Download their data"]);
    expect(marketer["lists/list"]).toEqual(["Add people", "Settings", "Delete", "⋯"]);
    expect(marketer["suppressions"]).toEqual([]);
    expect(marketer["suppressions/gone@example.com"]).toEqual([]);
    const owner = await listButtons("owner");
    expect(owner["contacts/con"]).toContain("Erase the person");
    expect(owner["suppressions"]).toEqual(["Suppress addresses"]);
  },
  PATIENCE_MS * 6,
);

test(
  "names, tags, fields, lists, segments and notes that others wrote execute nothing, nor does a file that is imported",
  async () => {
    const hostile = VECTORS.map((vector, i) => ({
      email: `hostile${i}@example.com`,
      firstName: vector.slice(0, 100),
      lastName: vector.slice(0, 100),
      tags: [vector.slice(0, 100)],
      customFields: { [vector.slice(0, 100)]: vector },
    }));
    const outcome = await sdk.contacts.import({ rows: hostile });
    expect(outcome).toMatchObject({ created: VECTORS.length, failed: 0 });
    const paths = ["contacts?search=hostile", "lists", "segments", "suppressions"];
    for (const [i, vector] of VECTORS.entries()) {
      const name = vector.slice(0, 200);
      const { id } = await sdk.lists.create({ name, description: vector });
      await sdk.lists.add(id, { contacts: [`hostile${i}@example.com`] });
      const { id: rule } = await sdk.segments.create({
        name,
        description: vector,
        rules: {
          any: [
            { field: "firstName", operator: "equals", value: vector },
            { field: `customFields.plan`, operator: "equals", value: vector },
          ],
        },
      });
      await sdk.suppressions.create({ email: `gone${i}@example.com`, note: vector });
      // Lists show all of them; the page of one kind, in turn, shows each.
      paths.push(...([[`lists/${id}`], [`segments/${rule}?tab=rules`], [`suppressions/gone${i}@example.com`], []][i % 4] ?? []));
    }
    const people: string[] = [];
    for await (const { id } of sdk.contacts.list({ search: "hostile" })) people.push(id);
    for (const id of people.filter((_, i) => i % 4 === 3)) paths.push(`contacts/${id}`, `contacts/${id}?tab=consent`);
    const { url } = await live.call<{ url: string }>("POST", "/api/v1/dashboard/links", {});
    const { page, faults } = await live.open(url);
    let executed = 0;
    page.context().on("console", (message) => {
      if (message.text() === EXECUTED) executed += 1;
    });
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    for (const path of paths) {
      await page.evaluate((to) => {
        history.pushState(null, "", to);
        dispatchEvent(new PopStateEvent("popstate"));
      }, `/dashboard/${path}`);
      await page.locator("main :is(.card, .row a, .rule-group):visible").first().waitFor();
    }
    await picture(page, "contact-hostile");
    await page.goto("/dashboard/contacts/import");
    const cells = VECTORS.map((vector) => `"${vector.replaceAll('"', '""')}"`);
    const text = [`email,${cells.join(",")}`, `not an address,${cells.join(",")}`].join("\n");
    await page
      .getByLabel("Choose a file")
      .setInputFiles({ name: "<img src=x onerror=alert(1)>.csv", mimeType: "text/csv", buffer: Buffer.from(text) });
    await page.getByRole("button", { name: "Check without storing" }).click();
    await page.getByText("Line 2").waitFor();
    expect(executed).toBe(0);
    expect(faults).toEqual([]);
  },
  PATIENCE_MS * 6,
);
