import { refuseCharacters } from "./characters.ts";
import * as z from "./zod.ts";

/** A name that people give to something of theirs: 1 to 100 characters on one line. */
export function nameSchema(description: string) {
  return z
    .string()
    .trim()
    .min(1)
    .max(100)
    .refine((s) => !/\p{Cc}/u.test(s) && s.isWellFormed(), refuseCharacters("A name must not contain line breaks or control characters."))
    .meta({ description });
}

/** A text on one line, of 1 to `max` characters. */
export function line(max: number) {
  return z
    .string()
    .trim()
    .min(1)
    .max(max)
    .refine(
      (s) => !/[\p{Cc}\u2028\u2029]/u.test(s) && s.isWellFormed(),
      refuseCharacters("Line breaks and control characters are not allowed here."),
    );
}
