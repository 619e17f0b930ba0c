import type { ErrorDetail } from "@mailsvc/sdk/contract";
import type { Declared, Variable, VariableType } from "./variables.ts";

/** Values of variables by name, as the caller supplied them. */
export type Values = Readonly<Record<string, unknown>>;

/** The value under a dotted name. Inherited fields are not read. */
function getValue(values: unknown, name: string): unknown {
  return name
    .split(".")
    .reduce<unknown>((value, part) => (isObject(value) && Object.hasOwn(value, part) ? value[part] : undefined), values);
}

/** The values, completed with declared defaults. */
export function applyDefaults(declared: readonly Declared[], given: Values): Values {
  let values = given;
  for (const { name, default: fallback } of declared) {
    if (fallback === undefined || fallback === null || name.includes("[]")) continue;
    if (isAbsent(getValue(values, name))) values = setValue(values, name.split("."), fallback);
  }
  return values;
}

const TYPE_TESTS: Readonly<Record<VariableType, (value: unknown) => boolean>> = {
  string: (value) => typeof value !== "object",
  html: (value) => typeof value !== "object",
  number: (value) => typeof value === "number",
  boolean: (value) => typeof value === "boolean",
  date: (value) => (typeof value === "string" || typeof value === "number") && !Number.isNaN(new Date(value).getTime()),
  array: Array.isArray,
  object: isObject,
};
const TYPE_NAMES: Readonly<Record<VariableType, string>> = {
  string: "a text",
  html: "a text of HTML",
  number: "a number",
  boolean: "true or false",
  date: "a date (ISO 8601 text, or milliseconds since 1970)",
  array: "a list",
  object: "an object",
};

/** Faults in declarations: a default of another type, or a default for a field of list items. */
export function findBadDeclarations(declared: readonly Declared[]): ErrorDetail[] {
  return declared.flatMap(({ name, type, default: fallback }, i): ErrorDetail[] => {
    if (fallback === undefined || fallback === null) return [];
    const path = `variables[${i}].default`;
    if (name.includes("[]"))
      return [
        { path, code: "not_allowed", message: `A field of list items cannot have a default here. Use {{default …}} in the template.` },
      ];
    if (type && !TYPE_TESTS[type](fallback))
      return [{ path, code: "invalid_type", message: `The default of ${name} must be ${TYPE_NAMES[type]}.` }];
    return [];
  });
}

/** Supplied values of another type than declared. A null means that the variable has no value, and fits every type. */
export function findWrongTypes(declared: readonly Declared[], values: Values, under: string): ErrorDetail[] {
  return declared.flatMap(({ name, type }): ErrorDetail[] => {
    if (!type || name.includes("[]")) return [];
    const value = getValue(values, name);
    if (isAbsent(value) || TYPE_TESTS[type](value)) return [];
    return [{ path: `${under}.${name}`, code: "invalid_type", message: `${name} must be ${TYPE_NAMES[type]}.` }];
  });
}

/** Names of the variables without a value: absent or null. */
export function listAbsent(variables: readonly Variable[], values: Values): string[] {
  return variables.filter(({ name }) => !name.includes("[]") && isAbsent(getValue(values, name))).map(({ name }) => name);
}

function isObject(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function setValue(values: Values, [head = "", ...rest]: readonly string[], value: unknown): Values {
  if (rest.length === 0) return { ...values, [head]: value };
  const inner = Object.hasOwn(values, head) ? values[head] : {};
  // A value that is no object stays: rendering reports it where it is used.
  return isObject(inner) ? { ...values, [head]: setValue(inner, rest, value) } : values;
}

/** True if a declared variable has no value: null counts as absent. */
function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}
