import { contract, ERROR_CODES, RECIPIENT_LANGUAGES, RECIPIENT_TEXTS, TEXT_KEYS, type TextKey } from "@mailsvc/sdk/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { publicPages } from "../src/features.ts";
import { BUILT_IN, getDirection } from "../src/html/texts.ts";
import { errorPage } from "../src/http/public/error-page.ts";
import { ApiError } from "../src/lib/api-error.ts";
import { createWorld, type TestWorld } from "../src/testing.ts";
import { createTestAgent, pdf, type TestAgent } from "./agent.ts";
import { type ScriptedMailer, scriptedMailer } from "./scripted-mailer.ts";

// Each page and mail that a recipient can meet, in each language. New pages are found by the paths of the server and of the contract, by
// the links and forms of other pages, and by the texts that no visited page has shown.

/** Paths that show no page of texts when all is well: files, images, redirects, mail as its author wrote it. */
const WITHOUT_TEXTS = new Set(["/f/:token", "/a/:id", "/t/o/:token", "/t/c/:token", "/view/:token"]);
/** Pages for builders, who read English, and a picture. */
const FOR_OTHERS = new Set(["/paid", "/unpaid", "/favicon.ico"]);

// No words of any language.
const BRAND = "Qorvex";
const NAMES = [BRAND, "Zulimba", "Brondelk", "Xanthor", "fjordik.pdf", "mailsvc.test", "req_"];

/** A page or mail as its reader sees it. */
interface Shown {
  readonly what: string;
  readonly status: number;
  readonly html: string;
  readonly language: string | null;
}

let world: TestWorld;
let mailer: ScriptedMailer;
let agent: TestAgent;

beforeAll(async () => {
  mailer = scriptedMailer();
  world = await createWorld({ mailer });
  agent = await createTestAgent(world);
});
afterAll(() => world.dispose());

/** Everything that was shown in one language. */
class Crawl {
  readonly shown: Shown[] = [];
  readonly #world: TestWorld;
  readonly #mailer: ScriptedMailer;
  readonly #headers: Record<string, string>;

  constructor(language: string, at: { readonly world: TestWorld; readonly mailer: ScriptedMailer }) {
    this.#world = at.world;
    this.#mailer = at.mailer;
    this.#headers = { accept: "text/html", "accept-language": language };
  }

  /** Opens a page as a visitor from a network of their own, follows redirects, and remembers what is shown. */
  async open(url: string, form?: Record<string, string> | [string, string][] | string, network?: string): Promise<string> {
    networks += 1;
    const from = network ?? `198.51.${Math.floor(networks / 250)}.${(networks % 250) + 1}`;
    const body = typeof form === "string" ? form : new URLSearchParams(form).toString();
    const post = { method: "POST", body };
    const response = await this.#world.fetch(new URL(url, world.url).href, {
      redirect: "manual",
      ...(form !== undefined && post),
      headers: {
        ...this.#headers,
        "x-forwarded-for": from,
        ...(form !== undefined && { "content-type": "application/x-www-form-urlencoded" }),
      },
    });
    const location = response.headers.get("location");
    if (location !== null) return location.startsWith("http") && !location.startsWith(world.url) ? "" : this.open(location);
    if (!(response.headers.get("content-type") ?? "").startsWith("text/html")) return "";
    const html = await response.text();
    const what = `${form === undefined ? "GET" : "POST"} ${new URL(url, world.url).pathname}`;
    this.shown.push({ what, status: response.status, html, language: response.headers.get("content-language") });
    return html;
  }

  /** Remembers mail that was sent, and returns the last one. */
  async mail(): Promise<{ html: string; text: string; subject: string }> {
    await this.#world.settle();
    const mails = this.#mailer.sent.splice(0);
    for (const { subject, html, text, headers } of mails) {
      const language = headers["Content-Language"] ?? null;
      this.shown.push({ what: `mail ${subject}`, status: 200, html: html ?? "", language });
      this.shown.push({ what: `text of mail ${subject}`, status: 200, html: `<p>${subject}\n${text ?? ""}</p>`, language });
    }
    const last = mails.at(-1);
    return { html: last?.html ?? "", text: last?.text ?? "", subject: last?.subject ?? "" };
  }
}

