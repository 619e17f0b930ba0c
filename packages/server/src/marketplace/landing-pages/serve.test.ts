import { eq } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestAgent, pdf, type TestAgent } from "../../../test/agent.ts";
import { createWorld, type TestWorld } from "../../testing.ts";
import { toDate } from "./stats.ts";

let world: TestWorld;
let agent: TestAgent;

beforeAll(async () => {
  world = await createWorld();
  agent = await createTestAgent(world);
});
afterAll(() => world.dispose());

interface Page {
  readonly id: string;
  readonly url: string;
}

let count = 0;
const published = async (fields: object = {}): Promise<Page> => {
  count += 1;
  const { status, body } = await agent.call("POST", "/landing-pages", {
    title: `Page ${count}`,
    html: "<p>x</p><form></form>",
    status: "PUBLISHED",
    ...fields,
  });
  expect({ status, body }).toMatchObject({ status: 201 });
  return body;
};

let visitors = 0;
/** An address nobody came from before. */
const somewhere = (): string => {
  visitors += 1;
  return `203.0.${Math.floor(visitors / 250)}.${(visitors % 250) + 1}`;
};

const visit = async (
  url: string,
  { from = somewhere(), ...init }: Omit<RequestInit, "headers"> & { from?: string; headers?: Record<string, string> } = {},
) => {
  const response = await world.fetch(url, { redirect: "manual", ...init, headers: { "x-forwarded-for": from, ...init.headers } });
  return { status: response.status, text: await response.text(), headers: response.headers };
};

const submit = (page: Page, fields: Record<string, string> | string, options: { from?: string; headers?: Record<string, string> } = {}) =>
  visit(page.url, {
    ...options,
    method: "POST",
    body: typeof fields === "string" ? fields : new URLSearchParams(fields).toString(),
    headers: { "content-type": "application/x-www-form-urlencoded", ...options.headers },
  });

const stats = async (page: Page, query = "") => (await agent.call("GET", `/landing-pages/${page.id}/stats${query}`)).body;
const contactOf = async (email: string) => (await world.sdk.contacts.list({ search: email })).data.find((c) => c.email === email);

