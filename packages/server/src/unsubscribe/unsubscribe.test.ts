import { expect, test } from "vitest";
import { addContacts, createCampaign } from "../../test/campaign.ts";
import { createWorld, type TestWorld } from "../testing.ts";

/** A world in which Ada was asked to confirm her subscription, and the links of that mail. */
const asked = async () => {
  const world = await createWorld();
  const { sdk } = world;
  await sdk.brand.update({ name: "Fern & Field", colors: { primary: "#0a7d3c" } });
  const list = await sdk.lists.create({ name: "News", doubleOptIn: true, confirmationFrom: "hello@acme.test" });
  const contact = await sdk.contacts.create({ email: "ada@example.com" });
  await sdk.lists.add(list.id, { contacts: [contact.id] });
  const [captured] = await world.inbox.all();
  const mail = await sdk.inbox.get(captured?.id as string);
  const header = (name: string): string | undefined => mail.headers.find((one) => one.name.toLowerCase() === name)?.value;
  const link = (pattern: RegExp): string => pattern.exec(mail.text ?? "")?.[0] ?? "";
  return {
    world,
    sdk,
    contact,
    mail,
    header,
    unsubscribe: link(/http\S+\/unsubscribe\/\S+/),
    confirm: link(/http\S+\/lists\/confirm\/\S+/),
  };
};

const open = async (world: TestWorld, url: string, method: "GET" | "POST" = "GET", accept = "text/html") => {
  const response = await world.fetch(url, {
    method,
    headers: { accept, ...(method === "POST" && { "content-type": "application/x-www-form-urlencoded" }) },
    ...(method === "POST" && { body: "List-Unsubscribe=One-Click" }),
  });
  const policy = response.headers.get("content-security-policy") ?? "";
  return { status: response.status, type: response.headers.get("content-type"), policy, text: await response.text() };
};

test("a confirmation mail and its page show the brand and say what they are for", async () => {
  const { world, mail, confirm } = await asked();
  await using _ = world;
  expect(mail).toMatchObject({ subject: "Confirm your subscription to News" });
  expect(mail.text).toContain("Please confirm that you want to receive email from this list:\n\nNews\n\nConfirm subscription:\n");
  expect(mail.text).toContain("If you didn't ask for this, ignore this email.");
  expect(mail.html).toContain("Fern &amp; Field");
  expect(mail.html).toContain("background:#0a7d3c");
  const page = await open(world, confirm);
  expect(page.text).toContain('<header class="top"><div class="frame"><b dir="auto">Fern &amp; Field</b>');
  expect(page.text).toContain("--primary:#0a7d3c");
  // Its button confirms, so no other site may frame it.
  expect(page.policy).toMatch(/default-src 'none'.*form-action 'self'; frame-ancestors 'none'/);
  expect((await open(world, confirm, "POST")).text).toMatch(/<a href="[^"]*\/unsubscribe\/[\w-]+">Unsubscribe<\/a>/);
});

test("an expired confirmation link shows a page to browsers", async () => {
  const { world, confirm } = await asked();
  await using _ = world;
  await world.clock.advance("7d");
  const page = await open(world, confirm);
  expect([page.status, page.type]).toEqual([404, "text/html; charset=utf-8"]);
  expect(page.text).toContain("<p>It is invalid or has expired. Ask for another confirmation email.</p>");
  expect((await open(world, confirm, "GET", "application/json")).type).toBe("application/json");
});

test("the link asks before it unsubscribes, and mail programs unsubscribe with one click", async () => {
  const { world, sdk, contact, header, unsubscribe } = await asked();
  await using _ = world;
  expect(header("list-unsubscribe")).toBe(`<${unsubscribe}>`);
  expect(header("list-unsubscribe-post")).toBe("List-Unsubscribe=One-Click");
  expect(unsubscribe).not.toMatch(/ada(?:@|%40)|example\.com/);
  for (let i = 0; i < 3; i += 1) {
    const page = await open(world, unsubscribe);
    expect(page.status).toBe(200);
    expect(page.text).toContain('<form method="post"><button name="action" value="all">Unsubscribe</button></form>');
  }
  expect((await sdk.suppressions.list()).pagination.total).toBe(0);
  for (let i = 0; i < 3; i += 1) expect(await open(world, unsubscribe, "POST")).toMatchObject({ status: 200 });
  expect(await sdk.suppressions.get("ada@example.com")).toMatchObject({
    scope: "marketing",
    reason: "unsubscribe",
    source: "unsubscribe",
  });
  expect((await sdk.contacts.get(contact.id)).status).toBe("UNSUBSCRIBED");
});

