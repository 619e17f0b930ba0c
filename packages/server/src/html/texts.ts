import {
  findLanguageTag,
  type PluralForms,
  RECIPIENT_LANGUAGES,
  RECIPIENT_TEXTS,
  type RecipientLanguage,
  type TextKey,
} from "@mailsvc/sdk/contract";
import { escapeHtml } from "./escape.ts";
import { ar } from "./texts/ar.ts";
import { de } from "./texts/de.ts";
import { es } from "./texts/es.ts";
import { fr } from "./texts/fr.ts";
import { it } from "./texts/it.ts";
import { ja } from "./texts/ja.ts";
import { nl } from "./texts/nl.ts";
import { pl } from "./texts/pl.ts";
import { pt } from "./texts/pt.ts";
import type { PluralKey, RecipientTexts } from "./texts/recipient-texts.ts";
import { tr } from "./texts/tr.ts";
import { zh } from "./texts/zh.ts";

/** A brand's own texts, by language; those that are absent are the server's. */
export type OwnTexts = Readonly<Record<string, { readonly [K in TextKey]?: string | PluralForms | undefined }>>;

type Source<K extends TextKey> = K extends PluralKey ? (typeof RECIPIENT_TEXTS)[K]["other"] : (typeof RECIPIENT_TEXTS)[K];
type Names<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never;
type Given<K extends TextKey> = { readonly [Name in Exclude<Names<Source<K>>, "count">]: string } & (K extends PluralKey
  ? { readonly count: number }
  : unknown);
/** The values that a text needs. */
type Values<K extends TextKey> = keyof Given<K> extends never ? [] : [values: Given<K>];

const RIGHT_TO_LEFT = new Set(["Adlm", "Arab", "Hebr", "Nkoo", "Rohg", "Syrc", "Thaa"]);

/** The origin of a language: the reader of a page by its menu or the settings of the browser, or the settings of this server. */
type Chooser = "menu" | "browser" | "settings";

/** The one reader of texts for recipients, in one language. */
export class Texts {
  readonly language: string;
  readonly direction: "ltr" | "rtl";
  readonly chooser: Chooser;
  readonly #own: OwnTexts;

  constructor(language: string, own: OwnTexts = {}, chooser: Chooser = "settings") {
    this.language = language;
    this.direction = getDirection(language);
    this.chooser = chooser;
    this.#own = own;
  }

