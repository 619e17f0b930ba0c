// The part of zod that the contract uses, with zod's types. A schema is built when something is first read from it: a server needs
// those of the endpoints that are called, and a command those of one endpoint. Building all 3,000 took half the time of
// `mailsvc --help`, and 15 MB of a server's memory.
import * as z from "zod";

export type * from "zod";

/** The methods that make another schema. Anything else is read from the schema, which is built for that. */
const CHAINED: ReadonlySet<PropertyKey> = new Set([
  ...["optional", "nullable", "default", "meta", "refine", "superRefine", "pipe", "array"],
  ...["min", "max", "gt", "int", "regex", "startsWith", "endsWith", "trim", "toLowerCase", "normalize"],
  ...["extend", "omit", "partial", "exclude"],
]);

type Make = (...args: unknown[]) => z.ZodType;

export const array = deferring(z.array);
export const boolean = deferring(z.boolean);
export const coerce = { number: deferring(z.coerce.number) };
export const custom = deferring(z.custom);
export const discriminatedUnion = deferring(z.discriminatedUnion);
export const int = deferring(z.int);
export const iso = { date: deferring(z.iso.date), datetime: deferring(z.iso.datetime) };
export const literal = deferring(z.literal);
export const number = deferring(z.number);
export const object = deferring(z.object);
export const preprocess = deferring(z.preprocess);
export const record = deferring(z.record);
export const strictObject = deferring(z.strictObject);
export const string = deferring(z.string);
export const stringbool = deferring(z.stringbool);
export const union = deferring(z.union);
export const unknown = deferring(z.unknown);
export const url = deferring(z.url);

const enumeration = deferring(z.enum);
const nothing = deferring(z.null);

export { enumeration as enum, nothing as null };
export const toJSONSchema: typeof z.toJSONSchema = z.toJSONSchema;

/** A function of zod that makes a schema, which is now built later. */
function deferring<F extends (...args: never[]) => z.ZodType>(make: F): F {
  return ((...args: unknown[]) => defer(() => (make as unknown as Make)(...args))) as unknown as F;
}

/**
 * A schema that is not built yet: an empty object, whose prototype builds it when it is asked for something. The object then is the
 * schema, so everything that refers to it stays as it is.
 */
function defer(build: () => z.ZodType): z.ZodType {
  const become = (): z.ZodType => {
    const model = build();
    const { constr, def, parent } = model._zod;
    Object.setPrototypeOf(schema, Object.getPrototypeOf(model) as object);
    // As `new` would, with the object that is there. zod's constructors are plain functions.
    Reflect.apply(constr, schema, [def]);
    if (parent) schema._zod.parent = parent;
    const metadata = z.globalRegistry.has(model) && z.globalRegistry.get(model);
    if (metadata) z.globalRegistry.add(schema, metadata);
    return schema;
  };
  const builder = new Proxy(
    {},
    {
      get: (_, name) => (CHAINED.has(name) ? chain(schema, name) : Reflect.get(become(), name)),
      has: (_, name) => Reflect.has(become(), name),
    },
  );
  const schema = Object.create(builder) as z.ZodType;
  return schema;
}

/** A method that makes another schema: called when that one is needed. */
function chain(schema: z.ZodType, name: PropertyKey): Make {
  const call = (args: unknown[]): z.ZodType => {
    // Builds it, so that the method is its own from here on.
    void schema._zod;
    return (Reflect.get(schema, name) as Make).apply(schema, args);
  };
  // Without arguments, `meta` returns the metadata.
  return (...args) => (name === "meta" && args.length === 0 ? call(args) : defer(() => call(args)));
}