describe("a published page", () => {
  test("is served under a policy that lets nothing act", async () => {
    const page = await published({ html: '<p style="color:red">x</p><form></form>' });
    const { status, headers, text } = await visit(page.url);
    expect(status).toBe(200);
    const policy = headers.get("content-security-policy") ?? "";
    const parts = Object.fromEntries(policy.split("; ").map((part) => [part.split(" ")[0], part.split(" ").slice(1).join(" ")]));
    expect(parts).toEqual({
      "default-src": "'none'",
      "img-src": "'self'",
      "style-src": expect.stringMatching(/^'sha256-[A-Za-z0-9+/=]{44}'$/),
      "style-src-attr": "'unsafe-inline'",
      "form-action": "'self'",
      "frame-ancestors": "'none'",
      "base-uri": "'none'",
      sandbox: "allow-forms allow-popups allow-popups-to-escape-sandbox allow-downloads",
    });
    expect(Object.fromEntries(headers)).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cross-origin-opener-policy": "same-origin",
      "cache-control": "public, no-cache",
      etag: expect.stringMatching(/^"[\w-]{27}"$/),
    });
    expect(headers.get("set-cookie")).toBeNull();
    expect(text).not.toMatch(/<script|\son\w+=|javascript:/i);
    const style = /<style>([\s\S]*?)<\/style>/.exec(text)?.[1] ?? "";
    const { createHash } = await import("node:crypto");
    expect(policy).toContain(`'sha256-${createHash("sha256").update(style).digest("base64")}'`);
    for (const label of ["email"]) expect(text).toMatch(new RegExp(`<label for="${label}">.*<input id="${label}" name="${label}"`));
  });

  test("is not sent again to who has it, and is when it changes", async () => {
    const page = await published();
    const etag = (await visit(page.url)).headers.get("etag") as string;
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"])
      expect(await visit(page.url, { headers: { "if-none-match": known } })).toMatchObject({ status: 304, text: "" });
    await agent.call("PATCH", `/landing-pages/${page.id}`, { html: "<p>new</p>" });
    expect(await visit(page.url, { headers: { "if-none-match": etag } })).toMatchObject({
      status: 200,
      text: expect.stringContaining("new"),
    });
  });

  test("turns dark where readers want it so, unless it has its own colors", async () => {
    const dark = "prefers-color-scheme:dark";
    expect((await visit((await published({ html: '<p style="margin: 1em">x</p>' })).url)).text).toContain(dark);
    for (const style of ["background:#f5f5f5", "margin:0;color:#222"])
      expect((await visit((await published({ html: `<p style="${style}">x</p>` })).url)).text).not.toContain(dark);
    // A text may look like a style that never ends.
    const endless = await published({ html: `<p> style="${"color".repeat(100_000)}</p>` });
    expect((await visit(endless.url)).status).toBe(200);
  });

  test("wears the brand's colors, name and logo, and its own words", async () => {
    await world.sdk.brand.update({
      name: "Fern <& Field>",
      website: "https://fern.example/",
      colors: { primary: "#0f766e" },
      locale: "de",
    });
    const page = await published({
      form: { title: "Mach mit", button: "Los", labels: { email: "E-Mail" }, fields: ["firstName", "phone"] },
    });
    const { text } = await visit(page.url);
    for (const part of [
      '<html lang="de" dir="ltr">',
      "--primary:#0f766e",
      "Fern &lt;&amp; Field&gt;",
      "https://fern.example/",
      "Mach mit",
      ">Los</button>",
      ">E-Mail</label>",
      'name="firstName"',
      'name="phone"',
    ])
      expect(text).toContain(part);
    expect(text).not.toContain('name="lastName"');
    expect(text).toContain("prefers-color-scheme:dark");
    await world.sdk.brand.update({ locale: null });
  });

  const NOWHERE = [
    "nope",
    "lp_x",
    "a-b",
    "..%2f..%2fetc%2fpasswd",
    "x-01jc3v2m9k8q4w6x0y5z7a1b2c",
    "X-01JC3V2M9K8Q4W6X0Y5Z7A1B2C",
    "%00",
    "a%20b",
    "'or'1'='1",
  ];
  for (const ref of NOWHERE)
    test(`there is nothing at /p/${ref}`, async () => {
      const { status, text, headers } = await visit(`${world.url}/p/${ref}`);
      expect(status).toBe(404);
      expect(text).not.toContain("passwd");
      expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    });

  test("answers methods it does not know with those it does", async () => {
    const page = await published({ html: "<p>no form</p>" });
    for (const method of ["PUT", "DELETE", "PATCH"]) expect(await visit(page.url, { method })).toMatchObject({ status: 405 });
    expect((await visit(page.url, { method: "PUT" })).headers.get("allow")).toBe("GET, HEAD, POST");
    expect((await submit(page, { email: "a@example.com" })).status).toBe(405);
    expect((await visit(`${page.url}/thanks`)).status).toBe(404);
    expect((await visit(page.url, { method: "HEAD" })).text).toBe("");
  });
});