  /** A text with its values, as plain text. */
  say<K extends TextKey>(key: K, ...[values]: Values<K>): string {
    // Values of another script leave the sentence in order.
    const [open, close] = this.direction === "rtl" ? ["\u2068", "\u2069"] : ["", ""];
    return this.#fill(
      key,
      (text) => text,
      values,
      (value) => `${open}${value}${close}`,
    );
  }

  /** A text as HTML, with values that are HTML. */
  html<K extends TextKey>(key: K, ...[values]: Values<K>): string {
    return this.#fill(key, escapeHtml, values, (value) => value);
  }

  /** The attributes of an element in this language. */
  get attributes(): string {
    return ` lang="${escapeHtml(this.language)}" dir="${this.direction}"`;
  }

  /** The languages that a reader can choose, with their own names. */
  listLanguages(): { readonly tag: string; readonly name: string }[] {
    return [...new Set<string>([...RECIPIENT_LANGUAGES, ...Object.keys(this.#own)])].map((tag) => ({ tag, name: nameLanguage(tag) }));
  }

  #fill(key: TextKey, toText: (text: string) => string, values: object | undefined, toValue: (value: string) => string): string {
    const { language, text } = this.#find(key);
    const given = (values ?? {}) as Readonly<Record<string, string | number>>;
    const chosen = typeof text === "string" ? text : pickForm(language, text, Number(given.count));
    return toText(chosen).replace(/\{(\w+)\}/g, (whole, name: string) => {
      const value = given[name];
      if (value === undefined) return whole;
      return typeof value === "number" ? new Intl.NumberFormat(language).format(value) : toValue(value);
    });
  }

  /** A text and the language that it is in: the brand's own, else the server's, else the English one. */
  #find(key: TextKey): { language: string; text: string | PluralForms } {
    const tags = listPrefixes(this.language);
    for (const texts of [this.#own, BUILT_IN as OwnTexts])
      for (const language of tags) {
        const text = Object.hasOwn(texts, language) ? texts[language]?.[key] : undefined;
        if (text !== undefined) return { language, text };
      }
    return { language: "en", text: this.#own.en?.[key] ?? BUILT_IN.en[key] };
  }
}

export const ENGLISH = new Texts("en");

/** Wishes of a request about its reader's language: the menu of a page, and the browser's settings. */
export interface ReaderWishes {
  readonly menu: string | null;
  readonly browser: string | null;
}

/** The wishes of a request. */
export function readWishes(query: URLSearchParams, header: (name: string) => string | null): ReaderWishes {
  return { menu: query.get("lang"), browser: header("accept-language") };
}

/**
 * The texts for a reader: in the language of the page's menu, else in the first of `settings` that has texts (the contact's, the list's,
 * the brand's), else in one of the browser's, else in English.
 */
export function chooseTexts(own: OwnTexts, settings: readonly (string | null | undefined)[], reader?: ReaderWishes): Texts {
  const wishes: [string | null | undefined, Chooser][] = [
    [reader?.menu, "menu"],
    ...settings.map((tag): [string | null | undefined, Chooser] => [tag, "settings"]),
    ...parseAcceptLanguage(reader?.browser ?? "").map((tag): [string, Chooser] => [tag, "browser"]),
  ];
  for (const [wish, chooser] of wishes) {
    const language = wish ? findSpoken(wish, own) : null;
    if (language !== null) return new Texts(language, own, chooser);
  }
  return new Texts("en", own);
}

/** The direction in which a language is written. */
export function getDirection(language: string): "ltr" | "rtl" {
  return RIGHT_TO_LEFT.has(new Intl.Locale(language).maximize().script ?? "") ? "rtl" : "ltr";
}

// Longer ones come from no browser.
const MAX_HEADER = 1000;

/** The languages of an Accept-Language header, the most wanted first (RFC 9110, 12.5.4). */
function parseAcceptLanguage(header: string): string[] {
  return header
    .slice(0, MAX_HEADER)
    .split(",")
    .flatMap((part) => {
      const [, tag = "", quality = "1"] = /^\s*([\w-]+)\s*(?:;\s*q=([\d.]+))?\s*$/.exec(part) ?? [];
      return tag === "" || !(Number(quality) > 0) ? [] : [{ tag, quality: Number(quality) }];
    })
    .sort((a, b) => b.quality - a.quality)
    .map(({ tag }) => tag);
}

/** A language as it is asked for, if there are texts in it and in its script; else null. */
function findSpoken(wish: string, own: OwnTexts): string | null {
  const tag = findLanguageTag(wish);
  if (tag === null) return null;
  const { baseName } = new Intl.Locale(tag);
  const script = new Intl.Locale(baseName).maximize().script;
  const spoken = listPrefixes(baseName).some(
    (prefix) =>
      Object.hasOwn(own, prefix) || (isBuiltIn(prefix) && (prefix === baseName || new Intl.Locale(prefix).maximize().script === script)),
  );
  return spoken ? baseName : null;
}

function isBuiltIn(tag: string): tag is RecipientLanguage {
  return Object.hasOwn(BUILT_IN, tag);
}

/** `zh-Hant-TW`, `zh-Hant` and `zh` of `zh-Hant-TW`. */
function listPrefixes(tag: string): string[] {
  const parts = tag.split("-");
  return parts.map((_part, i) => parts.slice(0, parts.length - i).join("-"));
}

function pickForm(language: string, forms: PluralForms, count: number): string {
  return forms[new Intl.PluralRules(language).select(count)] ?? forms.other;
}

function nameLanguage(tag: string): string {
  const name = new Intl.DisplayNames([tag], { type: "language", fallback: "code" }).of(tag) ?? tag;
  return name.charAt(0).toLocaleUpperCase(tag) + name.slice(1);
}

/** The texts of this server, by language. */
export const BUILT_IN: Readonly<Record<RecipientLanguage, RecipientTexts>> = {
  ...{ en: RECIPIENT_TEXTS, de, fr, es, it, pt, nl, pl, tr, ar, ja, zh },
};
