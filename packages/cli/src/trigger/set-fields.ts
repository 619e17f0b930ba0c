import type { Endpoint } from "@mailsvc/sdk/contract";
import { formatPath, listProblems } from "../contract/validate.ts";
import { invalidInput, usageError } from "../runtime/errors.ts";
import { parseExactJson } from "../runtime/input-reader.ts";
import { findSimilar } from "../runtime/suggestion.ts";

/** The part of a zod schema that this module reads. */
interface Schema {
  readonly def: { readonly type: string; readonly innerType?: Schema; readonly options?: readonly Schema[] };
  readonly shape?: Readonly<Record<string, Schema>>;
}

/**
 * Sets fields of a body: `a.b=text`, or `a.b:=JSON`. Throws CliError that names the valid fields for a path that does not exist, and the fault
 * of a value that is refused.
 */
export function setFields(endpoint: Endpoint, body: Record<string, unknown>, settings: readonly string[]): Record<string, unknown> {
  const changed = structuredClone(body);
  for (const setting of settings) {
    const [, path = "", typed, text = ""] = /^([^=:]+)(:?)=(.*)$/s.exec(setting) ?? [];
    if (path === "")
      throw usageError(`--set: "${setting}" has no path and value.`, {
        hint: "Write --set subject=Hello, or --set tags.kind=welcome, or --set count:=3 for JSON.",
      });
    setPath(changed, path.split("."), typed === "" ? text : parseJson(text, path));
  }
  if (!endpoint.body) return changed;
  const problems = listProblems(endpoint.body, changed);
  const unknown = problems.find(({ code }) => code === "unknown_field");
  if (unknown) throw unknownPath(endpoint.body as unknown as Schema, unknown.path);
  if (problems.length > 0)
    throw invalidInput(
      "--set: the input is invalid.",
      problems.map(({ path, code, message }) => ({ path: formatPath(path), code, message })),
    );
  return changed;
}

function setPath(target: Record<string, unknown>, [name = "", ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) target[name] = value;
  else {
    const inner = target[name];
    const object = typeof inner === "object" && inner !== null && !Array.isArray(inner) ? (inner as Record<string, unknown>) : {};
    target[name] = object;
    setPath(object, rest, value);
  }
}

function parseJson(text: string, path: string): unknown {
  try {
    return parseExactJson(text, `--set ${path}`);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw usageError(`--set ${path}: this is not JSON (${(error as Error).message}).`);
  }
}

function unknownPath(schema: Schema, path: readonly PropertyKey[]): Error {
  const around = path.slice(0, -1);
  const names = Object.keys(findShape(schema, around) ?? {}).map((name) => formatPath([...around, name]));
  const given = formatPath(path);
  const similar = findSimilar(given, names);
  return usageError(`--set: there is no field ${given}.`, {
    hint: `${similar.length > 0 ? `Did you mean ${similar.join(" or ")}? ` : ""}The fields are ${names.join(", ")}.`,
  });
}

function findShape(schema: Schema, [name, ...rest]: readonly PropertyKey[]): Readonly<Record<string, Schema>> | undefined {
  const { shape } = unwrap(schema);
  if (name === undefined) return shape;
  const inner = shape?.[String(name)];
  return inner && findShape(inner, rest);
}

/** Returns the schema inside an optional, nullable or refined one; for a union, its first object. */
function unwrap(schema: Schema): Schema {
  if (schema.shape) return schema;
  const { innerType, options } = schema.def;
  if (innerType) return unwrap(innerType);
  return options?.map(unwrap).find(({ shape }) => shape) ?? schema;
}
