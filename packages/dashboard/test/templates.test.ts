import { afterAll, beforeAll, expect, test } from "vitest";
import { createStage, PATIENCE_MS, picture, type Stage } from "./browser.ts";
import { type Look, testLooks } from "./looks.ts";

interface Stored {
  readonly id: string;
  readonly revision: number;
  readonly version: number | null;
  readonly source: { readonly subject: string | null; readonly html: string | null; readonly text: string | null };
}

let stage: Stage;
let shipped = "";
let footer = "";
let packed = "";

const HTML = `<!doctype html>
<html lang="en">
  <head>
    <title>Order {{ order.number }}</title>
    <style>@media (prefers-color-scheme: dark) { body { background: #111; color: #eee } }</style>
  </head>
  <body style="font-family: Arial, sans-serif; padding: 24px">
    <h1>On its way</h1>
    <p>Hi {{ name }}, your order {{ order.number }} has left our house.</p>
    <ul>{{#each items}}<li>{{ title }}: {{ currency price "EUR" }}</li>{{/each}}</ul>
    <p><a href="https://acme.example/track/{{ order.number }}">Track your parcel</a></p>
    <img src="https://acme.example/parcel.png" width="80" height="80">
    {{> footer}}
  </body>
</html>
`;

beforeAll(async () => {
  stage = await createStage();
  const create = async (body: object): Promise<string> => (await stage.call<Stored>("POST", "/api/v1/templates", body)).id;
  footer = await create({ name: "Footer", slug: "footer", type: "partial", html: "<p>Acme Ltd, 1 Main Street</p>\n", publish: true });
  await create({ name: "Frame", slug: "frame", type: "layout", html: "<html><body>{{{body}}}{{> footer}}</body></html>", publish: true });
  shipped = await create({
    name: "Order shipped",
    slug: "order-shipped",
    subject: "Your order {{ order.number }} is on its way",
    from: "Acme <hello@acme.example>",
    html: HTML,
    variables: [{ name: "name", type: "string", required: true, description: "First name of the customer" }],
    publish: true,
  });
  await stage.call("PATCH", `/api/v1/templates/${shipped}`, { subject: "Order {{ order.number }} is on its way", publish: true });
  await stage.call("PATCH", `/api/v1/templates/${shipped}`, { html: HTML.replace("On its way", "It has left") });
  packed = await create({
    name: "Packed",
    slug: "packed",
    subject: "We packed it",
    from: "hello@acme.example",
    html: "<p>Packed</p>",
    renderedFrom: { kind: "mjml", files: { "template.mjml": "<mjml>\n  <mj-body></mj-body>\n</mjml>\n" } },
    publish: true,
  });
  await create({ name: "A".repeat(120), slug: "long-name", type: "marketing", subject: "Long", html: "<p>Long</p>" });
}, PATIENCE_MS * 3);
afterAll(() => stage?.[Symbol.asyncDispose]());

const pages = (): readonly Look[] => [
  ["templates", "/dashboard/templates", "Order shipped"],
  ["template", `/dashboard/templates/${shipped}`, "has no alt."],
  ["template-variables", `/dashboard/templates/${shipped}?tab=variables`, "Values of the preview and of tests"],
  ["template-settings", `/dashboard/templates/${shipped}?tab=settings`, "Programs send it by this name."],
  ["template-versions", `/dashboard/templates/${shipped}?tab=versions`, "Version 2"],
  ["template-version", `/dashboard/templates/${shipped}/versions/1`, "Different in the draft: subject, HTML."],
  ["template-partial", `/dashboard/templates/${footer}`, "used by"],
  ["template-files", `/dashboard/templates/${packed}?tab=files`, "template.mjml"],
  ["template-locked", `/dashboard/templates/${packed}`, "This HTML is rendered from MJML."],
];

testLooks({
  open: (...args) => stage.open(...args),
  pages,
  ready: async (name, page) => {
    if (name === "template" || name === "template-locked") await page.locator(".cm-content").waitFor();
  },
});

const readTemplate = (id: string): Promise<Stored> => stage.call<Stored>("GET", `/api/v1/templates/${id}`);

async function createDraft(name: string, html = "<p>Hi {{ name }}</p>\n"): Promise<string> {
  const fields = { name, subject: "Hi {{ name }}", from: "Acme <hello@acme.example>", html };
  return (await stage.call<Stored>("POST", "/api/v1/templates", fields)).id;
}

