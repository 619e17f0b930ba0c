import { findOtherAt } from "../contract/taken-paths.ts";
import { UsageError } from "../errors.ts";

/**
 * Replaces the parameters of an endpoint's path in order. `label` names the call in errors. Throws UsageError, also when the result is
 * the path of another endpoint.
 */
export function buildPath(endpoint: { readonly method: string; readonly path: string }, values: readonly unknown[], label: string): string {
  let at = 0;
  const filled = endpoint.path.replace(/:([A-Za-z]+)/g, (_, name: string) => segment(values[at++], name, label));
  const other = findOtherAt(endpoint, filled);
  if (other !== null) throw new UsageError({ message: `${label}: these arguments lead to another endpoint, ${other}.` });
  return filled;
}

/** Encodes a query with its question mark; empty when there are no fields. Lists repeat their name. Throws UsageError. */
export function buildQuery(query: Readonly<Record<string, unknown>>, label: string): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue;
    for (const one of Array.isArray(value) ? value : [value]) pairs.append(name, queryText(one, name, label));
  }
  const text = pairs.toString();
  return text === "" ? "" : `?${text}`;
}

/** Encodes a body as JSON. Throws UsageError for values JSON cannot hold: cycles, BigInt, functions, NaN. */
export function toJsonBody(body: unknown, label: string): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(body, refuseUnwritable(label));
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    throw new UsageError({ message: `${label}: the body cannot be written as JSON.`, cause });
  }
  if (text === undefined) throw new UsageError({ message: `${label}: the body cannot be written as JSON.` });
  return text;
}

/** JSON makes null of an invalid date, of Infinity and of NaN, and null may delete what is stored. */
function refuseUnwritable(label: string) {
  return function (this: unknown, name: string, value: unknown): unknown {
    const given = typeof this === "object" && this !== null ? (this as Record<string, unknown>)[name] : undefined;
    if (given instanceof Date && Number.isNaN(given.getTime()))
      throw new UsageError({ message: `${label}: ${name === "" ? "the body" : name} is an invalid date.` });
    if (typeof value === "number" && !Number.isFinite(value))
      throw new UsageError({ message: `${label}: ${name === "" ? "the body" : name} is ${value}, which JSON has no number for.` });
    return value;
  };
}

function segment(value: unknown, name: string, label: string): string {
  if (typeof value !== "string" || value === "") throw new UsageError({ message: `${label}: ${name} must be a text that is not empty.` });
  // URL parsers treat these as path navigation, however they are encoded.
  if (value === "." || value === "..") throw new UsageError({ message: `${label}: ${name} must not be "${value}".` });
  if (!value.isWellFormed()) throw new UsageError({ message: `${label}: ${name} is not valid Unicode.` });
  return encodeURIComponent(value);
}

function queryText(value: unknown, name: string, label: string): string {
  if (typeof value === "string") return value;
  if (typeof value === "boolean" || typeof value === "bigint" || (typeof value === "number" && Number.isFinite(value)))
    return String(value);
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
  throw new UsageError({ message: `${label}: ${name} must be a text, a number, true or false, or a list of these.` });
}
