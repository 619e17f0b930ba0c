import type { z } from "zod";

type Issue = z.core.$ZodIssue;

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

const FORMATS: Readonly<Record<string, string>> = {
  datetime: "an ISO 8601 date and time with its zone, such as 2030-01-31T09:30:00Z",
};

/**
 * Says what is wrong with the field `here`, in a sentence that names it; `value` is its value. Messages written in the contract are
 * kept.
 */
export function validationMessage(issue: Issue, here: string, value: unknown): string {
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
    case "invalid_format": {
      const format = FORMATS[issue.format];
      return format && issue.message.startsWith("Invalid ") ? `${name} must be ${format}.` : `${name}: ${issue.message}`;
    }
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