test(
  "a person writes a template, sees the mail follow and the fault at its line, corrects it and publishes it",
  async () => {
    const { page, faults } = await stage.open("/dashboard/templates");
    await page.getByRole("button", { name: "New template" }).click();
    await page.getByLabel("Name").fill("Welcome");
    await page.getByRole("button", { name: "Create" }).click();
    const source = page.getByRole("textbox", { name: "HTML of the template" });
    const preview = page.frameLocator('iframe[title="The preview"]').frameLocator("iframe");
    await preview.getByText("Write your mail here.").waitFor();
    await source.click();
    await page.keyboard.press("Control+Home");
    await page.keyboard.insertText("{{#if vip}}\n");
    const problems = page.getByRole("list", { name: "Problems" });
    await problems.getByText("error").first().waitFor();
    await picture(page, "template-fault");
    // The last rendering stays visible.
    await expect.poll(() => preview.getByText("Write your mail here.").count()).toBe(1);
    await page.keyboard.press("Control+z");
    await problems.getByText("error").first().waitFor({ state: "detached" });
    await page.getByLabel("Subject").fill("Welcome, {{ firstName }}");
    await page.getByRole("tab", { name: "Variables" }).click();
    await page.getByLabel("Value of firstName").fill("Ada");
    await page.getByRole("tab", { name: "Content" }).click();
    await page.getByText("Welcome, Ada").waitFor();
    await page.getByRole("button", { name: "Publish" }).click();
    await page.getByText("Published", { exact: true }).waitFor();
    const { data } = await stage.call<{ data: Stored[] }>("GET", "/api/v1/templates?search=Welcome");
    expect(data).toMatchObject([{ version: 1 }]);
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 3,
);

test(
  "what was typed and not saved survives a reload, and is not put over what a colleague saved meanwhile",
  async () => {
    const id = await createDraft("Shared");
    const { page, faults } = await stage.open(`/dashboard/templates/${id}`);
    page.on("dialog", (dialog) => void dialog.accept());
    await page.getByLabel("Subject").fill("Mine");
    await page.getByText("changes are not saved").waitFor();
    await page.reload();
    await page.getByText("changes are not saved").waitFor();
    expect(await page.getByLabel("Subject").inputValue()).toBe("Mine");
    await stage.call("PATCH", `/api/v1/templates/${id}`, { subject: "Theirs", html: "<p>Theirs</p>" });
    await page.getByRole("button", { name: "Save" }).click();
    const conflict = page.getByRole("alert", { name: "Changed by somebody else" });
    await conflict.waitFor();
    expect((await readTemplate(id)).source.subject).toBe("Theirs");
    await conflict.getByRole("button", { name: "Show the difference" }).click();
    await conflict.getByText("subject: theirs “Theirs”, yours “Mine”").waitFor();
    await page.getByRole("textbox", { name: "Difference of the HTML, from theirs to yours" }).waitFor();
    await picture(page, "template-conflict");
    expect(await page.getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
    await conflict.getByRole("button", { name: "Keep mine" }).click();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("changes are not saved").waitFor({ state: "detached" });
    expect((await readTemplate(id)).source.subject).toBe("Mine");
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "fast typing loses no letter, by keyboard alone from the subject to the saved draft",
  async () => {
    const id = await createDraft("Typed", "");
    const { page, faults } = await stage.open(`/dashboard/templates/${id}`);
    const source = page.getByRole("textbox", { name: "HTML of the template" });
    await source.waitFor();
    await source.focus();
    await page.keyboard.type("<p>Hello {{#if x}}you{{/if}}, this was typed as fast as it goes.</p>");
    // Tab leaves the editor instead of writing into it.
    await page.keyboard.press("Tab");
    expect(await source.evaluate((element) => (element.getRootNode() as ShadowRoot).activeElement === element)).toBe(false);
    await page.getByRole("button", { name: "Save" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("changes are not saved").waitFor({ state: "detached" });
    expect((await readTemplate(id)).source.html).toBe("<p>Hello {{#if x}}you{{/if}}, this was typed as fast as it goes.</p>");
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "a person sends a test with the values of the preview, and goes back to an earlier version",
  async () => {
    const { page, faults } = await stage.open(`/dashboard/templates/${packed}`);
    await page.getByRole("button", { name: "Send a test" }).click();
    await page.getByLabel("Addresses").fill("tester@example.com");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByText("Sent to tester@example.com").waitFor();
    await stage.call("GET", "/__dev/inbox/wait?timeout=60&to=tester@example.com");
    await page.goto(`/dashboard/templates/${shipped}/versions/1`);
    await page.getByRole("button", { name: "Restore" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Restore" }).click();
    await page.waitForURL(`**/dashboard/templates/${shipped}`);
    const { version, source } = await readTemplate(shipped);
    expect(version).toBe(3);
    // The draft had changes of its own, which stay.
    expect(source.html).toContain("It has left");
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "a template names the campaigns and automations that send it, also before it is deleted",
  async () => {
    const mail = { subject: "Summer", from: "hello@acme.example", html: "<p>Summer</p>", publish: true };
    const { id } = await stage.call<Stored>("POST", "/api/v1/templates", { name: "Summer mail", ...mail });
    await stage.call("POST", "/api/v1/campaigns", {
      name: "Summer news",
      subjectLine: "Summer",
      fromEmail: "hello@acme.example",
      templateId: id,
    });
    await stage.call("POST", "/api/v1/automations", {
      name: "Summer series",
      trigger: { type: "contact.created" },
      steps: [{ id: "hello", type: "send_email", templateId: id }],
      connections: [{ from: "trigger", to: "hello" }],
    });
    const { page, faults } = await stage.open(`/dashboard/templates/${id}`);
    await page.getByRole("link", { name: "Summer news" }).first().waitFor();
    await page.getByText("and 1 more").waitFor();
    await page.getByRole("tab", { name: /^Used by/ }).click();
    const panel = page.getByRole("tabpanel");
    await panel.getByRole("link", { name: "Summer series" }).waitFor();
    await page.getByRole("button", { name: "Delete" }).click();
    const dialog = page.getByRole("dialog", { name: "Delete Summer mail?" });
    await dialog.getByText("These will no longer be able to send it:").waitFor();
    for (const name of ["Summer news", "Summer series"]) await dialog.getByRole("link", { name }).waitFor();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await page.getByText("Deleted").waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "a partial that others use says so and is not deleted; another template is",
  async () => {
    const { page, faults } = await stage.open(`/dashboard/templates/${footer}`);
    await page.getByText("and 1 more").waitFor();
    await page.getByRole("button", { name: "Delete" }).click();
    const dialog = page.getByRole("dialog", { name: "Delete Footer?" });
    await dialog.getByRole("link", { name: "Order shipped" }).waitFor();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await dialog.getByText("footer cannot be deleted").waitFor();
    const other = await createDraft("Short-lived");
    await page.goto(`/dashboard/templates/${other}`);
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.waitForURL("**/dashboard/templates");
    await expect(readTemplate(other)).rejects.toThrow("not_found");
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);
