import { readFile } from "node:fs/promises";
import { Mailsvc } from "@mailsvc/sdk";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDatabase } from "../../server/test/postgres.ts";
import { createStage, PATIENCE_MS, picture, type Stage } from "./browser.ts";

const FILE = [
  "E-mail;First Name;Tags;Plan;Seats;Nothing",
  "ada@example.com;Ada;vip, beta;pro;5;x",
  "grace@example.com;Grace;;pro;12;x",
  "nobody;Bob;;free;1;x",
  'edsger@example.com;"Edsger; W.";vip;free;3;x',
].join("\r\n");

const connect = ({ server: { apiKey, url } }: Stage): Mailsvc => new Mailsvc({ apiKey: apiKey ?? "", baseUrl: url });

/** Chooses a file in the import. */
function choose(page: Page, name: string, text: string): Promise<void> {
  return page.getByLabel("Choose a file").setInputFiles({ name, mimeType: "text/csv", buffer: Buffer.from(text) });
}

describe.each(["sqlite", "postgres"] as const)("on %s", (engine) => {
  test(
    "a marketer imports a file, mends the row that failed, and finds the people in a segment",
    async () => {
      const database = engine === "postgres" ? await createDatabase() : null;
      const stage = await createStage(database === null ? {} : { flags: { "database-url": database.url } });
      try {
        const sdk = connect(stage);
        await sdk.lists.create({ name: "Newsletter" });
        const { page, faults } = await stage.open("/dashboard/contacts", { acceptDownloads: true });
        await page.getByRole("link", { name: "Import a file" }).click();
        await choose(page, "people.csv", FILE);
        await page.getByText("people.csv").waitFor();
        expect(await page.getByLabel("E-mail becomes").inputValue()).toBe("email");
        await page.getByLabel("Nothing becomes").selectOption("Do not import");
        await page.getByLabel("E-mail becomes").selectOption("First name");
        await page.getByText("Choose the column with the email address.").waitFor();
        expect(await page.getByRole("button", { name: "Import", exact: true }).isDisabled()).toBe(true);
        await page.getByLabel("E-mail becomes").selectOption("Email address");
        await page.getByLabel("Add everybody to a list").selectOption("Newsletter");
        await picture(page, "import-columns");
        await page.getByRole("button", { name: "Check without storing" }).click();
        await page.getByText("people.csv was checked; nothing was stored").waitFor();
        expect((await sdk.contacts.list()).pagination.total).toBe(0);
        await picture(page, "import-checked");
        await page.getByRole("button", { name: "Import it now" }).click();
        await page.getByRole("heading", { name: "people.csv is imported" }).waitFor();
        await page.getByText("Line 4").waitFor();
        await picture(page, "import-done");
        const [download] = await Promise.all([
          page.waitForEvent("download"),
          page.getByRole("button", { name: "Download the rows that failed" }).click(),
        ]);
        const failed = await readFile(await download.path(), "utf8");
        expect(failed).toContain("nobody;Bob;;free;1;x;4;");
        await page.getByRole("button", { name: "Import another file" }).click();
        await choose(page, "people-failed.csv", failed.replace("nobody", "bob@example.com"));
        await page.getByRole("button", { name: "Import", exact: true }).click();
        await page.getByRole("heading", { name: "people-failed.csv is imported" }).waitFor();
        await page.getByRole("link", { name: "Show the contacts" }).click();
        await page.getByRole("link", { name: "bob@example.com" }).waitFor();
        const [grace] = (await sdk.contacts.list({ search: "grace@" })).data;
        expect(grace).toMatchObject({ firstName: "Grace", customFields: { Plan: "pro", Seats: 12 } });
        expect(Object.keys(grace?.customFields ?? {})).toHaveLength(2);
        const [edsger] = (await sdk.contacts.list({ search: "edsger" })).data;
        expect(edsger).toMatchObject({ firstName: "Edsger; W.", tags: ["vip", expect.stringMatching(/^import:/)] });
        expect((await sdk.lists.list()).data[0]).toMatchObject({ memberCount: 3 });

        await page.getByRole("link", { name: "Segments" }).click();
        await page.getByRole("link", { name: "Add a segment" }).click();
        await page.getByLabel("Name", { exact: true }).fill("Big customers");
        const first = page.getByRole("group", { name: /^Condition/ }).first();
        await first.getByLabel("Field").selectOption("Custom field…");
        await first.getByLabel("Name of the custom field").fill("Plan");
        await page.getByRole("group", { name: "Condition: Plan" }).getByLabel("Value", { exact: true }).fill("pro");
        await page.getByText("2 people match").waitFor();
        await page.getByRole("button", { name: "Add a condition" }).click();
        const second = page.getByRole("group", { name: /^Condition/ }).nth(1);
        await second.getByLabel("Field").selectOption("Custom field…");
        await second.getByLabel("Name of the custom field").fill("Seats");
        await second.getByLabel("Operator").selectOption("is more than");
        await second.getByLabel("Value", { exact: true }).fill("10");
        await page.getByText("1 person matches").waitFor();
        await picture(page, `segment-made-${engine}`);
        await page.getByRole("button", { name: "Create the segment" }).click();
        await page.getByRole("link", { name: "grace@example.com" }).waitFor();
        await page.getByText("1 person", { exact: true }).waitFor();
        expect((await sdk.segments.list()).data[0]).toMatchObject({
          name: "Big customers",
          memberCount: 1,
          rules: {
            all: [
              { field: "customFields.Plan", operator: "equals", value: "pro" },
              { field: "customFields.Seats", operator: "gt", value: 10 },
            ],
          },
        });
        expect(faults).toEqual([]);
      } finally {
        await stage[Symbol.asyncDispose]();
        await database?.drop();
      }
    },
    PATIENCE_MS * 6,
  );
});

