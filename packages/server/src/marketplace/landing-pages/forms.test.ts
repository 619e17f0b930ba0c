import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestAgent } from "../../../test/agent.ts";
import { createWorld, type TestWorld } from "../../testing.ts";

let world: TestWorld;
let list: string;

beforeAll(async () => {
  world = await createWorld();
  list = (await world.sdk.lists.create({ name: "Newsletter" })).id;
});
afterAll(() => world.dispose());

let visitors = 0;
/** An address that nobody came from before. */
const somewhere = (): string => {
  visitors += 1;
  return `198.51.${Math.floor(visitors / 250)}.${(visitors % 250) + 1}`;
};

const visit = async (url: string, from = somewhere()) => {
  const response = await world.fetch(url, { redirect: "manual", headers: { "x-forwarded-for": from } });
  return { status: response.status, text: await response.text(), headers: response.headers };
};

/** Sends a form as the browser of a visitor does, from any page. */
const submit = async (url: string, fields: Record<string, string>, from = somewhere()) => {
  const response = await world.fetch(url, {
    redirect: "manual",
    method: "POST",
    body: new URLSearchParams(fields).toString(),
    headers: { "content-type": "application/x-www-form-urlencoded", origin: "https://acme.example", "x-forwarded-for": from },
  });
  return { status: response.status, text: await response.text(), location: response.headers.get("location") };
};

const membersOf = async (id: string) => (await world.sdk.lists.contacts(id)).data.map(({ contact, status }) => [contact.email, status]);

test("a form takes sign-ups at once, and asks each person to confirm even where the list does not", async () => {
  const form = await world.sdk.forms.create({ name: "Newsletter of Acme", listId: list, fields: ["firstName"], button: "Subscribe" });
  expect(form).toMatchObject({ status: "PUBLISHED", doubleOptIn: true, redirectUrl: null, listId: list, button: "Subscribe" });
  const page = await visit(form.url);
  expect(page.status).toBe(200);
  for (const shown of ["<h1>Newsletter of Acme</h1>", 'name="email"', 'name="firstName"', "Subscribe"]) expect(page.text).toContain(shown);
  const sent = await submit(form.url, { email: "ada@example.com", firstName: "Ada" });
  expect(sent.status).toBe(303);
  expect((await visit(new URL(sent.location ?? "", form.url).href)).text).toContain("confirm your subscription");
  expect(await membersOf(list)).toEqual([["ada@example.com", "PENDING"]]);
  const [mail] = await world.inbox.all({ to: "ada@example.com" });
  const { text } = await world.sdk.inbox.get(mail?.id ?? "");
  const [link] = /https?:\/\/\S+\/lists\/confirm\/\w+/.exec(text ?? "") ?? [""];
  await world.fetch(link, { method: "POST" });
  expect(await membersOf(list)).toEqual([["ada@example.com", "MEMBER"]]);
  const { data } = await world.sdk.forms.submissions(form.id);
  expect(data).toMatchObject([{ listId: list, consentText: expect.stringContaining("you agree") }]);
  expect((await world.sdk.forms.stats(form.id)).submissions).toBe(1);
});

test("an address that many enter gets one mail", async () => {
  const form = await world.sdk.forms.create({ name: "Flood", listId: list });
  for (let i = 0; i < 20; i++) expect((await submit(form.url, { email: "victim@example.com" })).status).toBe(303);
  expect(await world.inbox.all({ to: "victim@example.com" })).toHaveLength(1);
});

test("without double opt-in of the form the list decides, and visitors go on to the page of the brand", async () => {
  const own = (await world.sdk.lists.create({ name: "Own" })).id;
  const form = await world.sdk.forms.create({
    name: "Waiting list",
    listId: own,
    doubleOptIn: false,
    redirectUrl: "https://acme.example/thanks?from=form",
  });
  const { headers } = await visit(form.url);
  expect(headers.get("content-security-policy")).toContain("form-action 'self' https://acme.example;");
  expect(await submit(form.url, { email: "bob@example.com" })).toMatchObject({
    status: 303,
    location: "https://acme.example/thanks?from=form",
  });
  expect(await membersOf(own)).toEqual([["bob@example.com", "MEMBER"]]);
  // Nobody learns by the answer that an address was refused, or known.
  await world.sdk.suppressions.create({ email: "bob@example.com", reason: "manual" });
  expect((await submit(form.url, { email: "bob@example.com" })).location).toBe("https://acme.example/thanks?from=form");
});

test("the address of a form fills in its fields, as text, and asks no search engine to keep that", async () => {
  const form = await world.sdk.forms.create({ name: "Prefilled", listId: list, fields: ["firstName"] });
  const page = await visit(`${form.url}?email=ada%40example.com&firstName=%22%3E%3Cscript%3E&lastName=Hidden`);
  expect(page.text).toContain('value="ada@example.com"');
  expect(page.text).toContain('value="&quot;&gt;&lt;script&gt;"');
  expect(page.text).not.toContain("Hidden");
  expect(page.headers.get("cache-control")).toBe("no-store");
  expect(page.headers.get("x-robots-tag")).toBe("noindex");
});

