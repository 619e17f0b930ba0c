import { refuseCharacters } from "../characters.ts";
import * as z from "../zod.ts";

// Control characters, line breaks, and marks that change the direction of writing, which can make a name look like another.
const NOT_IN_LINE = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u;
const NOT_IN_PROSE = /[^\P{Cc}\t\n\r]/u;
const VISIBLE = /[^\p{Z}\p{Cc}\p{Default_Ignorable_Code_Point}]/u;

/**
 * A text on one line, such as a name or title. It is trimmed and must contain something visible, but no control characters,
 * lone surrogates or marks that change the direction of the text next to it.
 */
export function line(max: number) {
  return z
    .string()
    .trim()
    .min(1)
    .max(max)
    .refine(
      (text) => !NOT_IN_LINE.test(text) && text.isWellFormed(),
      refuseCharacters("This text cannot contain line breaks, control characters or marks that change its direction."),
    )
    .refine((text) => text === "" || NOT_IN_LINE.test(text) || VISIBLE.test(text), {
      message: "This text has no visible characters.",
      params: { code: "invalid_characters" },
    });
}

// Characters without a width: but for joiners and variation selectors, which emoji and some scripts need.
const UNSEEN = /\p{Default_Ignorable_Code_Point}/u;
const JOINERS = /\u200c|\u200d|\ufe0e|\ufe0f/gu;

/** A text on one line without characters that cannot be seen, such as the words on a button. */
export function plainLine(max: number) {
  return line(max).refine(
    (text) => NOT_IN_LINE.test(text) || !UNSEEN.test(text.replace(JOINERS, "")) || !VISIBLE.test(text),
    refuseCharacters("This text cannot contain characters that cannot be seen."),
  );
}

/** A text as it is compared by people: without case, width, repeated spaces and what cannot be seen. */
export function foldLine(text: string): string {
  return text
    .normalize("NFKC")
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    .replace(/\s+/g, " ")
    .trim()
    .toLowerCase();
}

/** A text of several lines: without control characters other than line breaks and tabs, and without lone surrogates. */
export function prose(max: number) {
  return z
    .string()
    .max(max)
    .refine(
      (text) => !NOT_IN_PROSE.test(text) && text.isWellFormed(),
      refuseCharacters("This text cannot contain control characters other than line breaks and tabs."),
    );
}

/** A text of several lines that must contain something visible. */
export function words(max: number) {
  return prose(max)
    .min(1)
    .refine((text) => text === "" || NOT_IN_PROSE.test(text) || VISIBLE.test(text), {
      message: "This text has no visible characters.",
      params: { code: "invalid_characters" },
    });
}

/** Id in a body. The code that looks it up checks that it exists. */
export const reference = z
  .string()
  .max(40)
  .refine((text) => !/\p{Cc}/u.test(text), { message: "An id cannot contain control characters.", params: { code: "invalid_characters" } });

/** True if a text is a URL without spaces and control characters, which URL parsers would drop or change. */
export function isPlainUrl(text: string): boolean {
  return URL.canParse(text) && !/[\s\p{Cc}]/u.test(text) && text.isWellFormed();
}

/** An identifier for URLs and commands. */
export const Slug = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/, "Use 1 to 64 lowercase letters, digits and hyphens, without a hyphen at either end.")
  .meta({ examples: ["launch-writer"] });
