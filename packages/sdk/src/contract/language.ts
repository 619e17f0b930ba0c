import * as z from "./zod.ts";

/** Characters of a language tag, as RFC 5646 advises for buffers. */
export const LANGUAGE_LENGTH = 35;

/** A language tag in its usual spelling: `de-CH` for `DE_ch`; null for what is none. */
export function findLanguageTag(text: string): string | null {
  const tag = text.trim().replaceAll("_", "-");
  if (tag === "" || tag.length > LANGUAGE_LENGTH) return null;
  try {
    return Intl.getCanonicalLocales(tag)[0] ?? null;
  } catch {
    return null;
  }
}

/** A language tag (BCP 47), such as `de` or `pt-BR`. */
export const LanguageTag = languageTag(false);

/** A language tag, or an empty text for none. */
export const OptionalLanguageTag = languageTag(true);

/** The language of a page that a reader chose in its menu; what is no language counts as none. */
export const PageLanguage = z.object({
  lang: z.string().max(100).optional().meta({ description: "Language of the page, such as de; that of the browser by default" }),
});

function languageTag(orNone: boolean) {
  return z
    .string()
    .max(LANGUAGE_LENGTH)
    .refine((text) => (orNone && text === "") || findLanguageTag(text) !== null, {
      message: "Use a language tag, such as de or pt-BR.",
      params: { code: "invalid_language" },
    })
    .overwrite((text) => findLanguageTag(text) ?? text);
}
