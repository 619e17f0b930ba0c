import { expect, test } from "vitest";
import { createCampaign } from "../../test/campaign.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const HTML = '<p>Dear {{firstName}}</p><p><a href="{{viewInBrowserUrl}}">View in browser</a> <a href="https://acme.example/">Look</a></p>';

const open = async (world: TestWorld, url: string) => {
  const response = await world.fetch(url, { headers: { accept: "text/html" } });
  return { status: response.status, headers: response.headers, text: await response.text() };
};

const findLink = (text: string | null): string => /https?:[^"\s]+\/view\/[\w-]+/.exec(text ?? "")?.[0] ?? "";

/** A campaign that Ada got, and the link in her mail. */
const sent = async (fields: Parameters<typeof createCampaign>[1] = {}) => {
  const world = await createWorld();
  const ada = await world.sdk.contacts.create({ email: "ada@example.com", firstName: "Ada <3" });
  const { id } = await createCampaign(world, { html: HTML, ...fields });
  await world.sdk.campaigns.send(id);
  await world.settle();
  const { id: mailId } = await world.inbox.waitFor({ to: "ada@example.com" });
  const mail = await world.sdk.inbox.get(mailId);
  return { world, ada, id, mail, link: findLink(mail.html) };
};

test("the link in a mail shows it as its recipient got it, without scripts, tracking and caches", async () => {
  const { world, mail, link } = await sent();
  await using _ = world;
  expect(mail.html).not.toContain("view.mailsvc.invalid");
  const page = await open(world, link);
  expect(page.status).toBe(200);
  expect(page.text).toContain("Dear Ada &lt;3");
  expect(page.text).toContain(`href="${link}"`);
  expect(page.text).toMatch(/href="[^"]*\/unsubscribe\/[\w-]+"/);
  // The mail's link leads over the server and is counted; that of the page does not.
  expect(mail.html).not.toContain('href="https://acme.example/"');
  expect(page.text).toContain('href="https://acme.example/"');
  expect(page.headers.get("content-security-policy")).toMatch(/^default-src 'none';.*sandbox/);
  expect(page.headers.get("cache-control")).toBe("no-store");
  expect(page.headers.get("x-robots-tag")).toBe("noindex");
  const [campaign] = (await world.sdk.campaigns.list()).data;
  expect((await world.sdk.campaigns.stats(campaign?.id ?? "")).opens.unique).toBe(0);
});

test("a mail without HTML is shown as text, which is escaped", async () => {
  const { world, mail } = await sent({ html: undefined, text: "Dear {{firstName}}: {{viewInBrowserUrl}}" });
  await using _ = world;
  const page = await open(world, findLink(mail.text));
  expect(page.text).toContain("Dear Ada &lt;3: ");
  expect(page.text).toContain("<pre");
});

test("the link still works after the person unsubscribed and the campaign is over, and no more once they are erased", async () => {
  const { world, ada, link } = await sent();
  await using _ = world;
  await world.sdk.contacts.update(ada.id, { status: "UNSUBSCRIBED", firstName: "Ada L." });
  expect((await open(world, link)).text).toContain("Dear Ada L.");
  await world.sdk.people.erase("ada@example.com");
  const gone = await open(world, link);
  expect(gone.status).toBe(404);
  expect(gone.text).toContain("This email is not available");
  expect(gone.text).not.toContain("Ada");
});

test("a single mail has a page, too; one that was erased has none, nor has a link that was changed", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await sdk.contacts.create({ email: "ada@example.com" });
  const html = '<a href="{{viewInBrowserUrl}}">View</a>';
  await sdk.templates.create({ name: "Hi", type: "transactional", subject: "S", html, publish: true });
  await sdk.emails.sendTemplate({ slug: "hi", from: "hello@acme.example", to: "ada@example.com" });
  await world.settle();
  const { id: mailId } = await world.inbox.waitFor({ to: "ada@example.com" });
  const link = findLink((await sdk.inbox.get(mailId)).html);
  expect((await open(world, link)).status).toBe(200);
  const changed = link.slice(0, -3) + (link.endsWith("AAA") ? "BBB" : "AAA");
  expect((await open(world, changed)).text).toContain("This link does not work");
  await sdk.people.erase("ada@example.com");
  expect((await open(world, link)).status).toBe(404);
});
