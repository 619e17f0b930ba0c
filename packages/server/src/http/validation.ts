import { type Endpoint, type ErrorDetail, findClosest } from "@mailsvc/sdk/contract";
import type { z } from "zod";
import { ApiError, invalid } from "../lib/api-error.ts";
import type { HttpRequest } from "./request.ts";

type Issue = z.core.$ZodIssue;

// The first faults are enough to go on with, even when there are a thousand.
const MAX_DETAILS = 20;
// Names a client made up are cut to this length in messages.
const MAX_NAME = 60;

/** Validates a value: its parsed form, or the faults in it. For parts of a request that may fail one by one. */
export function check<S extends z.ZodType>(schema: S, value: unknown): { value: z.output<S> } | { details: ErrorDetail[] } {
  const result = schema.safeParse(value);
  return result.success ? { value: result.data } : { details: flattenIssues(result.error.issues, [], value, listFields(schema)) };
}

/**
 * Validates an endpoint's input and merges path parameters, query and body into one flat object. Unknown and repeated query
 * parameters are refused. Throws ApiError validation_error.
 */
export function parseInput(
  endpoint: Endpoint,
  params: Record<string, string>,
  search: URLSearchParams,
  body: Record<string, unknown>,
): Record<string, unknown> {
  const query = parseQuery(endpoint, search);
  return {
    ...params,
    ...(endpoint.query && parseValue(endpoint.query, query)),
    ...(endpoint.body && parseValue(endpoint.looseBody ?? endpoint.body, body)),
  };
}

/**
 * The path parameters, decoded: the router leaves `%2F`, `%25` and everything beyond ASCII encoded. Throws ApiError
 * validation_error, also for a control character: no id contains one, and Postgres refuses NUL.
 */
export function parseParams(request: HttpRequest): Record<string, string> {
  const params: Record<string, string> = {};
  for (const [name, text] of Object.entries(request.params())) {
    const value = decodePathSegment(text);
    if (/\p{Cc}/u.test(value)) throw invalid(name, "invalid_characters", `${name} must not contain control characters.`);
    params[name] = value;
  }
  return params;
}

/** The parsed form of a value. Throws ApiError validation_error. */
export function parseValue<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const checked = check(schema, value);
  if ("value" in checked) return checked.value;
  throw failValidation(checked.details);
}

function failValidation(details: ErrorDetail[]): ApiError {
  const paths = [...new Set(details.map((detail) => detail.path))];
  const message =
    paths.length === 1
      ? details.map((detail) => detail.message).join(" ")
      : `${paths.length} fields are invalid: ${paths.slice(0, 5).join(", ")}.`;
  return new ApiError("validation_error", message, { details: details.slice(0, MAX_DETAILS) });
}

function parseQuery({ access, query, ignoresUnknown }: Endpoint, search: URLSearchParams): Record<string, string | string[]> {
  const values: Record<string, string | string[]> = {};
  const details: ErrorDetail[] = [];
  for (const [name, value] of search) {
    const path = name.slice(0, MAX_NAME);
    // Links to public pages may gain parameters on their way, such as utm_source; elsewhere an unknown one is a mistake.
    if (!Object.hasOwn(query?.shape ?? {}, name)) {
      if (access !== "public" && !ignoresUnknown)
        details.push({ path, code: "unknown_parameter", message: describeUnknown("query parameter", name, listFields(query)) });
    } else if (isRepeatable(query?.shape[name])) values[name] = search.getAll(name);
    else if (Object.hasOwn(values, name)) details.push({ path, code: "duplicate", message: `The query parameter ${path} appears twice.` });
    // Filters reach the database as they are, and Postgres cannot compare with U+0000.
    else if (value.includes("\0"))
      details.push({ path, code: "invalid_characters", message: `${path} must not contain control characters.` });
    else values[name] = value;
  }
  if (details.length > 0) throw failValidation(details);
  return values;
}

/** True for a parameter that takes several values, each with its own name before it: only dialects have such. */
function isRepeatable(schema: z.core.$ZodType | undefined): boolean {
  const def = schema?._zod.def;
  return def?.type === "array" || (def?.type === "optional" && isRepeatable((def as z.core.$ZodOptionalDef).innerType));
}

function describeUnknown(kind: string, name: string, known: readonly string[]): string {
  const closest = findClosest(name.slice(0, MAX_NAME), known);
  const shown = JSON.stringify(name.slice(0, MAX_NAME));
  return closest === null ? `Unknown ${kind} ${shown}.` : `Unknown ${kind} ${shown}. Did you mean ${closest}?`;
}

/** The names of an object schema's fields. */
function listFields(schema: z.ZodType | undefined): string[] {
  return schema && "shape" in schema ? Object.keys(schema.shape as object) : [];
}

/** `["to", 3]` as people write it: `to[3]`. */
export function formatPath(path: readonly PropertyKey[]): string {
  return path
    .reduce<string>(
      (text, step) => (typeof step === "number" ? `${text}[${step}]` : text === "" ? String(step) : `${text}.${String(step)}`),
      "",
    )
    .slice(0, 200);
}

function getAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (v, step) => (v === null || typeof v !== "object" ? undefined : (v as Record<PropertyKey, unknown>)[step]),
    value,
  );
}

/** The branch of a union that the value was meant for: the one that does not object to its type. */
function findBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] | null {
  return branches.find((issues) => !issues.some((issue) => issue.code === "invalid_type" && issue.path.length === 0)) ?? null;
}

function flattenIssues(issues: readonly Issue[], prefix: readonly PropertyKey[], input: unknown, fields: readonly string[]): ErrorDetail[] {
  const details = issues.flatMap((issue): ErrorDetail[] => {
    const path = [...prefix, ...issue.path];
    const name = formatPath(path);
    if (issue.code === "unrecognized_keys")
      return issue.keys.map((key, i) => ({
        path: formatPath([...path, key]),
        code: "unknown_field",
        // Further ones are counted, not shown, so nobody reads what they may have meant.
        message: describeUnknown("field", key, path.length === 0 && i < MAX_DETAILS ? fields : []),
      }));
    if (issue.code === "invalid_union") {
      const branch = findBranch(issue.errors);
      if (branch) return flattenIssues(branch, path, input, []);
    }
    if (
      (issue.code === "invalid_type" || issue.code === "invalid_union" || issue.code === "invalid_value") &&
      getAt(input, path) === undefined
    )
      return [{ path: name, code: "required", message: `${name} is required.` }];
    const code = issue.code === "custom" && typeof issue.params?.code === "string" ? issue.params.code : issue.code;
    return [
      { path: name, code: code === "invalid_union" ? "invalid_type" : code, message: validationMessage(issue, name, getAt(input, path)) },
    ];
  });
  // The size of a value of the wrong type says nothing.
  const mistyped = new Set(details.filter(({ code }) => code === "invalid_type").map(({ path }) => path));
  return details.filter(({ path, code }) => code === "invalid_type" || !mistyped.has(path));
}

function decodePathSegment(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw undecodablePath();
  }
}

/** 400 for a path such as `/%FF`. */
export function undecodablePath(): ApiError {
  return invalid("", "invalid_path", "Invalid path: a % must be followed by two hexadecimal digits of UTF-8.");
}

const KINDS: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "an array",
  tuple: "an array",
  object: "an object",
  record: "an object",
};

/**
 * Says what is wrong with the field `here`, in a sentence that names it; `value` is its value. Messages written in the contract are
 * kept.
 */
function validationMessage(issue: Issue, here: string, value: unknown): string {
  const name = here === "" ? "The request" : here;
  switch (issue.code) {
    case "invalid_type": {
      const wanted = KINDS[issue.expected] ?? issue.expected;
      // Query values are text read as numbers, so "not a string" would say nothing.
      return issue.message.endsWith("NaN") || describeKind(value) === wanted || issue.expected === "int"
        ? `${name} must be ${wanted}.`
        : `${name} must be ${wanted}, not ${describeKind(value)}.`;
    }
    case "invalid_union": {
      // No branch has the given type: the message of the union lists the types.
      if (issue.errors.length === 0) return `${name}: ${issue.message}`;
      const wanted = [...new Set(listExpected(issue.errors))];
      return wanted.length === 0 ? `${name} is not valid.` : `${name} must be ${wanted.join(" or ")}, not ${describeKind(value)}.`;
    }
    case "too_big":
      return `${name} must ${getVerb(issue.origin)} at most ${formatSize(issue.origin, issue.maximum)}.`;
    case "too_small":
      if (issue.origin === "string" && Number(issue.minimum) === 1) return `${name} must not be empty.`;
      return `${name} must ${getVerb(issue.origin)} ${issue.inclusive === false ? "more than" : "at least"} ${formatSize(issue.origin, issue.minimum)}.`;
    case "invalid_value":
      return `${name} must be one of ${issue.values.map(String).join(", ")}.`;
    default:
      return here === "" || issue.message.includes(here) ? issue.message : `${name}: ${issue.message}`;
  }
}

function describeKind(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return KINDS[typeof value] ?? typeof value;
}

function countItems(n: number | bigint, what: string): string {
  return `${n} ${what}${Number(n) === 1 ? "" : "s"}`;
}

function formatSize(origin: string, n: number | bigint): string {
  return origin === "string" ? countItems(n, "character") : origin === "array" || origin === "set" ? countItems(n, "item") : String(n);
}

function getVerb(origin: string): string {
  return origin === "string" ? "have" : origin === "array" || origin === "set" ? "hold" : "be";
}

/** The types a union accepts, when the value has none of them. */
function listExpected(branches: readonly (readonly Issue[])[]): string[] {
  return branches.flatMap((issues) =>
    issues.flatMap((i) => (i.code === "invalid_type" && i.path.length === 0 ? [KINDS[i.expected] ?? i.expected] : [])),
  );
}