/** The words of a page: titles, labels and texts, without the names of languages in its menu. */
function read(html: string): string {
  const shown = html
    .replace(/<style>[\s\S]*?<\/style>/g, " ")
    .replace(/<details class="languages">[\s\S]*?<\/ul>/g, (menu) => menu.replace(/<ul>[\s\S]*/, " "))
    .replace(/<[^>]*?\s(?:aria-label|alt|placeholder)="([^"]*)"[^>]*>/g, " $1 ")
    .replace(/<[^>]*>/g, " ")
    .replace(/&#39;|&#x27;/g, "'")
    .replace(/&quot;/g, '"')
    .replace(/&lt;/g, "<")
    .replace(/&gt;/g, ">")
    .replace(/&amp;/g, "&")
    .replace(/https?:\/\/\S+|\S+@\S+/g, " ");
  return NAMES.reduce((text, name) => text.replaceAll(name, " "), shown).replace(/\s+/g, " ");
}

/** The first link to this path. */
function link(text: string, path: string): string {
  const [found] = new RegExp(`https?://[^"\\s]*/${path}/[^"\\s<]+`).exec(text) ?? [];
  if (found === undefined) throw new Error(`There is no link to /${path}/ in: ${text}`);
  return found.replaceAll("&amp;", "&");
}

let tour = 0;
let networks = 0;

/** Meets all pages and mails of a brand with this language, as recipients whose browsers have it too. */
async function crawl(language: string): Promise<Shown[]> {
  tour += 1;
  const { sdk } = world;
  const met = new Crawl(language, { world, mailer });
  const address = (name: string): string => `${name}${tour}@example.com`;
  await sdk.brand.update({ name: BRAND, locale: language });
  met.shown.push(...(await meetUnnamed(language)));

  const list = await sdk.lists.create({ name: "Zulimba" });
  const fields = ["firstName", "lastName", "phone"] as const;
  const form = await sdk.forms.create({ name: "Xanthor", listId: list.id, fields: [...fields], consentCheckbox: true });
  await met.open(form.url);
  // Each way in which a form can be wrong.
  await met.open(form.url, { email: "x" });
  await met.open(form.url, { email: address("ada"), firstName: "x".repeat(500), lastName: "a\nb" });
  await met.open(form.url, [
    ["email", "a@example.com"],
    ["email", "b@example.com"],
  ]);
  await met.open(form.url, `email=${"x".repeat(20_000)}`);
  for (let i = 0; i < 12; i += 1) await met.open(form.url, { email: "x" }, `192.0.2.${tour}`);
  await met.open(form.url, { email: address("ada"), firstName: "Xanthor", consent: "yes" });
  await met.open(`${form.url}/unsubscribe`);
  await met.open(`${form.url}/unsubscribe`, { email: "x" });
  await met.open(`${form.url}/unsubscribe`, { email: address("nobody") });

  const confirmation = await met.mail();
  const confirm = link(confirmation.text, "lists/confirm");
  await met.open(confirm);
  await met.open(confirm, {});
  await met.open(confirm);
  const preferences = link(confirmation.text, "unsubscribe");
  const page = await met.open(preferences);
  const shown = /name="shown" value="([^"]+)"/.exec(page)?.[1] ?? "";
  await met.open(preferences, [
    ["action", "save"],
    ["shown", shown],
    ["list", shown],
  ]);
  await met.open(preferences, [
    ["action", "save"],
    ["shown", shown],
  ]);
  await met.open(preferences);
  await met.open(preferences, { action: "all" });
  await met.open(preferences);
  await met.open(preferences, { action: "again" });

  const { body: file } = await agent.call("POST", "/lead-magnets", {
    title: "Brondelk",
    fileName: "fjordik.pdf",
    contentBase64: pdf().toString("base64"),
  });
  const { body: landing } = await agent.call("POST", "/landing-pages", {
    ...{ title: "Brondelk", html: "<p>Xanthor</p><form></form>", status: "PUBLISHED", leadMagnetId: file.id },
  });
  await met.open(landing.url);
  await met.open(landing.url, { email: address("eve") });

  const bob = await sdk.contacts.create({ email: address("bob") });
  await sdk.lists.add(list.id, { contacts: [bob.id] });
  await world.campaign({
    ...{ name: "Xanthor", subjectLine: "Xanthor", fromEmail: "news@acme.example", recipientType: "list", listId: list.id },
    ...{ html: '<html><body><p>Brondelk</p><a href="{{viewInBrowserUrl}}">Brondelk</a></body></html>', text: "Brondelk" },
  });
  const campaign = await met.mail();
  await met.open(link(campaign.html, "view"));
  await met.open(link(campaign.html, "unsubscribe"));
  await sdk.contacts.delete(bob.id);
  await met.open(link(campaign.html, "view"));

  await follow(met);
  await openBroken(met);
  for (const code of ERROR_CODES) {
    const { body, status, headers } = errorPage(new ApiError(code, "Xanthor"), "req_1", [], { menu: null, browser: language });
    const found = headers.find(([name]) => name === "content-language")?.[1] ?? null;
    met.shown.push({ what: `error ${code}`, status, html: String(body), language: found });
  }
  return met.shown;
}

