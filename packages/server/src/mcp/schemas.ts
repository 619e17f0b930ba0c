import * as z from "zod";
import { describeOverride, type JsonSchema } from "../http/json-schema.ts";

/** A JSON Schema of an object that refers only to itself. */
export interface ObjectSchema {
  readonly type: "object";
  readonly [keyword: string]: unknown;
}

/** Converts the schema of a tool's arguments (`input`) or results (`output`), with its definitions inside. */
export function toObjectSchema(type: z.ZodType, io: "input" | "output"): ObjectSchema {
  const { $schema: _, ...made } = z.toJSONSchema(type, { io, unrepresentable: "any", override: describeOverride(io) });
  const { $ref: root, $defs, ...rest } = made;
  const definitions = Object.fromEntries(Object.entries($defs ?? {}).map(([name, definition]) => [name, withoutId(definition)]));
  const named = root?.replace("#/$defs/", "");
  const { [named ?? ""]: itself, ...others } = definitions;
  // Clients look for the properties at the root, also where the schema has its own name.
  const kept = isReferred(named, { itself, others }) ? definitions : others;
  return { ...withoutId(rest), ...itself, type: "object", ...(Object.keys(kept).length > 0 && { $defs: kept }) };
}

function withoutId({ id: _, ...schema }: JsonSchema): JsonSchema {
  return schema;
}

function isReferred(name: string | undefined, schemas: object): boolean {
  return name !== undefined && JSON.stringify(schemas).includes(`"#/$defs/${name}"`);
}

// Clients pass the whole list of tools on to their model, so its schemas say what a model needs and no more. Arguments are checked by
// the full schemas, whatever the list says of them.

type Schema = Readonly<Record<string, unknown>>;

// Limits that a model does not act on; an argument beyond them is refused with a message.
const SILENT = new Set([
  "pattern",
  "minLength",
  "maxLength",
  "minItems",
  "propertyNames",
  "contentEncoding",
  "examples",
  "minimum",
  "$defs",
  "additionalProperties",
]);

// Values of a choice, such as the codes of errors. A value that is none of them is refused with the nearest ones.
const MAX_CHOICES = 40;

/** The schema of arguments as it is listed: without long lists of values, patterns and lengths, definitions in their places. */
export function listArguments(schema: ObjectSchema): ObjectSchema {
  const definitions = readDefinitions(schema);
  const slim = (value: unknown, above: ReadonlySet<string>): unknown => {
    if (Array.isArray(value)) return value.map((item) => withoutDescription(slim(item, above)));
    if (!isSchema(value)) return value;
    const { $ref, ...own } = value;
    const name = typeof $ref === "string" ? $ref.replace("#/$defs/", "") : undefined;
    // A definition that contains itself is shown once.
    if (name !== undefined && above.has(name)) return { type: "object" };
    const whole = name === undefined ? own : { ...definitions[name], ...own };
    const inner = name === undefined ? above : new Set([...above, name]);
    return Object.fromEntries(
      Object.entries(whole).flatMap(([key, entry]): [string, unknown][] => {
        if (SILENT.has(key) || (key === "enum" && Array.isArray(entry) && entry.length > MAX_CHOICES)) return [];
        if (key === "properties" && isSchema(entry))
          return [[key, Object.fromEntries(Object.entries(entry).map(([field, type]) => [field, slim(type, inner)]))]];
        const shown = slim(entry, inner);
        return [[key, key === "items" ? withoutDescription(shown) : shown]];
      }),
    );
  };
  return { ...(slim(schema, new Set()) as ObjectSchema), additionalProperties: false };
}

/** An alternative or an item of a list, which the field around it describes. */
function withoutDescription(schema: unknown): unknown {
  if (!isSchema(schema)) return schema;
  const { description: _, ...rest } = schema;
  return rest;
}

/**
 * The schema of a result as it is listed: the names of its fields, and of those that they hold. Every result that fits the full
 * schema fits it.
 */
export function listResult(schema: ObjectSchema): ObjectSchema {
  const definitions = readDefinitions(schema);
  const resolve = (given: unknown): Schema => {
    const { $ref, ...own } = isSchema(given) ? given : {};
    return typeof $ref === "string" ? { ...definitions[$ref.replace("#/$defs/", "")], ...own } : own;
  };
  const names = (fields: unknown): Schema =>
    isSchema(fields) ? { properties: Object.fromEntries(Object.keys(fields).map((name) => [name, {}])) } : {};
  const sketch = (given: unknown): Schema => {
    const { properties, items } = resolve(given);
    return items === undefined ? names(properties) : { items: names(resolve(items)["properties"]) };
  };
  const { properties } = resolve(schema);
  const fields = Object.fromEntries(Object.entries(isSchema(properties) ? properties : {}).map(([name, field]) => [name, sketch(field)]));
  return { type: "object", properties: fields };
}

function readDefinitions({ $defs }: ObjectSchema): Readonly<Record<string, Schema>> {
  return ($defs ?? {}) as Record<string, Schema>;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
