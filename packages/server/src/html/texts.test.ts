import { listPlaceholders, RECIPIENT_LANGUAGES, RECIPIENT_TEXTS, TEXT_KEYS } from "@mailsvc/sdk/contract";
import { describe, expect, test } from "vitest";
import { BUILT_IN, chooseTexts, ENGLISH, Texts } from "./texts.ts";

// Words that another language has too.
const SAME: Readonly<Record<string, readonly string[]>> = {};

describe.each(RECIPIENT_LANGUAGES)("the texts in %s", (language) => {
  const texts = BUILT_IN[language];

  test("have the values of the English ones, and no other", () => {
    for (const key of TEXT_KEYS)
      expect(
        listPlaceholders(texts[key])
          .filter((name) => name !== "count")
          .sort(),
        key,
      ).toEqual(
        listPlaceholders(RECIPIENT_TEXTS[key])
          .filter((name) => name !== "count")
          .sort(),
      );
  });

  test("have each plural form of the language", () => {
    const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions();
    for (const key of TEXT_KEYS) {
      const forms = texts[key];
      if (typeof forms !== "string") expect(Object.keys(forms).sort(), key).toEqual([...pluralCategories].sort());
    }
  });

  test.skipIf(language === "en")("are not the English ones", () => {
    const same = TEXT_KEYS.filter((key) => texts[key] === RECIPIENT_TEXTS[key]);
    expect(same).toEqual(SAME[language] ?? []);
  });
});

describe("the language of a reader", () => {
  const choose = (settings: (string | null)[], browser: string | null = null, menu: string | null = null, own = {}) => {
    const { language, direction, chooser } = chooseTexts(own, settings, { menu, browser });
    return [language, direction, chooser];
  };

  test("is that of the menu, then of the contact, the list, the brand, the browser, and English at last", () => {
    expect(choose(["de", "fr"], "es", "ar")).toEqual(["ar", "rtl", "menu"]);
    expect(choose(["de", "fr"], "es")).toEqual(["de", "ltr", "settings"]);
    expect(choose([null, "fr"], "es")).toEqual(["fr", "ltr", "settings"]);
    expect(choose([null, null], "sv, es;q=0.4, ja;q=0.9")).toEqual(["ja", "ltr", "browser"]);
    expect(choose([], "sv")).toEqual(["en", "ltr", "settings"]);
    expect(choose([])).toEqual(["en", "ltr", "settings"]);
  });

  test("is one that has texts, with its region", () => {
    expect(choose(["nb", "pt-PT"])).toEqual(["pt-PT", "ltr", "settings"]);
    expect(choose(["zh-Hant-TW", "zh-TW"], "zh-CN")).toEqual(["zh-CN", "ltr", "browser"]);
    expect(choose(["nb"], null, null, { nb: { unsubscribe: "Meld deg av" } })).toEqual(["nb", "ltr", "settings"]);
    expect(choose(["de-u-nu-arab"])).toEqual(["de", "ltr", "settings"]);
  });

  test("is never what is no language", () => {
    for (const wish of ["", "*", "x".repeat(5000), "constructor", "__proto__", "de'><script>", "a-", "\u0000", "en\r\nx"])
      expect(choose([wish], wish, wish)[0]).toBe("en");
    expect(choose([], "de;q=0, fr;q=x, *;q=1")).toEqual(["en", "ltr", "settings"]);
  });
});

describe("a text", () => {
  test("has the plural form of its number", () => {
    const days = (language: string, count: number) => new Texts(language).say("expiresInDays", { count });
    expect([1, 3, 5].map((count) => days("pl", count))).toEqual([
      "Ten link wygaśnie za 1 dzień.",
      "Ten link wygaśnie za 3 dni.",
      "Ten link wygaśnie za 5 dni.",
    ]);
    expect([1, 2, 7, 11].map((count) => days("ar", count))).toEqual([
      "تنتهي صلاحية هذا الرابط خلال يوم واحد.",
      "تنتهي صلاحية هذا الرابط خلال يومين.",
      "تنتهي صلاحية هذا الرابط خلال 7 أيام.",
      "تنتهي صلاحية هذا الرابط خلال 11 يومًا.",
    ]);
  });

  test("of the brand goes before that of the server, one by one, and English is the last", () => {
    const own = { de: { unsubscribe: "Abbestellen" }, nb: { unsubscribe: "Meld deg av" }, "de-CH": { signUp: "Registrieren" } };
    const swiss = new Texts("de-CH", own);
    expect([swiss.say("unsubscribe"), swiss.say("signUp"), swiss.say("lists")]).toEqual(["Abbestellen", "Registrieren", "Listen"]);
    const norwegian = new Texts("nb", own);
    expect([norwegian.say("unsubscribe"), norwegian.say("lists")]).toEqual(["Meld deg av", "Lists"]);
    expect(norwegian.listLanguages().map(({ tag, name }) => `${tag} ${name}`)).toContain("nb Norsk bokmål");
  });

  test("holds its values as text or as HTML, and never twice", () => {
    const values = { list: "<b>{list}</b> $& {count}" };
    expect(ENGLISH.say("confirmSubject", values)).toBe("Confirm your subscription to <b>{list}</b> $& {count}");
    const own = new Texts("en", { en: { mistake: "A <i> & B?" } });
    expect(own.html("mistake")).toBe("A &lt;i&gt; &amp; B?");
    expect(new Texts("ar").say("confirmSubject", { list: "News" })).toBe("أكّد اشتراكك في \u2068News\u2069");
  });
});
