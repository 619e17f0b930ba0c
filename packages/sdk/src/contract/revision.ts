import * as z from "./zod.ts";

/** The revision that a change may name: of an object that somebody has changed since it was read, the change is refused. */
export function revisionOf(what: string) {
  return z
    .int()
    .min(1)
    .optional()
    .meta({ description: `Refuse the change unless this is the ${what}'s current revision` });
}
