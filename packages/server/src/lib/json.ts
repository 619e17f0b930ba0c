import { isDeepStrictEqual } from "node:util";

/** Whether two values are the same JSON: the order of keys does not matter, and what JSON leaves out is left out. */
export function isSameJson(a: unknown, b: unknown): boolean {
  return isDeepStrictEqual(toJson(a), toJson(b));
}

function toJson(value: unknown): unknown {
  const text = JSON.stringify(value);
  return text === undefined ? undefined : JSON.parse(text);
}