describe("a sign-up", () => {
  test("makes a contact, keeps what was agreed to, thanks, and gives the file", async () => {
    const file = (
      await agent.call("POST", "/lead-magnets", { title: "T", fileName: "guide.pdf", contentBase64: pdf("signup").toString("base64") })
    ).body;
    const page = await published({
      leadMagnetId: file.id,
      form: { fields: ["firstName"], consentText: "Yes, mail me the guide.", thanksTitle: "Merci" },
    });
    const answer = await submit(page, { email: "Ada@Example.com", firstName: " Ada ", lastName: "not asked for" });
    expect(answer.status).toBe(303);
    const thanks = await visit(new URL(answer.headers.get("location") as string, world.url).href);
    expect(thanks).toMatchObject({ status: 200, text: expect.stringContaining("Merci") });
    expect(thanks.headers.get("cache-control")).toBe("no-store");
    expect(thanks.text).not.toContain("xample.com");
    const link = /href="(\/f\/[\w-]+)"/.exec(thanks.text)?.[1] as string;
    expect(await visit(world.url + link)).toMatchObject({ status: 200, text: pdf("signup").toString() });
    expect(await contactOf("Ada@example.com")).toMatchObject({ status: "SUBSCRIBED", firstName: "Ada", lastName: null });
    const contact = await contactOf("Ada@example.com");
    expect(await world.sdk.landingPages.submissions(page.id).toArray()).toEqual([
      {
        id: expect.stringMatching(/^sub_/),
        contactId: contact?.id,
        consentText: "Yes, mail me the guide.",
        listId: null,
        createdAt: expect.any(String),
      },
    ]);
    await world.clock.advance("7d");
    expect((await visit(world.url + link)).status).toBe(404);
  });

  test("can be undone at any time on the page its footer links to, which says nothing about who is known", async () => {
    const page = await published();
    const path = `${page.url}/unsubscribe`;
    for (const at of [page.url, `${page.url}/thanks`]) expect((await visit(at)).text).toContain(`href="${new URL(path).pathname}"`);
    await submit(page, { email: "leaves@example.com" });
    const leave = (email: string) =>
      visit(path, {
        method: "POST",
        body: new URLSearchParams({ email }),
        headers: { "content-type": "application/x-www-form-urlencoded" },
      });
    expect((await visit(path)).text).toContain('<form class="signup" method="post"');
    const statusOf = async (): Promise<string | undefined> =>
      (await world.sdk.contacts.list({ search: "leaves@example.com" })).data[0]?.status;
    expect(await statusOf()).toBe("SUBSCRIBED");
    const [known, unknown] = [await leave("Leaves@example.com"), await leave("stranger@example.com")];
    expect([known.status, known.text.replace("Leaves@", "stranger@")]).toEqual([200, unknown.text]);
    expect(await statusOf()).toBe("UNSUBSCRIBED");
    const { data } = await world.sdk.suppressions.list({ source: "unsubscribe" });
    expect(data).toEqual([expect.objectContaining({ email: "leaves@example.com", scope: "marketing", reason: "unsubscribe" })]);
    const wrong = await leave("no address");
    expect([wrong.status, /aria-invalid/.test(wrong.text)]).toEqual([400, true]);
  });

  test("answers the same for an address that is new, known, gone, bounced or suppressed, and brings nobody back", async () => {
    const page = await published();
    await world.sdk.contacts.create({ email: "known@example.com", firstName: "Kim" });
    const gone = await world.sdk.contacts.create({ email: "gone@example.com" });
    await world.sdk.contacts.update(gone.id, { status: "UNSUBSCRIBED" });
    await world.sdk.suppressions.create({ email: "blocked@example.com" });
    const answers = [];
    for (const email of ["new@example.com", "known@example.com", "gone@example.com", "blocked@example.com"]) {
      const { status, text, headers } = await submit(page, { email });
      answers.push({ status, text, location: headers.get("location") });
    }
    expect(new Set(answers.map((a) => JSON.stringify(a))).size).toBe(1);
    expect(answers[0]).toEqual({ status: 303, text: "", location: `${new URL(page.url).pathname}/thanks` });
    expect((await contactOf("new@example.com"))?.status).toBe("SUBSCRIBED");
    expect((await contactOf("gone@example.com"))?.status).toBe("UNSUBSCRIBED");
    expect((await contactOf("blocked@example.com"))?.status).toBe("UNSUBSCRIBED");
    expect((await stats(page)).submissions).toBe(4);
  });

  test("fills in what was not known of a contact, and writes nothing over", async () => {
    const page = await published({ form: { fields: ["firstName", "lastName"] } });
    await world.sdk.contacts.create({ email: "kim@example.com", firstName: "Kim", tags: ["vip"] });
    await submit(page, { email: "kim@example.com", firstName: "Evil", lastName: "Kay" });
    expect(await contactOf("kim@example.com")).toMatchObject({ firstName: "Kim", lastName: "Kay", tags: ["vip"] });
  });

  test("joins the list; with double opt-in, after the mail that asks", async () => {
    const plain = await world.sdk.lists.create({ name: "Plain" });
    const strict = await world.sdk.lists.create({ name: "Strict", doubleOptIn: true, confirmationFrom: "Fern <hi@fern.test>" });
    const [one, two] = [await published({ listId: plain.id }), await published({ listId: strict.id })];
    await submit(one, { email: "joins@example.com" });
    expect((await world.sdk.lists.get(plain.id)).memberCount).toBe(1);
    const answer = await submit(two, { email: "joins@example.com" });
    expect((await visit(new URL(answer.headers.get("location") as string, world.url).href)).text).toContain("Please confirm");
    expect(await world.sdk.lists.get(strict.id)).toMatchObject({ memberCount: 0, pendingCount: 1 });
    const [mail] = await world.inbox.all({ to: "joins@example.com" });
    expect(mail?.subject).toContain("Strict");
    await submit(two, { email: "joins@example.com" });
    expect(await world.inbox.all({ to: "joins@example.com" })).toHaveLength(1);
    await world.sdk.suppressions.create({ email: "never@example.com" });
    await submit(two, { email: "never@example.com" });
    for (const spelling of ['"never"@example.com', '"n\\ever"@example.com', "NEVER@example.com"]) await submit(two, { email: spelling });
    expect(await world.inbox.all({ to: "never@example.com" })).toEqual([]);
    await world.sdk.lists.delete(plain.id);
    expect((await submit(one, { email: "later@example.com" })).status).toBe(303);
    expect((await contactOf("later@example.com"))?.status).toBe("SUBSCRIBED");
  });

  const WRONG: [name: string, fields: Record<string, string>, says: string][] = [
    ["no address", {}, "wrong-email"],
    ["an empty address", { email: "" }, "wrong-email"],
    ["no address at all", { email: "ada" }, "wrong-email"],
    ["two addresses", { email: "a@example.com,b@example.com" }, "wrong-email"],
    ["an address with a line break", { email: "a@example.com\r\nBcc: b@example.com" }, "wrong-email"],
    ["an address with markup", { email: '"><script>alert(1)</script>@example.com' }, "wrong-email"],
    ["a name too long", { email: "long@example.com", firstName: "x".repeat(101) }, "wrong-firstName"],
    ["a name over two lines", { email: "lines@example.com", firstName: "a\nb" }, "wrong-firstName"],
    ["a name with a NUL in it", { email: "nul@example.com", firstName: "a\0b" }, "wrong-firstName"],
    ["no consent", { email: "consent@example.com", consent: "" }, "wrong-consent"],
  ];
  for (const [name, fields, says] of WRONG)
    test(`${name}: the page comes back, says what is wrong, and keeps what was typed`, async () => {
      const page = await published({ form: { fields: ["firstName"], consentCheckbox: true } });
      const { status, text, headers } = await submit(page, { consent: "yes", ...fields });
      expect(status).toBe(400);
      expect(text).toContain(`id="${says}"`);
      expect(text).toContain('aria-invalid="true"');
      expect(text).not.toContain("<script");
      expect(text).not.toContain("\0");
      expect(headers.get("cache-control")).toBe("no-store");
      expect((await stats(page)).submissions).toBe(0);
      if (fields.email?.endsWith("@example.com") && !/[\s"<,]/.test(fields.email)) {
        expect(text).toContain(`value="${fields.email}"`);
        expect(await contactOf(fields.email)).toBeUndefined();
      }
    });

  test("a program that fills every field is thanked like all, and leaves nothing", async () => {
    const page = await published();
    const { status, headers } = await submit(page, { email: "bot@example.com", topic: "buy" });
    expect([status, headers.get("location")]).toEqual([303, `${new URL(page.url).pathname}/thanks`]);
    expect(await contactOf("bot@example.com")).toBeUndefined();
    expect((await stats(page)).submissions).toBe(0);
  });

  test("bodies that are no form", async () => {
    const page = await published();
    expect((await submit(page, '{"email":"a@example.com"}', { headers: { "content-type": "application/json" } })).status).toBe(415);
    expect((await submit(page, "x", { headers: { "content-type": "multipart/form-data; boundary=x" } })).status).toBe(415);
    const large = await submit(page, `email=a@example.com&x=${"y".repeat(20_000)}`);
    expect([large.status, large.text.includes("Please shorten what you entered.")]).toEqual([413, true]);
    expect((await submit(page, "email=a@example.com", { headers: { "content-encoding": "gzip" } })).status).toBe(415);
    expect((await submit(page, "email=a@example.com", { headers: { "content-encoding": "identity" } })).status).toBe(303);
    expect((await submit(page, "email=%ff%fe@example.com")).status).toBe(400);
    expect((await submit(page, "email=c%40example.com&__proto__=x&constructor=y&status=BOUNCED&other=1&other=2")).status).toBe(303);
  });

  test("a field that came twice: nobody is signed up, and the page says which one", async () => {
    const page = await published();
    const { status, text } = await submit(page, "email=first%40example.com&email=second%40example.com");
    expect([status, text.includes('id="wrong-email"'), text.includes("more than once")]).toEqual([400, true, true]);
    expect([await contactOf("first@example.com"), await contactOf("second@example.com")]).toEqual([undefined, undefined]);
  });

  test("a flood from one place is stopped, and one from elsewhere is not", async () => {
    const page = await published();
    const from = somewhere();
    const statuses = [];
    for (let i = 0; i < 15; i += 1) statuses.push((await submit(page, { email: `flood${i}@example.com` }, { from })).status);
    expect(statuses).toEqual([...Array(10).fill(303), ...Array(5).fill(429)]);
    const refused = await submit(page, { email: "x@example.com" }, { from });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await submit(page, { email: "elsewhere@example.com" })).status).toBe(303);
    await world.clock.advance("10s");
    expect((await submit(page, { email: "again@example.com" }, { from })).status).toBe(303);
    expect((await stats(page)).submissions).toBe(12);
  });

  test("addresses of one household of IPv6 are one place", async () => {
    const page = await published();
    const statuses = [];
    for (let i = 0; i < 12; i += 1)
      statuses.push((await submit(page, { email: `six${i}@example.com` }, { from: `2001:db8:7:9::${i + 1}` })).status);
    expect(statuses.filter((s) => s === 429)).toHaveLength(2);
    expect((await submit(page, { email: "seven@example.com" }, { from: "2001:db8:7:a::1" })).status).toBe(303);
  });

  test("an address of IPv4 is the same place when it is written as one of IPv6; what comes first in the header is not believed", async () => {
    const page = await published();
    const forms = async (from: string) => (await submit(page, { email: `v${Math.floor(count)}@example.com` }, { from })).status;
    for (let i = 0; i < 10; i += 1) expect(await forms(i % 2 === 0 ? "192.0.2.200" : "::ffff:192.0.2.200")).toBe(303);
    expect(await forms(`198.51.100.${count % 250}, 192.0.2.200`)).toBe(429);
    expect(await forms("::ffff:192.0.2.201")).toBe(303);
  });

  test("fifty at once of one address make one contact, and fifty of as many make fifty", async () => {
    const page = await published();
    const one = await Promise.all(Array.from({ length: 50 }, () => submit(page, { email: "once@example.com" })));
    expect(new Set(one.map((a) => a.status))).toEqual(new Set([303]));
    expect((await world.sdk.contacts.list({ search: "once@example.com" })).data).toHaveLength(1);
    const many = await Promise.all(Array.from({ length: 50 }, (_, i) => submit(page, { email: `many${i}@example.com` })));
    expect(new Set(many.map((a) => a.status))).toEqual(new Set([303]));
    expect((await stats(page)).submissions).toBe(100);
    expect(await world.sdk.landingPages.submissions(page.id).toArray()).toHaveLength(100);
  });

  test("of a contact that is deleted only the number stays", async () => {
    const page = await published();
    await submit(page, { email: "leaves@example.com" });
    await world.sdk.contacts.delete((await contactOf("leaves@example.com"))?.id ?? "");
    expect(await world.sdk.landingPages.submissions(page.id).toArray()).toMatchObject([{ contactId: null }]);
    expect((await stats(page)).submissions).toBe(1);
  });
});

