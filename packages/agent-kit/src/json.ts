import { UsageError } from "./errors.ts";

/**
 * The type itself if JSON carries it unchanged; `never` in place of each part that it does not, such as a Date, a Map or a function. An
 * `unknown` is left to the check at run time.
 */
export type Json<T> = unknown extends T
  ? T
  : // biome-ignore lint/suspicious/noConfusingVoidType: the result of work that returns nothing
    T extends string | number | boolean | null | undefined | void
    ? T
    : T extends NotJson
      ? never
      : T extends object
        ? { [K in keyof T]: Json<T[K]> }
        : never;

type NotJson =
  | bigint
  | symbol
  | Date
  | RegExp
  | Error
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | Promise<unknown>
  | ArrayBufferView
  | ArrayBuffer
  | { toJSON(): unknown }
  | ((...args: never[]) => unknown);

/**
 * Checks that a value comes back from JSON as it went in. Throws UsageError that names the place: `what` and the path in it. Fields that are
 * undefined may be left out.
 */
export function assertJson(value: unknown, what: string): void {
  if (value !== undefined) visit(value, what, []);
}

function visit(value: unknown, path: string, above: readonly object[]): void {
  if (value === null || typeof value === "string" || typeof value === "boolean") return;
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw refusal(path, String(value));
    return;
  }
  if (typeof value !== "object") throw refusal(path, value === undefined ? "undefined" : `a ${typeof value}`);
  if (above.includes(value)) throw new UsageError(`${path} contains itself, which JSON cannot carry.`);
  const inside = [...above, value];
  if (Array.isArray(value)) {
    // Entries have the holes of an array too.
    for (const [i, item] of value.entries()) visit(item, `${path}[${i}]`, inside);
    return;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null;
  if (!isPlain) throw refusal(path, `a ${(value as { constructor?: { name?: string } }).constructor?.name || "class instance"}`);
  for (const [name, item] of Object.entries(value)) if (item !== undefined) visit(item, `${path}.${name}`, inside);
}

function refusal(path: string, what: string): UsageError {
  return new UsageError(`${path} is ${what}, which JSON cannot carry: turn it into texts, numbers, lists and plain objects first.`);
}