test("the snippet is a form without scripts that leads to the hosted page, and its hidden field catches bots", async () => {
  const form = await world.sdk.forms.create({ name: "Snippet", listId: list, consentText: 'Yes <b>& "more"', consentCheckbox: true });
  expect(form.snippet).toContain(`action="${form.url}"`);
  expect(form.snippet).toContain("Yes &lt;b&gt;&amp; &quot;more&quot;");
  expect(form.snippet).not.toMatch(/<script|onload|class="trap"/);
  const honeypot = /aria-hidden="true".*? name="(\w+)"/.exec(form.snippet)?.[1] ?? "";
  await submit(form.url, { email: "bot@example.com", consent: "yes", [honeypot]: "x" });
  expect((await world.sdk.contacts.list({ search: "bot@example.com" })).data).toEqual([]);
  expect((await submit(form.url, { email: "eve@example.com" })).status).toBe(400);
  expect((await submit(form.url, { email: "eve@example.com", consent: "yes" })).status).toBe(303);
});

test("the snippet says its language, and makes no page wider, whichever way the page around it is written", async () => {
  await world.sdk.brand.update({ locale: "ar" });
  const { snippet } = await world.sdk.forms.create({ name: "Arabic", listId: list });
  expect(snippet).toMatch(/^<form [^>]*lang="ar" dir="rtl"/);
  expect(snippet).not.toMatch(/(?:left|right):-/);
  expect(snippet).toMatch(/<label for="email">[^<]+<\/label><br><input id="email"/);
  await world.sdk.brand.update({ locale: null });
});

test("a form changes field by field, is taken offline, and its contacts stay when it is deleted", async () => {
  const form = await world.sdk.forms.create({ name: "Changing", listId: list, button: "Join", thanksTitle: "Merci" });
  const changed = await world.sdk.forms.update(form.id, {
    button: "Subscribe",
    redirectUrl: "https://acme.example/",
    version: form.version,
  });
  expect(changed).toMatchObject({
    name: "Changing",
    button: "Subscribe",
    thanksTitle: "Merci",
    redirectUrl: "https://acme.example/",
    version: 2,
  });
  await expect(world.sdk.forms.update(form.id, { button: "No", version: 1 })).rejects.toMatchObject({ status: 412 });
  const reset = await world.sdk.forms.update(form.id, { redirectUrl: null, button: null });
  expect(reset).toMatchObject({ redirectUrl: null, button: null, thanksTitle: "Merci" });
  await submit(form.url, { email: "carl@example.com" });
  await world.sdk.forms.update(form.id, { status: "DRAFT" });
  expect((await visit(form.url)).status).toBe(404);
  expect((await submit(form.url, { email: "dora@example.com" })).status).toBe(404);
  expect((await world.sdk.forms.list({ status: "DRAFT" })).data.map(({ id }) => id)).toEqual([form.id]);
  await world.sdk.forms.delete(form.id);
  await expect(world.sdk.forms.get(form.id)).rejects.toMatchObject({ status: 404 });
  expect((await world.sdk.contacts.list({ search: "carl@example.com" })).data).toHaveLength(1);
});

test.each([
  [{ redirectUrl: "javascript:alert(1)" }, "redirectUrl"],
  [{ redirectUrl: "https://bank.example@evil.example/" }, "redirectUrl"],
  [{ redirectUrl: "https://acme.example/; script-src *" }, "redirectUrl"],
  [{ redirectUrl: "//acme.example" }, "redirectUrl"],
  [{ fields: ["password"] }, "fields[0]"],
  [{ listId: "" }, "listId"],
])("%o is refused, naming the field", async (wrong, path) => {
  const create = world.sdk.forms.create({ name: "Wrong", listId: list, ...wrong } as Parameters<typeof world.sdk.forms.create>[0]);
  await expect(create).rejects.toMatchObject({ status: 400, details: [{ path }] });
});

test("an unknown list is refused; pages of agents are no forms, and agents cannot change forms", async () => {
  await expect(world.sdk.forms.create({ name: "X", listId: "list_unknown" })).rejects.toMatchObject({ status: 404 });
  const form = await world.sdk.forms.create({ name: "Of the brand", listId: list });
  const agent = await createTestAgent(world);
  const { body } = await agent.call("POST", "/landing-pages", { title: "Of the agent", html: "<form></form>", status: "PUBLISHED" });
  await expect(world.sdk.forms.get(body.id)).rejects.toMatchObject({ status: 404 });
  expect((await world.sdk.forms.list()).data.map(({ name }) => name)).not.toContain("Of the agent");
  expect((await agent.call("PATCH", `/landing-pages/${form.id}`, { title: "Mine" })).status).toBe(404);
  expect((await agent.call("POST", `/landing-pages/${form.id}/unpublish`)).status).toBe(404);
});