test("the link works after the contact was deleted", async () => {
  const { world, sdk, contact, unsubscribe } = await asked();
  await using _ = world;
  await sdk.contacts.delete(contact.id);
  expect((await open(world, unsubscribe, "POST")).status).toBe(200);
  expect(await sdk.suppressions.get("ada@example.com")).toMatchObject({ scope: "marketing" });
});

test.each(["x", "", "A".repeat(5000), "%00"])("a link that was not made here is a page that says so: %#", async (token) => {
  const { world, sdk, unsubscribe } = await asked();
  await using _ = world;
  for (const url of [`${world.url}/unsubscribe/${token}`, `${unsubscribe.slice(0, -4)}${token}`]) {
    for (const method of ["GET", "POST"] as const) {
      const page = await open(world, url, method);
      expect([page.status, page.type]).toEqual([404, "text/html; charset=utf-8"]);
    }
  }
  expect((await sdk.suppressions.list()).pagination.total).toBe(0);
});

const URL_IN_MAIL = /http:\/\/mailsvc\.test\/unsubscribe\/[\w-]+/;

/** A world with an email of a template that offers to unsubscribe, sent to Ada, who is on three lists. */
const offered = async () => {
  const world = await createWorld();
  const { sdk } = world;
  const { id } = await sdk.templates.create({
    name: "News",
    slug: "news",
    subject: "News",
    html: '<p>News</p><a href="{{ unsubscribeUrl }}">No more</a>',
    text: "News. No more: {{unsubscribeUrl}}",
  });
  await sdk.templates.publish(id);
  const contact = await sdk.contacts.create({ email: "ada@example.com" });
  const lists = [];
  for (const [name, isPublic] of [
    ["Weekly <b>", true],
    ["Offers", true],
    ["Churn risk", false],
  ] as const) {
    const list = await sdk.lists.create({ name, public: isPublic });
    await sdk.lists.add(list.id, { contacts: [contact.id] });
    lists.push(list.id);
  }
  const tracking = { opens: true, clicks: true };
  await sdk.templates.send("news", { from: "a@acme.test", to: ["ada@example.com", "grace@example.com"], tracking });
  const mails = await Promise.all((await world.inbox.all()).map(({ id }) => sdk.inbox.get(id)));
  const mailOf = (to: string) => mails.find((mail) => mail.to === to) as (typeof mails)[number];
  const mail = mailOf("ada@example.com");
  const [emailOfAda] = (await sdk.emails.list({ to: "ada@example.com" })).data;
  const events = async () => (await sdk.emails.get(emailOfAda?.id as string)).events.map(({ type, data }) => ({ type, data }));
  const post = async (form: Record<string, string | string[]>) => {
    const body = new URLSearchParams();
    for (const [name, values] of Object.entries(form)) for (const value of [values].flat()) body.append(name, value);
    const response = await world.fetch(URL_IN_MAIL.exec(mail.text ?? "")?.[0] ?? "", { method: "POST", body });
    return { status: response.status, text: await response.text() };
  };
  const listNames = async () => (await sdk.contacts.get(contact.id)).lists.map(({ name }) => name);
  return { world, sdk, contact, mail, mailOf, lists, events, post, listNames, url: URL_IN_MAIL.exec(mail.text ?? "")?.[0] ?? "" };
};

test("a template with {{unsubscribeUrl}} has each recipient's own link, with the headers for it, and it is not tracked", async () => {
  const { world, mail, mailOf, url } = await offered();
  await using _ = world;
  expect(mail.html).toContain(`<a href="${url}">No more</a>`);
  expect(mail.headers.find(({ name }) => name.toLowerCase() === "list-unsubscribe")?.value).toBe(`<${url}>`);
  expect(mail.headers.find(({ name }) => name.toLowerCase() === "list-unsubscribe-post")?.value).toBe("List-Unsubscribe=One-Click");
  expect(URL_IN_MAIL.exec(mailOf("grace@example.com").text ?? "")?.[0]).not.toBe(url);
  expect(JSON.stringify(mail)).not.toContain("unsubscribe.mailsvc.invalid");
});

test("a mail that does not offer it, or has its own headers, is left alone", async () => {
  await using world = await createWorld();
  const mail = { from: "a@acme.test", to: "ada@example.com", subject: "Receipt", html: "<p>Thanks</p>" };
  await world.sdk.emails.send(mail);
  await world.sdk.emails.send({ ...mail, headers: { "list-unsubscribe": "<https://acme.example/u>" } });
  const headers = await Promise.all(
    (await world.inbox.all()).map(async ({ id }) =>
      (await world.sdk.inbox.get(id)).headers.filter(({ name }) => /^list-/i.test(name)).map(({ value }) => value),
    ),
  );
  expect(headers.sort()).toEqual([[], ["<https://acme.example/u>"]]);
});

