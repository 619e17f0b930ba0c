import * as z from "../zod.ts";

// Levels of nested objects and arrays in JSON that agents store.
const DEPTH = 5;

// Keys with a special meaning in JavaScript, here or in a client.
const FORBIDDEN_KEY = /^(?:__proto__|constructor|prototype)$/;
const encoder = new TextEncoder();

/** Any JSON value of up to `max` bytes and five levels. */
export function jsonValue(max: number) {
  return z.unknown().superRefine(refineJson(max));
}

/** A JSON object of up to `max` bytes and five levels. */
export function jsonObject(max: number) {
  return (
    z
      // Not z.record, which drops a key called __proto__ instead of refusing it.
      .custom<Record<string, unknown>>((v) => typeof v === "object" && v !== null && !Array.isArray(v), {
        message: "This must be an object: { … }.",
        params: { code: "invalid_type" },
      })
      .superRefine(refineJson(max))
      .meta({ type: "object", additionalProperties: true })
  );
}

function findFault(value: unknown, depth: number): [code: string, message: string] | null {
  if (typeof value === "string")
    return value.isWellFormed() && !value.includes("\0") ? null : ["invalid_characters", "Text cannot contain U+0000 or lone surrogates."];
  if (typeof value === "number" && !Number.isFinite(value)) return ["too_big", "A number has at most 308 digits."];
  if (typeof value !== "object" || value === null) return null;
  if (depth > DEPTH) return ["too_deep", `At most ${DEPTH} levels of objects and lists.`];
  for (const [key, inner] of Object.entries(value)) {
    if (FORBIDDEN_KEY.test(key)) return ["invalid_key", `No field can be called ${key}.`];
    const fault = findFault(key, depth) ?? findFault(inner, depth + 1);
    if (fault) return fault;
  }
  return null;
}

function refineJson(max: number) {
  return (value: unknown, ctx: z.RefinementCtx<unknown>) => {
    const [code, message] = findFault(value, 1) ?? [];
    if (code !== undefined) return ctx.addIssue({ code: "custom", message, params: { code } });
    const text = JSON.stringify(value) ?? "null";
    if (text.length > max || encoder.encode(text).length > max)
      ctx.addIssue({ code: "custom", message: `At most ${max / 1024} KiB as JSON.`, params: { code: "too_big" } });
  };
}
