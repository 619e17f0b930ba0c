import { expect, test } from "vitest";
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
  expect(mail.text).toContain("Please confirm your subscription to News.");
  expect(mail.text).toContain("If you didn't ask for this, ignore this email.");
  expect(mail.html).toContain("Fern &amp; Field");
  expect(mail.html).toContain("background:#0a7d3c");
  const page = await open(world, confirm);
  expect(page.text).toContain('<header class="top"><div class="frame"><b>Fern &amp; Field</b>');
  expect(page.text).toContain("--primary:#0a7d3c");
  // Its button confirms, so no other site may frame it.
  expect(page.policy).toMatch(/default-src 'none'.*form-action 'self'; frame-ancestors 'none'/);
  expect((await open(world, confirm, "POST")).text).toMatch(/<a href="[^"]*\/unsubscribe\/[\w-]+">unsubscribe<\/a>/);
});

test("an expired confirmation link shows a page to browsers", async () => {
  const { world, confirm } = await asked();
  await using _ = world;
  await world.clock.advance("7d");
  const page = await open(world, confirm);
  expect([page.status, page.type]).toEqual([404, "text/html; charset=utf-8"]);
  expect(page.text).toContain("This link is invalid or has expired.");
  expect((await open(world, confirm, "GET", "application/json")).type).toBe("application/json");
});

test("the link asks before it unsubscribes, and mail programs unsubscribe with one click", async () => {
  const { world, sdk, contact, header, unsubscribe } = await asked();
  await using _ = world;
  expect(header("list-unsubscribe")).toBe(`<${unsubscribe}>`);
  expect(header("list-unsubscribe-post")).toBe("List-Unsubscribe=One-Click");
  expect(unsubscribe).not.toContain("ada");
  for (let i = 0; i < 3; i += 1) {
    const page = await open(world, unsubscribe);
    expect(page.status).toBe(200);
    expect(page.text).toContain('<form method="post"><button>Unsubscribe</button></form>');
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

test.each(["x", "", "A".repeat(5000), "%00"])("a link that was not made here is a page that says so: %j", async (token) => {
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
