import { Instant } from "@mailsvc/sdk/contract";
import * as z from "zod";

export type JsonSchema = Record<string, unknown>;

/**
 * Converts zod schemas to JSON Schemas and collects those with a name (`.meta({ id })`) under `named`, each once. A schema that
 * differs between request and response is listed a second time as `<name>Input`.
 */
export function createSchemaCollector() {
  const named: Record<string, JsonSchema> = {};
  const originals = new Map<string, string>();

  const chooseName = (id: string, json: string, io: "input" | "output"): string => {
    const isFree = (name: string) => (originals.get(name) ?? json) === json;
    const name = isFree(id) ? id : `${id}${io === "input" ? "Input" : "Output"}`;
    if (!isFree(name)) throw new Error(`Two schemas are called ${name}.`);
    originals.set(name, json);
    return name;
  };

  /** Converts the schema of a request (`input`) or a response (`output`). */
  const convert = (type: z.ZodType, io: "input" | "output"): JsonSchema => {
    // Wrapped, so that a named schema at the root becomes a reference like any other.
    const wrapped = z.toJSONSchema(z.object({ root: type }), {
      io,
      unrepresentable: "any",
      override: describeOverride(io),
    });
    const root = wrapped.properties?.root as JsonSchema;
    const defs = Object.entries((wrapped.$defs ?? {}) as Record<string, JsonSchema>);
    const names = new Map(defs.map(([id, schema]) => [id, chooseName(id, JSON.stringify(schema), io)]));
    for (const [id, schema] of defs) {
      const { id: _, ...rest } = renameRefs(schema, names) as JsonSchema;
      named[names.get(id) ?? id] = rest;
    }
    return renameRefs(root, names) as JsonSchema;
  };

  return { named, convert };
}

/** Corrects what zod says of a schema: types on the wire, fields that responses may gain, noise. */
export function describeOverride(io: "input" | "output"): (made: { zodSchema: z.core.$ZodTypes; jsonSchema: JsonSchema }) => void {
  return ({ zodSchema, jsonSchema }) => {
    if (isFlag(zodSchema)) Object.assign(jsonSchema, { type: "boolean" });
    // Responses may gain fields; only requests are closed.
    if (io === "output" && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    tidy(jsonSchema);
  };
}

/** Removes noise: the safe range zod gives every integer, and patterns of formats that have a name. */
function tidy(schema: JsonSchema): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  // zod calls the beginning of a text a format, which is none of JSON Schema's.
  if (schema.format === "starts_with") delete schema.format;
  if (schema.format !== undefined) delete schema.pattern;
  // What an instant is, and how it is written, its format says.
  if (schema.format === "date-time") {
    delete schema.examples;
    if (schema.description === Instant.description) delete schema.description;
  }
}

/** True for a `z.stringbool()`: true and false on the wire, whatever other spellings it accepts. */
function isFlag(type: z.core.$ZodTypes): boolean {
  return type._zod.def.type === "pipe" && type._zod.def.out._zod.def.type === "boolean" && type._zod.def.in._zod.def.type === "string";
}

function renameRefs(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => renameRefs(item, names));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (key !== "$ref" || typeof inner !== "string") return [key, renameRefs(inner, names)];
      const id = inner.replace("#/$defs/", "");
      return [key, `#/components/schemas/${names.get(id) ?? id}`];
    }),
  );
}