describe("the numbers", () => {
  test("count views, visitors once a day, and where they came from; programs and looking ahead do not count", async () => {
    const page = await published();
    const [ann, ben] = [somewhere(), somewhere()];
    const look = (from: string, headers: Record<string, string> = {}) =>
      visit(page.url, { from, headers: { "user-agent": "Mozilla/5.0 Firefox", ...headers } });
    await look(ann, { referer: "https://www.news.example/story?email=ada@example.com#x" });
    await look(ann, { referer: "https://news.example/other" });
    await look(ben, { referer: "https://search.example/?q=secret" });
    await look(ben, { referer: `${world.url}/p/x` });
    await look(ben, { referer: "javascript:alert(1)" });
    await look(ann, { "user-agent": "Mozilla/5.0 Chrome" });
    await look(ann, { "sec-purpose": "prefetch" });
    await look(ann, { "user-agent": "Googlebot/2.1" });
    await visit(page.url, { from: ann, method: "HEAD" });
    await submit(page, { email: "n1@example.com" }, { from: ann });
    const first = await stats(page);
    expect(first).toEqual({
      from: toDate(world.clock.now() - 29 * 86_400_000),
      to: toDate(world.clock.now()),
      views: 6,
      uniqueVisitors: 3,
      submissions: 1,
      conversionRate: 0.3333,
      byDay: [{ date: toDate(world.clock.now()), views: 6, uniqueVisitors: 3, submissions: 1 }],
      topReferrers: [
        { host: "news.example", views: 2 },
        { host: "search.example", views: 1 },
      ],
    });
    await world.clock.advance("1d");
    await look(ann);
    const both = await stats(page);
    expect(both).toMatchObject({ views: 7, uniqueVisitors: 4 });
    expect(both.byDay).toHaveLength(2);
    expect(await stats(page, `?from=${both.byDay[1].date}&to=${both.byDay[1].date}`)).toMatchObject({
      views: 1,
      uniqueVisitors: 1,
      submissions: 0,
    });
    for (const query of ["?from=2026-02-02&to=2026-02-01", "?from=yesterday", "?from=2020-01-01&to=2026-01-01", "?granularity=hour"])
      expect((await agent.call("GET", `/landing-pages/${page.id}/stats${query}`)).status).toBe(400);
  });

  test("add up: a hundred views and thirty sign-ups at once are just that many", async () => {
    const page = await published();
    const places = Array.from({ length: 20 }, somewhere);
    await Promise.all([
      ...Array.from({ length: 100 }, (_, i) => visit(page.url, { from: places[i % 20] as string })),
      ...Array.from({ length: 30 }, (_, i) => submit(page, { email: `sum${i}@example.com` })),
    ]);
    expect(await stats(page)).toMatchObject({ views: 100, uniqueVisitors: 20, submissions: 30 });
    expect(await world.sdk.landingPages.submissions(page.id).toArray()).toHaveLength(30);
  });

  test("who was seen is a hash under a salt, and both are gone when the day is over", async () => {
    const page = await published();
    const from = "198.51.100.77";
    await visit(page.url, { from });
    const { db } = world.app.deps;
    const { landingPageVisitors: v, landingPageSalts: s } = db.read.t;
    const seen = await db.read.select().from(v).where(eq(v.pageId, page.id));
    expect(seen).toHaveLength(1);
    expect(seen[0]?.visitor).toMatch(/^[\w-]{22}$/);
    expect(JSON.stringify(await db.read.select().from(v))).not.toContain("198.51");
    expect(await db.read.$count(s)).toBe(1);
    await world.clock.advance("1d");
    await world.settle();
    expect(await db.read.$count(v)).toBe(0);
    expect(await db.read.$count(s)).toBe(0);
    expect((await stats(page)).uniqueVisitors).toBe(1);
  });

  test("hosts nobody knows do not fill the database", async () => {
    const page = await published();
    const places = Array.from({ length: 12 }, somewhere);
    await Promise.all(
      Array.from({ length: 260 }, (_, i) =>
        visit(page.url, { from: places[i % 12] as string, headers: { referer: `https://h${i}.example/` } }),
      ),
    );
    const { landingPageReferrers: r } = world.app.deps.db.read.t;
    const rows = await world.app.deps.db.read.select().from(r).where(eq(r.pageId, page.id));
    expect(rows.length).toBeLessThanOrEqual(201);
    expect(rows.reduce((sum, row) => sum + row.views, 0)).toBe(260);
    expect((await stats(page)).topReferrers).toHaveLength(20);
  });

  test("a visitor who never stops looking is counted up to a limit, and served all the same", async () => {
    const page = await published();
    const from = somewhere();
    const answers = await Promise.all(Array.from({ length: 80 }, () => visit(page.url, { from })));
    expect(new Set(answers.map((a) => a.status))).toEqual(new Set([200]));
    expect(await stats(page)).toMatchObject({ views: 60, uniqueVisitors: 1 });
  });
});
