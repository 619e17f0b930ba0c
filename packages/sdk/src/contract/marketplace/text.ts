import { z } from "zod";

// Beside control characters and line breaks, marks that turn the direction of writing until they are ended: with them a name
// reads otherwise than it is.
const NOT_IN_LINE = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u;
const NOT_IN_PROSE = /[^\P{Cc}\t\n\r]/u;
const VISIBLE = /[^\p{Z}\p{Cc}\p{Default_Ignorable_Code_Point}]/u;

/**
 * A text people read on one line: a name, a title. Trimmed; no control characters, no broken halves of characters, nothing that
 * turns the direction of what stands beside it, and something to see.
 */
export function line(max: number) {
  return z
    .string()
    .trim()
    .min(1)
    .max(max)
    .refine((text) => !NOT_IN_LINE.test(text) && text.isWellFormed(), {
      message: "This text holds no line breaks, control characters or marks that turn its direction.",
      params: { code: "invalid_characters" },
    })
    .refine((text) => text === "" || NOT_IN_LINE.test(text) || VISIBLE.test(text), {
      message: "There is nothing to see in this text.",
      params: { code: "invalid_characters" },
    });
}

/** A text of several lines: line breaks and tabs are fine, other control characters and broken halves of characters are not. */
export function prose(max: number) {
  return z
    .string()
    .max(max)
    .refine((text) => !NOT_IN_PROSE.test(text) && text.isWellFormed(), {
      message: "This text holds no control characters but line breaks and tabs.",
      params: { code: "invalid_characters" },
    });
}

/** The same with something to see: what somebody says to somebody. */
export function words(max: number) {
  return prose(max)
    .min(1)
    .refine((text) => text === "" || NOT_IN_PROSE.test(text) || VISIBLE.test(text), {
      message: "There is nothing to see in this text.",
      params: { code: "invalid_characters" },
    });
}

/** An id in a body: of which kind, and whether it is there, tells whoever looks it up. */
export const reference = z
  .string()
  .max(40)
  .refine((text) => !/\p{Cc}/u.test(text), { message: "An id holds no control characters.", params: { code: "invalid_characters" } });

/** Whether a URL is written as it is: parsers pass over line breaks and tabs in it, and other characters do not come back. */
export function isPlainUrl(text: string): boolean {
  return URL.canParse(text) && !/[\s\p{Cc}]/u.test(text) && text.isWellFormed();
}

/** A name in addresses and commands: small letters, digits and hyphens. */
export const Slug = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/, "A slug is 1 to 64 small letters, digits and hyphens, with no hyphen at its ends.")
  .meta({ examples: ["launch-writer"] });
