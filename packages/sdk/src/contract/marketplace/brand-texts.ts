import { findLanguageTag } from "../language.ts";
import { listPlaceholders, type PluralForms, RECIPIENT_TEXTS, TEXT_KEYS, TEXT_LIMITS, type TextKey } from "../recipient-texts.ts";
import * as z from "../zod.ts";
import { line } from "./text.ts";

// A brand's own texts for recipients: plain text, with the values that the text of the same name has.

type OwnText = string | PluralForms;
type OwnTextOf<K extends TextKey> = (typeof RECIPIENT_TEXTS)[K] extends string ? string : OwnText;

/** A brand's own texts, by language and name. */
export const BrandTexts = z.record(z.string(), z.record(z.string(), z.unknown()));

const CATEGORIES = ["zero", "one", "two", "few", "many"] as const;

function ownText(key: TextKey) {
  const english: OwnText = RECIPIENT_TEXTS[key];
  const known = listPlaceholders(english);
  const names = known.length === 0 ? "no values" : known.map((name) => `{${name}}`).join(", ");
  const text = line(TEXT_LIMITS.text)
    .refine((s) => !/[<>]/.test(s), { message: "Write plain text, without HTML.", params: { code: "html_not_allowed" } })
    .refine((s) => listPlaceholders(s).every((name) => known.includes(name) || (name === "count" && typeof english !== "string")), {
      message: `${key} has ${names}.`,
      params: { code: "unknown_placeholder" },
    });
  if (typeof english === "string") return text;
  const forms = Object.fromEntries(CATEGORIES.map((category) => [category, text.optional()]));
  return z.union([text, z.strictObject({ ...forms, other: text })]);
}

const Change = z.strictObject(Object.fromEntries(TEXT_KEYS.map((key) => [key, ownText(key).nullable().optional()]))).nullable();

/** A change of a brand's own texts: null removes one, or a language. */
export const BrandTextsChange = z
  .record(z.string(), Change)
  .refine((languages) => Object.keys(languages).every((name) => findLanguageTag(name) !== null), {
    message: "Name each language by its tag, such as de or pt-BR.",
    params: { code: "invalid_language" },
  })
  .refine((languages) => Object.keys(languages).length <= TEXT_LIMITS.languages, {
    message: `A brand can have texts in ${TEXT_LIMITS.languages} languages.`,
    params: { code: "too_big" },
  }) as unknown as z.ZodType<TextsChange, TextsChange>;

type TextsChange = Record<string, { readonly [K in TextKey]?: OwnTextOf<K> | null | undefined } | null>;