test("the preference page names the public lists of the person, and saving leaves those that are not ticked", async () => {
  const { world, sdk, lists, events, post, listNames, url, contact } = await offered();
  await using _ = world;
  const page = await open(world, url);
  for (const name of ["Weekly &lt;b&gt;", "Offers"])
    expect(page.text).toMatch(new RegExp(`<label><input type="checkbox"[^>]* checked> <span><bdi>${name}</bdi></span></label>`));
  expect(page.text).not.toContain("Churn");
  const [weekly, offers, risk] = lists as [string, string, string];
  const saved = await post({ action: "save", shown: [weekly, offers, risk], list: [weekly] });
  expect(saved.text).toMatch(
    /<h1>Your preferences are saved<\/h1>.*<li><bdi>Weekly &lt;b&gt;<\/bdi><\/li>.*<a href="">Change something else<\/a>/s,
  );
  expect((await listNames()).sort()).toEqual(["Churn risk", "Weekly <b>"]);
  expect((await events()).filter(({ type }) => type === "email.unsubscribed")).toEqual([
    { type: "email.unsubscribed", data: { method: "page", scope: "lists", lists: [offers] } },
  ]);
  expect((await sdk.contacts.get(contact.id)).status).toBe("SUBSCRIBED");
  // A form that was opened before another list was joined says nothing about that list.
  await sdk.lists.add(offers, { contacts: [contact.id] });
  await post({ action: "save", shown: [weekly], list: [weekly] });
  expect((await listNames()).sort()).toEqual(["Churn risk", "Offers", "Weekly <b>"]);
});

test("unsubscribing is an event of the email and of the contact, once, with the way it was done", async () => {
  const { world, sdk, events, post, contact } = await offered();
  await using _ = world;
  expect((await post({ "List-Unsubscribe": "One-Click" })).text).toContain("unsubscribed");
  await post({ action: "all" });
  expect((await events()).filter(({ type }) => type === "email.unsubscribed")).toEqual([
    { type: "email.unsubscribed", data: { method: "one-click", scope: "all" } },
  ]);
  const [suppression] = (await sdk.suppressions.list()).data;
  expect(suppression).toMatchObject({ scope: "marketing", emailId: expect.stringMatching(/^em_/) });
  const { read } = world.app.deps.db;
  const ofContact = (await read.select().from(read.t.events)).filter(({ type }) => type === "contact.unsubscribed");
  expect(ofContact).toMatchObject([{ contactId: contact.id, emailId: suppression?.emailId }]);
});

test.each(["", "anything", '{"a":1}', "action=other"])("a mail program that posts %j unsubscribes", async (body) => {
  const { world, sdk, url } = await offered();
  await using _ = world;
  expect((await world.fetch(url, { method: "POST", body, headers: { "content-type": "text/plain" } })).status).toBe(200);
  expect(await sdk.suppressions.get("ada@example.com")).toMatchObject({ scope: "marketing" });
});

