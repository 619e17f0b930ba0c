import { z } from "zod";

/** A name that people give to something of theirs: 1 to 100 characters on one line. */
export function nameSchema(description: string) {
  return z
    .string()
    .trim()
    .min(1)
    .max(100)
    .refine((s) => !/\p{Cc}/u.test(s) && s.isWellFormed(), {
      message: "A name must not contain line breaks or control characters.",
      params: { code: "invalid_characters" },
    })
    .meta({ description });
}
