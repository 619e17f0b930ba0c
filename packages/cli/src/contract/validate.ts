import type { Endpoint } from "@mailsvc/sdk/contract";
import { invalidInput, withFlag } from "../runtime/errors.ts";
import type { Fault, FlagOf } from "../types.ts";
import { type Field, nameField } from "./fields.ts";

/** The part of a zod issue that this module reads. */
interface Issue {
  readonly code?: string;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly keys?: readonly string[];
  readonly errors?: readonly (readonly Issue[])[];
  readonly params?: { readonly code?: unknown };
  readonly minimum?: number | bigint;
  readonly maximum?: number | bigint;
  readonly origin?: string;
  readonly values?: readonly unknown[];
}

/** Formats a path as the API does: `to[3]`, `headers.X-Id`. */
export function formatPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, part) => (typeof part === "number" ? `${text}[${part}]` : text === "" ? String(part) : `${text}.${String(part)}`),
    "",
  );
}

interface SafeParser {
  safeParse(value: unknown): { success: boolean; error?: { issues: readonly unknown[] } | undefined };
}

/** Fault in a part of a value. */
export interface Problem {
  readonly path: readonly PropertyKey[];
  readonly code: string;
  readonly message: string;
}

/** Lists what a schema finds wrong with a value. */
export function listProblems(schema: SafeParser, value: unknown): Problem[] {
  const { error } = schema.safeParse(value);
  return error ? (error.issues as readonly Issue[]).flatMap(flattenUnion).flatMap(toProblems) : [];
}

/** The same, with paths as the API writes them. */
export function listFaults(schema: SafeParser, value: unknown): { path: string; code: string; message: string }[] {
  return listProblems(schema, value).map((problem) => ({ ...problem, path: formatPath(problem.path) }));
}

/** Maps paths to flags and arguments: `to[2]` to `--to #3`, `headers.X-Id` to `--header X-Id`, `by` to `<by>`. */
export function mapPathsToFlags(fields: readonly Field[], where?: Field["where"]): FlagOf {
  return (path) => {
    const [, name, index, key] = /^([A-Za-z0-9_]+)(?:\[(\d+)\])?(?:\.(.*))?$/s.exec(path) ?? [];
    const field = fields.find((f) => f.name === name && (where === undefined || f.where === where));
    if (!field) return undefined;
    const place = index === undefined ? "" : ` #${Number(index) + 1}`;
    return `${nameField(field)}${place}${key ? ` ${key}` : ""}`;
  };
}

/** Describes what is wrong with the value of one field; undefined when it is valid. */
export function findFault(endpoint: Endpoint, field: Field, value: unknown): string | null {
  const schema = (
    endpoint[field.where]?.shape as Record<string, { safeParse(value: unknown): { error?: { issues: readonly Issue[] } } }> | undefined
  )?.[field.name];
  const [issue] = (schema?.safeParse(value).error?.issues ?? []).flatMap(flattenUnion);
  return (issue && toFaults(issue)[0]?.message) ?? null;
}

/** Validates query and body against the contract before anything is sent. Throws CliError, exit 3, that names the flags. */
export function checkInput(endpoint: Endpoint, query: Record<string, unknown>, body: unknown, flagOf: FlagOf): void {
  const faults: Fault[] = [];
  for (const [schema, value] of [
    [endpoint.query, query],
    [endpoint.looseBody ?? endpoint.body, body],
  ] as const) {
    const result = schema?.safeParse(value);
    if (result && !result.success)
      faults.push(
        ...(result.error.issues as readonly Issue[])
          .flatMap(flattenUnion)
          .flatMap(toFaults)
          .map((f) => withFlag(f, (path) => flagOf(dropOnlyIndex(path, value)))),
      );
  }
  if (faults.length > 0)
    throw invalidInput(faults.length === 1 ? "The input is invalid." : `The input has ${faults.length} errors.`, faults);
}

/** The path of a fault without the place in a list of one: a flag that was given once has no number. */
function dropOnlyIndex(path: string, value: unknown): string {
  const [whole, name] = /^(\w+)\[0\]/.exec(path) ?? [];
  const list = name !== undefined && (value as Record<string, unknown> | null)?.[name];
  return whole !== undefined && Array.isArray(list) && list.length === 1 ? `${name}${path.slice(whole.length)}` : path;
}

// Reports the branch of a union that the user most likely meant: the first one whose top-level type matches.
function flattenUnion(issue: Issue): Issue[] {
  // Keeps a discriminated union without a matching branch: its message names the branches.
  if (issue.code !== "invalid_union" || !issue.errors?.[0]) return [issue];
  const branch = issue.errors.find((b) => !b.some((i) => i.code === "invalid_type" && i.path.length === 0)) ?? issue.errors[0];
  return branch.flatMap(flattenUnion).map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }));
}

function toFaults(issue: Issue): { path: string; code: string; message: string }[] {
  return toProblems(issue).map((problem) => ({ ...problem, path: formatPath(problem.path) }));
}

function toProblems(issue: Issue): Problem[] {
  if (issue.code === "unrecognized_keys")
    return (issue.keys ?? []).map((key) => ({
      path: [...issue.path, key],
      code: "unknown_field",
      message: "Unknown field.",
    }));
  const code = typeof issue.params?.code === "string" ? issue.params.code : (issue.code ?? "invalid");
  return [{ path: issue.path, code, message: describeSize(issue) ?? describeKind(issue) ?? issue.message }];
}

const UNITS: Readonly<Record<string, string>> = { string: " character", array: " item" };

function formatLimit(n: number | bigint | undefined, origin: string): string {
  const unit = UNITS[origin];
  return unit === undefined ? String(n) : `${n}${unit}${Number(n) === 1 ? "" : "s"}`;
}

// zod says "Too big: expected number to be <=100". Messages written in the contract are kept.
function describeSize({ code, origin = "", minimum, maximum, message }: Issue): string | undefined {
  if (code === "too_small" && origin === "string" && Number(minimum) === 1) return "This must not be empty.";
  if (code === "too_small" && message.startsWith("Too small: expected")) return `The least is ${formatLimit(minimum, origin)}.`;
  if (code === "too_big" && message.startsWith("Too big: expected")) return `The most is ${formatLimit(maximum, origin)}.`;
  return;
}

const KINDS: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  tuple: "a list",
  object: "an object",
  record: "an object",
};

// zod says "Invalid input: expected string, received number" and "Invalid option: expected one of "a"|"b"".
function describeKind({ code, values = [], message }: Issue): string | undefined {
  const [, expected = "", received = ""] = /^Invalid input: expected (\w+), received (\w+)/.exec(message) ?? [];
  const wanted = KINDS[expected];
  if (code === "invalid_type" && received === "undefined") return "This is missing.";
  if (code === "invalid_type" && wanted !== undefined) return `This must be ${wanted}, not ${KINDS[received] ?? received}.`;
  if (code === "invalid_value" && /^Invalid (?:input|option): expected/.test(message)) return `Use ${values.map(String).join(", ")}.`;
  return;
}