/** Meets a brand without a name, and asks the owner of an address for the right to send from it. */
async function meetUnnamed(language: string): Promise<Shown[]> {
  const others = scriptedMailer();
  await using other = await createWorld({ dev: false, mailer: others });
  const { sdk } = other;
  const met = new Crawl(language, { world: other, mailer: others });
  const { texts } = await world.sdk.brand.get();
  await sdk.brand.update({ locale: language, texts: texts as never });
  const list = await sdk.lists.create({ name: "Zulimba" });
  const unnamed = await sdk.forms.create({ name: "Xanthor", listId: list.id });
  await met.open(unnamed.url);
  await met.open(`${unnamed.url}/unsubscribe`);
  await sdk.senders.create({ email: "owner@shop.example.com" });
  const confirm = link((await met.mail()).text, "senders/confirm");
  await met.open(confirm);
  await met.open(confirm, {});
  return met.shown;
}

/** Opens the links and sends the plain forms of the pages that were shown, as far as nobody has been there. */
async function follow(met: Crawl): Promise<void> {
  const seen = new Set(met.shown.map(({ what }) => what.replace(/^\w+ /, "")));
  for (const { html } of [...met.shown])
    for (const [, href = ""] of html.matchAll(/<a [^>]*?href="([^"]+)"/g)) {
      if (href === "") continue;
      const url = new URL(href.replaceAll("&amp;", "&").replaceAll("&#x3D;", "="), world.url);
      if (url.origin !== new URL(world.url).origin || url.searchParams.has("lang") || seen.has(url.pathname)) continue;
      seen.add(url.pathname);
      await met.open(url.href);
    }
}

/** All paths that recipients can come to, of the server and of the contract. */
function listPaths(): { path: string; method: "GET" | "POST" }[] {
  const pages = publicPages(world.app.deps, {} as never)
    .filter(({ errors }) => errors === undefined)
    .flatMap(({ path, methods }) => methods.map((method) => ({ path: path as string, method })));
  const endpoints = Object.values(contract)
    .flatMap((noun) => Object.values(noun as Record<string, { method: "GET" | "POST"; path: string; access: unknown; produces?: string }>))
    .filter(({ access, produces }) => access === "public" && produces === "text/html");
  return [...pages, ...endpoints.map(({ path, method }) => ({ path, method }))].filter(({ path }) => !FOR_OTHERS.has(path));
}

