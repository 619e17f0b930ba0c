import { z } from "zod";

/** A text people read on one line: a name, a title. Trimmed; no control characters, no broken halves of characters. */
export const line = (max: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(max)
    .refine((text) => !/\p{Cc}/u.test(text) && text.isWellFormed(), {
      message: "This text holds no line breaks or control characters.",
      params: { code: "invalid_characters" },
    });

/** A text of several lines: line breaks and tabs are fine, other control characters and broken halves of characters are not. */
export const prose = (max: number) =>
  z
    .string()
    .max(max)
    .refine((text) => !/[^\P{Cc}\t\n\r]/u.test(text) && text.isWellFormed(), {
      message: "This text holds no control characters but line breaks and tabs.",
      params: { code: "invalid_characters" },
    });

/** A name in addresses and commands: small letters, digits and hyphens. */
export const Slug = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/, "A slug is 1 to 64 small letters, digits and hyphens, with no hyphen at its ends.")
  .meta({ examples: ["launch-writer"] });
