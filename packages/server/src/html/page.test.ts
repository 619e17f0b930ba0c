import { describe, expect, test } from "vitest";
import { renderMail } from "./mail.ts";
import { type PageBrand, renderMessage, renderName, renderPage } from "./page.ts";
import { ENGLISH } from "./texts.ts";

const BRAND: PageBrand = {
  name: "مكتبة النيل <&",
  website: "https://nile.example",
  logo: null,
  colors: { primary: "#8a1c2b" },
  fonts: {},
  locale: "ar",
  texts: {},
};

describe("a page", () => {
  test("is in the language of its texts, whatever the language of its brand, and names the brand in its title", () => {
    const { html } = renderMessage("You're unsubscribed", `<p>${renderName("ada@example.com")}</p>`, { brand: BRAND });
    expect(html).toMatch(/^<!doctype html>\n<html lang="en" dir="ltr"><head><meta charset="utf-8"><meta name="viewport"/);
    expect(html).toContain("<title>You&#x27;re unsubscribed · مكتبة النيل &lt;&amp;</title>");
    for (const tag of ["h1", "main", "title"]) expect(html.split(`<${tag}>`), tag).toHaveLength(2);
    expect(renderMessage("Page not found", "").html).toContain("<title>Page not found</title>");
  });

  test.each([
    ["ar", "rtl"],
    ["he-IL", "rtl"],
    ["fa", "rtl"],
    ["ur", "rtl"],
    ["az-Arab", "rtl"],
    ["az", "ltr"],
    ["de-CH", "ltr"],
    ["ja", "ltr"],
  ])("in %s is read from %s", (locale, direction) => {
    const { html } = renderPage({ brand: { ...BRAND, locale }, texts: ENGLISH, title: "x", main: "<h1>x</h1>", locale });
    expect(html).toContain(`<html lang="${locale}" dir="${direction}">`);
  });

  test("keeps a name that is written from right to left apart from the sentence around it", () => {
    expect(renderName("كتب <b>")).toBe('<b dir="auto">كتب &lt;b&gt;</b>');
    expect(renderMessage("x", "", { brand: BRAND }).html).toMatch(/<footer.*<bdi>مكتبة النيل &lt;&amp;<\/bdi>/);
  });
});

describe("a mail", () => {
  const content = {
    texts: ENGLISH,
    baseUrl: "https://mail.example",
    title: "Confirm your subscription",
    text: "Please confirm:",
    name: "كتب & more",
    button: { label: "Confirm", url: "https://mail.example/x?a=1&b=2" },
    notes: ["Ignore it."],
  };

  test("of a brand shows its logo or name, what it is about on its own line, and how to unsubscribe", () => {
    const { html, text } = renderMail({ ...content, brand: BRAND, unsubscribeUrl: "https://mail.example/u" });
    expect(html).toMatch(/^<!doctype html>\n<html lang="en" dir="ltr"><head><meta charset="utf-8"><meta name="viewport"/);
    expect(html).toContain("<bdi>كتب &amp; more</bdi></p>");
    expect(html).toContain('<b dir="auto">مكتبة النيل &lt;&amp;</b>');
    expect(html).toContain('href="https://mail.example/x?a&#x3D;1&amp;b&#x3D;2"');
    expect(text).toBe(
      "Please confirm:\n\nكتب & more\n\nConfirm:\nhttps://mail.example/x?a=1&b=2\n\nIgnore it.\n\n-- \nمكتبة النيل <&\nUnsubscribe: https://mail.example/u\n",
    );
    const { html: withLogo } = renderMail({ ...content, brand: { ...BRAND, logo: "/a/ast_1" }, unsubscribeUrl: "https://mail.example/u" });
    expect(withLogo).toContain('<img src="https://mail.example/a/ast_1" alt="مكتبة النيل &lt;&amp;"');
  });

  test("of the service has no brand, and no subscription to end", () => {
    const { html, text } = renderMail({ ...content, brand: null });
    expect(`${html}${text}`).not.toMatch(/unsubscribe|<bdi><\/bdi>|-- $/i);
    expect(text.endsWith("Ignore it.\n")).toBe(true);
  });
});
