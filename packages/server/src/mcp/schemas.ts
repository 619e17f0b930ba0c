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