/** Opens each path with a link that is broken. */
async function openBroken(met: Crawl): Promise<void> {
  for (const { path, method } of listPaths())
    if (path.includes(":")) await met.open(path.replace(/:\w+/g, "broken"), method === "POST" ? { email: "x" } : undefined);
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}']+/gu) ?? [];
const textsOf = (language: keyof typeof BUILT_IN): string =>
  Object.values(BUILT_IN[language])
    .map((text) => (typeof text === "string" ? text : Object.values(text).join(" ")))
    .join(" ");

const COMMON =
  "the of and to is in it that for on are with as you your this be at have from or by not but what all were we when can there an please click here error page email mail address name send sent list view";

/** English words that another language does not have. */
function listEnglish(language: keyof typeof BUILT_IN): Set<string> {
  const own = new Set(wordsOf(textsOf(language)));
  const english = [...wordsOf(textsOf("en").replace(/\{\w+\}/g, " ")), ...COMMON.split(" ")];
  return new Set(english.filter((word) => word.length > 1 && !own.has(word)));
}

const isOf = (what: string, path: string): boolean => new RegExp(`^\\w+ ${path.replace(/:\w+/g, "[^/]+")}$`).test(what);

describe.each(RECIPIENT_LANGUAGES.filter((one) => one !== "en"))("everything that recipients meet in %s", (language) => {
  test("is in this language, and says so", async () => {
    const shown = await crawl(language);
    const english = listEnglish(language);
    const found = shown.flatMap(({ what, html }) => {
      const words = wordsOf(read(html)).filter((word) => english.has(word));
      return words.length === 0 ? [] : [`${what}: ${words.join(" ")}`];
    });
    expect(found).toEqual([]);
    const wrong = shown.filter(
      ({ html, what }) =>
        /<html/.test(html) &&
        !/GET \/view|Xanthor/.test(what) &&
        !html.includes(`<html lang="${language}" dir="${getDirection(language)}"`),
    );
    expect(wrong.map(({ what }) => what)).toEqual([]);
  });
});

test("the tour comes to all paths, and all texts are seen on it", async () => {
  const shown = await crawl("de");
  const missed = listPaths().filter(
    ({ path, method }) =>
      !shown.some(
        ({ what, status }) => what.startsWith(method) && isOf(what, path) && ([200, 400].includes(status) || WITHOUT_TEXTS.has(path)),
      ),
  );
  expect(missed).toEqual([]);
  const all = read(shown.map(({ html }) => html).join(" "));
  const isSeen = (key: TextKey): boolean => {
    const text = BUILT_IN.de[key];
    const forms = typeof text === "string" ? [text] : Object.values(text);
    return forms.some((form) => form.split(/\{\w+\}/).every((part) => all.includes(read(part).trim())));
  };
  expect(TEXT_KEYS.filter((key) => !isSeen(key))).toEqual([]);
});

test("a brand's own texts, in a language that the server does not speak, replace all of its pages and mails", async () => {
  const names = (text: string): string => [...text.matchAll(/\{(\w+)\}/g)].map(([whole]) => whole).join(" ");
  const toOwn = (key: TextKey): string => {
    const text = RECIPIENT_TEXTS[key];
    return `⟦${key} ${names(typeof text === "string" ? text : text.other)}⟧`;
  };
  const texts = Object.fromEntries(TEXT_KEYS.map((key) => [key, toOwn(key)]));
  await world.sdk.brand.update({ texts: { eo: texts } as never });
  const shown = (await crawl("eo")).filter(
    ({ html, status, what }) => status < 400 || html.includes("⟦wrong") || what.includes("unsubscribe"),
  );
  const foreign = shown.flatMap(({ what, html, status }) => {
    const left = read(html)
      .replace(/⟦[^⟧]*⟧/g, " ")
      .replace(/[\s\p{P}\p{S}\d]+/gu, " ")
      .trim();
    return left === "" || status === 404 ? [] : [`${what}: ${left}`];
  });
  expect(foreign).toEqual([]);
  expect(shown.length).toBeGreaterThan(30);
  await world.sdk.brand.update({ texts: { eo: null }, locale: null });
});