describe("in one workspace", () => {
  let stage: Stage;
  let sdk: Mailsvc;
  beforeAll(async () => {
    stage = await createStage();
    sdk = connect(stage);
    for (const email of ["ada@example.com", "grace@example.com", "edsger@example.com"])
      await sdk.contacts.create({ email, tags: email.startsWith("ada") ? ["vip"] : [] });
  }, PATIENCE_MS * 2);
  afterAll(() => stage?.[Symbol.asyncDispose]());

  test(
    "an address is suppressed, which says what it means, and let in again",
    async () => {
      const { page, faults } = await stage.open("/dashboard/suppressions");
      await page.getByText("No address is suppressed").waitFor();
      await page.getByRole("button", { name: "Suppress addresses" }).click();
      const form = page.getByRole("dialog", { name: "Suppress addresses" });
      await form.getByLabel("Addresses").fill("grace@example.com\nnot-an-address");
      await form.getByText("No mail of any kind").waitFor();
      await form.getByLabel("Note").fill("asked by phone");
      await form.getByRole("button", { name: "Suppress", exact: true }).click();
      await form.getByText("not-an-address:").waitFor();
      await picture(page, "suppress-wrong");
      await form.getByLabel("Addresses").fill("grace@example.com");
      await form.getByRole("button", { name: "Suppress", exact: true }).click();
      await page.getByRole("link", { name: "grace@example.com" }).click();
      await page.getByText("asked by phone").waitFor();
      await page.getByRole("link", { name: "grace@example.com" }).click();
      await page.getByRole("button", { name: "Subscribe again" }).click();
      const again = page.getByRole("dialog", { name: /^Subscribe grace/ });
      await picture(page, "subscribe-again");
      await again.getByRole("button", { name: "Subscribe again" }).click();
      await again.getByRole("alert").waitFor();
      await again.getByRole("button", { name: "Cancel" }).click();
      await page.goBack();
      await page.getByRole("button", { name: "Remove" }).click();
      const remove = page.getByRole("dialog", { name: "Let grace@example.com get mail again?" });
      await remove.getByText("Mail of every kind can be sent to the address again.").waitFor();
      await picture(page, "unsuppress");
      await remove.getByRole("button", { name: "Remove" }).click();
      await page.getByText("No address is suppressed").waitFor();
      expect((await sdk.suppressions.list()).data).toEqual([]);
      expect(faults).toEqual([]);
      await page.context().close();
    },
    PATIENCE_MS * 3,
  );

  test(
    "a person is found, changed, unsubscribed, joins a list, and is erased after a confirmation",
    async () => {
      const list = await sdk.lists.create({ name: "Friends" });
      const { page, faults } = await stage.open("/dashboard/contacts", { acceptDownloads: true });
      await page.getByRole("searchbox", { name: "Search" }).fill("ada@");
      await page.getByRole("link", { name: "ada@example.com" }).click();
      await page.getByRole("button", { name: "Edit" }).click();
      const form = page.getByRole("dialog", { name: "Edit the contact" });
      await form.getByLabel("First name").fill("Ada");
      await form.getByLabel("Tags").fill("beta,");
      await form.getByRole("button", { name: "Add a field" }).click();
      await form.getByLabel("Name of the field").fill("seats");
      await form.getByLabel("Type of seats").selectOption("Number");
      await form.getByLabel("Value of seats").fill("5");
      await picture(page, "contact-edit");
      await form.getByRole("button", { name: "Save" }).click();
      await page.getByRole("heading", { name: "Ada", exact: true }).waitFor();
      const id = /con_\w+/.exec(page.url())?.[0] ?? "";
      expect(await sdk.contacts.get(id)).toMatchObject({ firstName: "Ada", tags: ["vip", "beta"], customFields: { seats: 5 } });
      await page.getByRole("button", { name: "Add to a list" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Add", exact: true }).click();
      await page.getByRole("link", { name: "Friends" }).first().waitFor();
      await page.getByRole("button", { name: "Unsubscribe" }).click();
      const stop = page.getByRole("dialog", { name: "Unsubscribe ada@example.com?" });
      await stop.getByText("This stops marketing mail to ada@example.com").waitFor();
      await picture(page, "contact-unsubscribe");
      await stop.getByRole("button", { name: "Unsubscribe" }).click();
      await page.getByRole("button", { name: "Subscribe again" }).waitFor();
      expect((await sdk.contacts.get(id)).status).toBe("UNSUBSCRIBED");
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: "Download their data" }).click(),
      ]);
      expect(JSON.parse(await readFile(await download.path(), "utf8"))).toMatchObject({
        email: "ada@example.com",
        lists: [{ id: list.id }],
        suppression: { scope: "marketing" },
      });
      await page.getByRole("button", { name: "Erase the person" }).click();
      const erase = page.getByRole("dialog", { name: "Erase everything about ada@example.com?" });
      await picture(page, "contact-erase");
      await erase.getByRole("button", { name: "Erase the person" }).click();
      await erase.getByRole("alert").waitFor();
      expect((await sdk.contacts.get(id)).firstName).toBe("Ada");
      await erase.getByLabel("Write ada@example.com to confirm").fill("ada@example.com");
      await erase.getByRole("button", { name: "Erase the person" }).click();
      await page.getByRole("link", { name: "grace@example.com" }).waitFor();
      await expect(sdk.contacts.get(id)).rejects.toMatchObject({ status: 404 });
      expect(faults).toEqual([]);
      await page.context().close();
    },
    PATIENCE_MS * 3,
  );

  test(
    "a segment is built with the keyboard alone",
    async () => {
      await sdk.contacts.upsert({ email: "grace@example.com", tags: ["vip"] });
      const { page, faults } = await stage.open("/dashboard/segments");
      const { keyboard } = page;
      const focused = (): Promise<string> =>
        page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent ?? "");
      const tabTo = async (name: string): Promise<void> => {
        for (let n = 0; n < 60; n += 1) {
          await keyboard.press("Tab");
          if ((await focused()) === name) return;
        }
        throw new Error(`No Tab leads to ${name}; the focus is at ${await focused()}.`);
      };
      await page.getByText("No segments yet").waitFor();
      await tabTo("Add a segment");
      await keyboard.press("Enter");
      await page.getByText("Complete the conditions").waitFor();
      await page.getByLabel("Name", { exact: true }).focus();
      await keyboard.type("VIPs or new");
      await tabTo("How the conditions are combined");
      await keyboard.type("any");
      await tabTo("Value");
      await keyboard.type("vip");
      await page.getByText("1 person matches").waitFor();
      await tabTo("Add a condition");
      await keyboard.press("Enter");
      await page
        .getByRole("group", { name: /^Condition/ })
        .nth(1)
        .waitFor();
      await expect.poll(focused).toBe("Field");
      await keyboard.type("Email");
      await keyboard.press("Tab");
      await keyboard.type("begins");
      await keyboard.press("Tab");
      await keyboard.type("edsger");
      await page.getByText("2 people match").waitFor();
      await tabTo("Create the segment");
      await keyboard.press("Enter");
      await page.getByRole("heading", { name: "VIPs or new" }).waitFor();
      expect((await sdk.segments.list()).data[0]?.rules).toEqual({
        any: [
          { field: "tags", operator: "contains", value: "vip" },
          { field: "email", operator: "startsWith", value: "edsger" },
        ],
      });
      expect(faults).toEqual([]);
      await page.context().close();
    },
    PATIENCE_MS * 3,
  );

  test(
    "a rule that the server refuses is marked at its condition, and JSON and conditions show the same rule",
    async () => {
      const { page, faults } = await stage.open("/dashboard/segments/new");
      await page.getByRole("tab", { name: "JSON" }).click();
      const json = page.getByLabel("The rule as JSON");
      await json.fill('{"all": [');
      await page.getByText("This is not JSON").waitFor();
      const rule = {
        all: [
          { not: { field: "status", operator: "equals", value: "BOUNCED" } },
          {
            any: [
              { field: "createdAt", operator: "before", value: "2026-02-30" },
              { field: "firstName", operator: "exists", value: false },
            ],
          },
        ],
      };
      await json.fill(JSON.stringify(rule));
      await page.getByRole("tab", { name: "Conditions" }).click();
      const wrong = page.getByRole("group", { name: "Condition: Added" });
      await wrong.getByText("an existing date such as 2026-01-31").waitFor();
      await picture(page, "segment-wrong");
      await expect.poll(() => page.getByText("before takes").count()).toBe(1);
      await page.getByRole("tab", { name: "JSON" }).click();
      expect(JSON.parse(await json.inputValue())).toEqual(rule);
      await json.fill(JSON.stringify(rule).replace("02-30", "02-28"));
      await page.getByText(/(?:person matches|people match)$/).waitFor();
      await page.getByRole("tab", { name: "Conditions" }).click();
      await expect.poll(() => page.getByText("before takes").count()).toBe(0);
      expect(faults).toEqual([]);
      await page.context().close();
    },
    PATIENCE_MS * 2,
  );

  test(
    "two people who change one segment do not overwrite each other: the second one sees what the first has changed, and decides",
    async () => {
      const vip = { field: "tags", operator: "contains", value: "vip" } as const;
      const { id } = await sdk.segments.create({ name: "Shared", rules: vip });
      const { page, faults } = await stage.open(`/dashboard/segments/${id}?tab=rules`);
      const name = page.getByLabel("Name", { exact: true });
      await name.fill("Mine");
      await sdk.segments.update(id, { name: "Theirs", rules: { ...vip, value: "beta" } });
      await page.getByRole("button", { name: "Save" }).click();
      const conflict = page.getByRole("alert", { name: "Changed by somebody else" });
      await conflict.getByText("They differ in: name, rule.").waitFor();
      expect((await sdk.segments.get(id)).name).toBe("Theirs");
      await conflict.getByRole("button", { name: "Show the difference" }).click();
      await conflict.getByText("name: theirs “Theirs”, yours “Mine”").waitFor();
      await picture(page, "segment-conflict");
      await conflict.getByRole("button", { name: "Take theirs" }).click();
      await conflict.waitFor({ state: "detached" });
      expect(await name.inputValue()).toBe("Theirs");
      expect(await page.getByRole("group", { name: "Condition: Tags" }).getByLabel("Value", { exact: true }).inputValue()).toBe("beta");

      await name.fill("Mine");
      await sdk.segments.update(id, { description: "Theirs" });
      await page.getByRole("button", { name: "Save" }).click();
      await conflict.getByRole("button", { name: "Keep mine" }).click();
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("Saved", { exact: true }).waitFor();
      expect(await sdk.segments.get(id)).toMatchObject({ name: "Mine", description: null });
      expect(faults).toEqual([]);
      await page.context().close();
    },
    PATIENCE_MS * 2,
  );

  test(
    "many contacts get a tag, join a list and are deleted, those chosen or all that the filters match",
    async () => {
      await sdk.contacts.import({
        rows: Array.from({ length: 1500 }, (_, i) => ({ email: `many${i}@example.com`, tags: ["old"] })).slice(0, 1000),
      });
      await sdk.contacts.import({ rows: Array.from({ length: 500 }, (_, i) => ({ email: `many${1000 + i}@example.com`, tags: ["old"] })) });
      const { page, faults } = await stage.open("/dashboard/contacts?search=many");
      await page.getByLabel("Choose many1499@example.com").check();
      await page.getByLabel("Choose many1497@example.com").click({ modifiers: ["Shift"] });
      await page.getByText("3 chosen").waitFor();
      await page.getByRole("button", { name: "Choose all 1,500" }).click();
      await page.getByText("1,500 chosen").waitFor();
      await picture(page, "contacts-chosen");
      await page.getByRole("button", { name: "Add a tag" }).click();
      const form = page.getByRole("dialog", { name: "Add a tag to 1,500 contacts" });
      await form.getByLabel("Tag").fill("new");
      await form.getByRole("button", { name: "Add", exact: true }).click();
      await page.getByText("1,500 contacts got the tag").waitFor();
      expect((await sdk.contacts.list({ tag: "new" })).pagination.total).toBe(1500);
      expect((await sdk.contacts.list({ tag: "old" })).pagination.total).toBe(1500);
      await page.getByLabel("Choose many1499@example.com").check();
      await page.getByLabel("Choose many1498@example.com").check();
      await page.getByRole("button", { name: "Delete" }).click();
      const confirm = page.getByRole("dialog", { name: "Delete 2 contacts?" });
      await confirm.getByRole("button", { name: "Delete" }).click();
      await page.getByText("2 contacts deleted").waitFor();
      await page.getByLabel("Choose many1497@example.com").waitFor();
      await expect.poll(() => page.getByRole("link", { name: "many1499@example.com" }).count()).toBe(0);
      expect((await sdk.contacts.list({ search: "many" })).pagination.total).toBe(1498);
      expect(faults).toEqual([]);
      await page.context().close();
    },
    PATIENCE_MS * 3,
  );

  test(
    "an import goes on after its page was closed, and no row counts twice",
    async () => {
      const before = (await sdk.contacts.list()).pagination.total;
      const rows = Array.from({ length: 3500 }, (_, i) => `${i === 1200 ? "nobody" : `resumed${i}@example.com`},Reader ${i}`);
      const { page } = await stage.open("/dashboard/contacts/import");
      const context = page.context();
      // The answer to the third batch is lost with the page.
      let requests = 0;
      const reached = new Promise<void>((done) => {
        void context.route("**/api/v1/contacts/import", async (route) => {
          requests += 1;
          if (requests !== 3) return route.continue();
          await route.fetch();
          done();
        });
      });
      await choose(page, "large.csv", ["email,firstName", ...rows].join("\n"));
      await page.getByRole("button", { name: "Import", exact: true }).click();
      await reached;
      await page.close();
      await context.unrouteAll({ behavior: "ignoreErrors" });
      const again = await context.newPage();
      await again.goto("/dashboard/contacts/import");
      await again.getByRole("heading", { name: "large.csv is not finished" }).waitFor();
      await again.getByText("2,000 rows").waitFor();
      await picture(again, "import-resume");
      await again.getByRole("button", { name: "Resume" }).click();
      await again.getByRole("heading", { name: "large.csv is imported" }).waitFor();
      const figures = await again.locator(".figures").innerText();
      expect(figures.split(/\s*\n\s*/)).toEqual(["Rows", "3,500", "Created", "3,499", "Updated", "0", "Unchanged", "0", "Failed", "1"]);
      await again.getByText("Line 1202").waitFor();
      expect((await sdk.contacts.list()).pagination.total).toBe(before + 3499);
      await again.goto("/dashboard/contacts/import");
      await again.getByText("Choose a file").waitFor();
      await context.close();
    },
    PATIENCE_MS * 3,
  );
});
