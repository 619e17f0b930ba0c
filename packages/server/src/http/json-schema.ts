import { z } from "zod";

export type JsonSchema = Record<string, unknown>;

/**
 * Turns zod schemas into JSON Schemas and collects those with a name (`.meta({ id })`) under `named`, each once.
 * A schema that reads differently on the way in than on the way out is listed a second time as `<name>Input`.
 */
export function createSchemaCollector() {
  const named: Record<string, JsonSchema> = {};
  const originals = new Map<string, string>();

  const nameFor = (id: string, json: string, io: "input" | "output"): string => {
    const free = (name: string) => (originals.get(name) ?? json) === json;
    const name = free(id) ? id : `${id}${io === "input" ? "Input" : "Output"}`;
    if (!free(name)) throw new Error(`Two schemas are called ${name}.`);
    originals.set(name, json);
    return name;
  };

  /** The JSON Schema of what is sent (`input`) or answered (`output`). */
  const convert = (type: z.ZodType, io: "input" | "output"): JsonSchema => {
    // Wrapped, so that a named schema at the root becomes a reference like any other.
    const wrapped = z.toJSONSchema(z.object({ root: type }), {
      io,
      unrepresentable: "any",
      override: ({ zodSchema, jsonSchema }) => {
        if (isFlag(zodSchema)) Object.assign(jsonSchema, { type: "boolean" });
        // Answers may gain fields; only requests are closed.
        if (io === "output" && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
        tidy(jsonSchema);
      },
    });
    const root = wrapped.properties?.root as JsonSchema;
    const defs = Object.entries((wrapped.$defs ?? {}) as Record<string, JsonSchema>);
    const names = new Map(defs.map(([id, schema]) => [id, nameFor(id, JSON.stringify(schema), io)]));
    for (const [id, schema] of defs) {
      const { id: _, ...rest } = renamed(schema, names) as JsonSchema;
      named[names.get(id) ?? id] = rest;
    }
    return renamed(root, names) as JsonSchema;
  };

  return { named, convert };
}

/** Zod says the safe range of every integer; a reader has no use for it. Long patterns say less than the format they stand for. */
function tidy(schema: JsonSchema): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.format !== undefined) delete schema.pattern;
}

/** A `z.stringbool()`: true and false on the wire, whatever other spellings it puts up with. */
function isFlag(type: z.core.$ZodTypes): boolean {
  return type._zod.def.type === "pipe" && type._zod.def.out._zod.def.type === "boolean" && type._zod.def.in._zod.def.type === "string";
}

function renamed(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => renamed(item, names));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (key !== "$ref" || typeof inner !== "string") return [key, renamed(inner, names)];
      const id = inner.replace("#/$defs/", "");
      return [key, `#/components/schemas/${names.get(id) ?? id}`];
    }),
  );
}
