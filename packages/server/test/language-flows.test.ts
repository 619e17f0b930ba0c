import { afterAll, beforeAll, expect, test } from "vitest";
import { BUILT_IN } from "../src/html/texts.ts";
import { createWorld, type TestWorld } from "../src/testing.ts";

let world: TestWorld;

beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.dispose());

let networks = 0;

/** A request of a browser with these languages, from a network of its own. */
const ask = async (url: string, languages: string, form?: Record<string, string>) => {
  networks += 1;
  const response = await world.fetch(new URL(url, world.url).href, {
    redirect: "manual",
    ...(form && { method: "POST", body: new URLSearchParams(form).toString() }),
    headers: {
      ...{ accept: "text/html", "accept-language": languages, "x-forwarded-for": `203.0.113.${networks}` },
      ...(form && { "content-type": "application/x-www-form-urlencoded" }),
    },
  });
  return { status: response.status, location: response.headers.get("location") ?? "", html: await response.text() };
};

const languageOf = (html: string): string => /<html lang="([^"]+)" dir="(?:ltr|rtl)"/.exec(html)?.[1] ?? "";
/** The language of the form of a page, which may be another one than that of its content. */
const languageOfForm = (html: string): string => /<form class="signup" id="signup" lang="([^"]+)"/.exec(html)?.[1] ?? languageOf(html);
const linkTo = (path: string, text: string | null): string => new RegExp(`https?://\\S+/${path}/\\S+`).exec(text ?? "")?.[0] ?? "";
const languageOfContact = async (email: string) => (await world.sdk.contacts.list({ search: email })).data[0]?.language;

/** A form on a list of its own. */
const createForm = async (name: string, list: object = {}) => {
  const { id } = await world.sdk.lists.create({ name, ...list });
  return { list: id, url: (await world.sdk.forms.create({ name, listId: id })).url };
};

test("the confirmation mail, and the page behind it, are in the language of the page on which the person signed up", async () => {
  const form = await createForm("By browser");
  const browser = "sv, fr;q=0.5, ja;q=0.9, de;q=0";
  expect(languageOfForm((await ask(form.url, browser)).html)).toBe("ja");
  const sent = await ask(form.url, browser, { email: "ada@example.com" });
  expect(languageOf((await ask(sent.location, browser)).html)).toBe("ja");
  const mail = await world.inbox.waitFor({ to: "ada@example.com" });
  expect(mail.subject).toBe(BUILT_IN.ja.confirmSubject.replace("{list}", "By browser"));
  expect(mail.headers).toContainEqual({ name: "Content-Language", value: "ja" });
  const link = linkTo("lists/confirm", mail.text);
  // Another browser opens it.
  expect(languageOf((await ask(link, "en")).html)).toBe("ja");
  expect(languageOf((await ask(link, "en", {})).html)).toBe("ja");
  expect(await languageOfContact("ada@example.com")).toBe("ja");
});

test("a language that is chosen in the menu of a form goes before that of the brand, on all pages that follow and in the mail", async () => {
  await world.sdk.brand.update({ locale: "de" });
  const form = await createForm("By menu");
  const page = await ask(`${form.url}?email=bob%40example.com`, "fr");
  expect([languageOf(page.html), languageOfForm(page.html)]).toEqual(["de", "de"]);
  // Fields that were filled in stay.
  const chosen = /href="(\?[^"]*lang(?:=|&#x3D;)ar)"/.exec(page.html)?.[1]?.replaceAll("&amp;", "&").replaceAll("&#x3D;", "=") ?? "";
  const arabic = await ask(new URL(chosen, form.url).href, "fr");
  expect([languageOf(arabic.html), languageOfForm(arabic.html)]).toEqual(["de", "ar"]);
  expect(arabic.html).toContain('value="bob@example.com"');
  expect(arabic.html).toMatch(/<form class="signup" id="signup" lang="ar" dir="rtl"/);
  const action = /action="([^"#]+)/.exec(arabic.html.replaceAll("&#x3D;", "="))?.[1] ?? "";
  const wrong = await ask(action, "fr", { email: "x" });
  expect([wrong.status, languageOfForm(wrong.html)]).toEqual([400, "ar"]);
  const sent = await ask(action, "fr", { email: "bob@example.com" });
  const thanks = await ask(sent.location, "fr");
  expect(thanks.html).toContain('<html lang="ar" dir="rtl">');
  const mail = await world.inbox.waitFor({ to: "bob@example.com" });
  expect(mail.html).toContain('<html lang="ar" dir="rtl">');
  expect(await languageOfContact("bob@example.com")).toBe("ar");
  await world.sdk.brand.update({ locale: null });
});

