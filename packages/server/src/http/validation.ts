import type { Endpoint, ErrorDetail } from "@mailsvc/sdk/contract";
import type { z } from "zod";
import { ApiError, invalid } from "../lib/api-error.ts";
import { validationMessage } from "./validation-message.ts";

type Issue = z.core.$ZodIssue;

// Of a thousand faults the first few are enough to go on with.
const MAX_DETAILS = 20;

/** A value by its schema, or what is wrong with it: for parts of a request that fail one by one. */
export function check<S extends z.ZodType>(schema: S, value: unknown): { value: z.output<S> } | { details: ErrorDetail[] } {
  const result = schema.safeParse(value);
  return result.success ? { value: result.data } : { details: flatten(result.error.issues, [], value) };
}

/** Reads an endpoint's input into one flat object: path parameters, query and body. Throws ApiError validation_error. */
export function parseInput(
  endpoint: Endpoint,
  params: Record<string, string>,
  search: URLSearchParams | null,
  body: Record<string, unknown>,
): Record<string, unknown> {
  return {
    ...params,
    ...(endpoint.query && parse(endpoint.query, queryOf(search))),
    ...(endpoint.body && parse(endpoint.body, body)),
  };
}

/** `["to", 3]` as people write it: `to[3]`. */
function pathText(path: readonly PropertyKey[]): string {
  return path
    .reduce<string>(
      (text, step) => (typeof step === "number" ? `${text}[${step}]` : text === "" ? String(step) : `${text}.${String(step)}`),
      "",
    )
    .slice(0, 200);
}

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (v, step) => (v === null || typeof v !== "object" ? undefined : (v as Record<PropertyKey, unknown>)[step]),
    value,
  );
}

/** Of a union's complaints, those of the branch the value was meant for: the one that does not object to its type. */
function branchOf(branches: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  return branches.find((issues) => !issues.some((i) => i.code === "invalid_type" && i.path.length === 0));
}

function flatten(issues: readonly Issue[], prefix: readonly PropertyKey[], input: unknown): ErrorDetail[] {
  return issues.flatMap((issue): ErrorDetail[] => {
    const path = [...prefix, ...issue.path];
    const here = pathText(path);
    if (issue.code === "unrecognized_keys")
      return issue.keys.map((key) => ({
        path: pathText([...path, key]),
        code: "unknown_field",
        message: `There is no field ${JSON.stringify(key.slice(0, 60))} here.`,
      }));
    if (issue.code === "invalid_union") {
      const branch = branchOf(issue.errors);
      if (branch) return flatten(branch, path, input);
    }
    if (
      (issue.code === "invalid_type" || issue.code === "invalid_union" || issue.code === "invalid_value") &&
      at(input, path) === undefined
    )
      return [{ path: here, code: "required", message: `${here} is required.` }];
    const code = issue.code === "custom" && typeof issue.params?.code === "string" ? issue.params.code : issue.code;
    return [
      { path: here, code: code === "invalid_union" ? "invalid_type" : code, message: validationMessage(issue, here, at(input, path)) },
    ];
  });
}

function parse<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const checked = check(schema, value);
  if ("value" in checked) return checked.value;
  const { details } = checked;
  const message =
    details.length === 1
      ? (details[0] as ErrorDetail).message
      : `${details.length} fields are not valid: ${[...new Set(details.map((d) => d.path))].slice(0, 5).join(", ")}.`;
  throw new ApiError("validation_error", message, { details: details.slice(0, MAX_DETAILS) });
}

/** Filters go to the database as they are, and it has no U+0000. Throws ApiError validation_error. */
function queryOf(search: URLSearchParams | null): Record<string, string> {
  const query = Object.fromEntries(search ?? []);
  for (const [name, value] of Object.entries(query))
    if (value.includes("\0")) throw invalid(name.slice(0, 60), "invalid_characters", `${name.slice(0, 60)} holds no control characters.`);
  return query;
}