test("a scanner that gets every link of a mail unsubscribes nobody", async () => {
  const { world, sdk, mail, events } = await offered();
  await using _ = world;
  await world.clock.advance("1h");
  const urls = [...`${mail.html} ${mail.text} ${mail.headers.map(({ value }) => value).join(" ")}`.matchAll(/http:\/\/[^"\s<>]+/g)];
  expect(urls.length).toBeGreaterThan(3);
  for (const [link] of urls) for (const method of ["GET", "HEAD"]) await world.fetch(link, { method, redirect: "manual" });
  await world.clock.advance("1m");
  expect((await sdk.suppressions.list()).pagination.total).toBe(0);
  expect((await events()).filter(({ data }) => data.machine === false)).toEqual([]);
});

test("the name that the service gave a workspace itself reaches nobody: mail names its sender, pages name nobody", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await sdk.brand.update({ name: "default" });
  await addContacts(world, 1);
  const bodies = { html: "<html><body><p>News</p></body></html>", text: "News" };
  for (const sender of [{ fromName: "Acme" }, {}]) {
    const { id } = await createCampaign(world, { ...bodies, ...sender });
    await sdk.campaigns.send(id);
    await world.settle();
  }
  const mails = await Promise.all((await world.inbox.all()).map(({ id }) => sdk.inbox.get(id)));
  const named = mails.find(({ from }) => from.includes("Acme"));
  const unnamed = mails.find(({ from }) => !from.includes("Acme"));
  const url = URL_IN_MAIL.exec(unnamed?.text ?? "")?.[0] ?? "";
  expect(named?.text).toMatch(/News\n\n-- \nAcme\nUnsubscribe: http/);
  expect(named?.html).toContain("<bdi>Acme</bdi> · <a href=");
  expect(unnamed?.text).toContain(`News\n\n-- \nUnsubscribe: ${url}`);
  const page = await (await world.fetch(url)).text();
  expect(page).toContain("Stop marketing email from this sender");
  for (const shown of [named?.html, named?.text, unnamed?.html, unnamed?.text, page]) expect(shown).not.toContain("default ·");
  expect(page).not.toContain(">default<");
});

test("every mail of a campaign offers to unsubscribe, and the events name the campaign", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await sdk.brand.update({ name: "Fern & Field" });
  const [to = ""] = await addContacts(world, 1);
  const { id } = await createCampaign(world, { html: "<html><body><p>News</p></body></html>", text: "News" });
  await sdk.campaigns.send(id);
  await world.settle();
  const [captured] = await world.inbox.all();
  const mail = await sdk.inbox.get(captured?.id as string);
  const url = URL_IN_MAIL.exec(mail.text ?? "")?.[0] ?? "";
  expect(mail.html).toMatch(new RegExp(`<bdi>Fern &amp; Field</bdi> · <a href="${url}"[^>]*>Unsubscribe</a></p></body></html>`));
  expect(mail.text).toContain(`News\n\n-- \nFern & Field\nUnsubscribe: ${url}`);
  expect(mail.headers.find(({ name }) => name.toLowerCase() === "list-unsubscribe")?.value).toBe(`<${url}>`);
  expect(mail.html).toContain("/t/o/");
  await world.fetch(url, { method: "POST", body: "List-Unsubscribe=One-Click" });
  await world.settle();
  const { read } = world.app.deps.db;
  const events = await read.select().from(read.t.events);
  for (const type of ["email.unsubscribed", "contact.unsubscribed"])
    expect(events.filter((event) => event.type === type)).toMatchObject([{ campaignId: id, emailId: expect.stringMatching(/^em_/) }]);
  expect(await sdk.suppressions.get(to)).toMatchObject({ scope: "marketing" });
});

test("a person who unsubscribed by mistake subscribes again on the page, and the events prove it", async () => {
  const { world, sdk, contact, post, listNames, url } = await offered();
  await using _ = world;
  const before = (await listNames()).sort();
  const done = await post({ action: "all" });
  expect(done.text).toMatch(
    /<h1>You&#x27;re unsubscribed<\/h1>.*<form method="post">.*<button[^>]* name="action" value="again">Subscribe again/s,
  );
  const [suppression] = (await sdk.suppressions.list()).data;
  // A scanner that opens the link changes nothing.
  for (const method of ["GET", "HEAD"]) await world.fetch(`${url}?action=again`, { method });
  expect((await sdk.contacts.get(contact.id)).status).toBe("UNSUBSCRIBED");
  expect((await open(world, url)).text).toContain('value="again"');
  for (let i = 0; i < 2; i += 1) expect((await post({ action: "again" })).text).toContain("<h1>You&#x27;re subscribed again</h1>");
  expect((await sdk.contacts.get(contact.id)).status).toBe("SUBSCRIBED");
  expect((await sdk.suppressions.list()).data).toEqual([]);
  expect((await listNames()).sort()).toEqual(before);
  const { read } = world.app.deps.db;
  const events = await read.select().from(read.t.events);
  const of = (wanted: string) => events.filter(({ type }) => type === wanted);
  expect(of("contact.subscribed")).toMatchObject([
    { contactId: contact.id, emailId: suppression?.emailId, data: { source: "preferences", before: "UNSUBSCRIBED" } },
  ]);
  expect(of("suppression.removed")).toMatchObject([{ data: { suppressionId: suppression?.id } }]);
  // The link unsubscribes again.
  await post({ "List-Unsubscribe": "One-Click" });
  expect((await sdk.contacts.get(contact.id)).status).toBe("UNSUBSCRIBED");
});

test("the page offers no way back after a bounce, a complaint, a suppression by the sender or an erasure", async () => {
  for (const reason of ["bounce", "complaint", "manual", "erasure"] as const) {
    const { world, sdk, post, url } = await offered();
    await using _ = world;
    if (reason === "erasure") await sdk.people.erase("ada@example.com");
    else await sdk.suppressions.create({ email: "ada@example.com", reason, ...(reason === "manual" && { scope: "marketing" }) });
    if (reason === "erasure") await post({ action: "all" });
    expect((await open(world, url)).text).not.toContain("again");
    expect((await post({ action: "again" })).text).toContain("<h1>You&#x27;re unsubscribed</h1>");
    expect(await sdk.suppressions.get("ada@example.com")).toBeDefined();
  }
});
