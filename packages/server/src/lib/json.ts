import { isDeepStrictEqual } from "node:util";

/** True if two values have the same JSON. The order of keys does not matter, and values that JSON leaves out are ignored. */
export function isSameJson(a: unknown, b: unknown): boolean {
  return isDeepStrictEqual(toJson(a), toJson(b));
}

function toJson(value: unknown): unknown {
  const text = JSON.stringify(value);
  return text === undefined ? undefined : JSON.parse(text);
}

/** The JSON of a value, with the fields of each object in the order of their names: the same for all spellings of the same data. */
export function toCanonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