test("the settings of a brand are no wish of a person, and those of a list go before them", async () => {
  await world.sdk.brand.update({ locale: "de" });
  const form = await createForm("By list", { language: "it" });
  await ask(form.url, "fr", { email: "carl@example.com" });
  expect((await world.inbox.waitFor({ to: "carl@example.com" })).subject).toBe(BUILT_IN.it.confirmSubject.replace("{list}", "By list"));
  expect(await languageOfContact("carl@example.com")).toBeNull();
  await world.sdk.brand.update({ locale: null });
});

test("a choice on the preference page lasts once it is saved, and opening it in another language changes nothing", async () => {
  const form = await createForm("Kept");
  await world.sdk.contacts.create({ email: "dora@example.com", language: "nl" });
  await world.sdk.lists.add(form.list, { contacts: ["dora@example.com"] });
  await world.campaign({
    ...{ name: "News", subjectLine: "News", fromEmail: "news@acme.example", recipientType: "list", listId: form.list },
    html: "<p>News</p>",
  });
  const mail = await world.inbox.waitFor({ to: "dora@example.com" });
  const link = (/href="([^"]+\/unsubscribe\/[^"]+)"/.exec(mail.html ?? "")?.[1] ?? "").replaceAll("&amp;", "&");
  expect(mail.html).toContain(BUILT_IN.nl.unsubscribe);
  expect(languageOf((await ask(link, "fr")).html)).toBe("nl");
  const polish = await ask(`${link}?lang=pl`, "fr");
  expect(languageOf(polish.html)).toBe("pl");
  expect(await languageOfContact("dora@example.com")).toBe("nl");
  expect(languageOf((await ask(`${link}?lang=${encodeURIComponent("'><script>")}`, "fr")).html)).toBe("nl");
  const shown = /name="shown" value="([^"]+)"/.exec(polish.html)?.[1] ?? "";
  expect(languageOf((await ask(`${link}?lang=pl`, "fr", { action: "save", shown, list: shown })).html)).toBe("pl");
  expect(await languageOfContact("dora@example.com")).toBe("pl");
  expect(languageOf((await ask(link, "fr")).html)).toBe("pl");
});

test("a brand's texts in a language that the server does not speak are used with their plural forms, and English for the rest", async () => {
  const days = { one: "Lenken virker i {count} dag.", other: "Lenken virker i {count} dager." };
  await world.sdk.brand.update({ texts: { nb: { expiresInDays: days, confirmSubject: "Bekreft {list}", signUp: "Meld deg på" } } });
  const form = await createForm("Egne");
  const page = await ask(form.url, "nb-NO, de;q=0.5");
  expect(languageOfForm(page.html)).toBe("nb-NO");
  expect(page.html).toContain("Meld deg på");
  expect(page.html).toContain("Email address");
  expect(page.html).toMatch(/lang="nb"[^>]*><bdi>Norsk bokmål/);
  await ask(form.url, "nb-NO", { email: "eva@example.com" });
  const mail = await world.inbox.waitFor({ to: "eva@example.com" });
  expect(mail.subject).toBe("Bekreft Egne");
  expect(mail.text).toContain("Lenken virker i 7 dager.");
  await world.sdk.brand.update({ texts: { nb: null } });
});
