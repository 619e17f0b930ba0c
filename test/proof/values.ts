/** A part of a JSON schema, as far as openapi.json uses them. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly examples?: readonly unknown[];
}

/** Chooses by a seeded random number. */
export interface Choose {
  /** True in this share of all cases. */
  chance(share: number): boolean;
  one<T>(list: readonly T[]): T;
  integer(from: number, to: number): number;
}

export function chooseBy(fraction: () => number): Choose {
  return {
    chance: (share) => fraction() < share,
    one: <T>(list: readonly T[]): T => list[Math.floor(fraction() * list.length)] as T,
    integer: (from, to) => from + Math.floor(fraction() * (to - from + 1)),
  };
}

/** Texts that have broken programs before. */
export const HOSTILE_TEXTS = [
  "",
  " ",
  "\0",
  "a\0b",
  "\ud800",
  "💥".repeat(300),
  "x".repeat(70_000),
  "\r\nBcc: victim@example.org",
  "../../../../etc/passwd",
  "'; DROP TABLE emails; --",
  "<script>alert(1)</script>",
  "{{#each a}}{{../../b}}",
  "{{{{raw}}}}",
  "{% for %}",
  "%00%ff%2e%2e",
  "\u202egnp.exe",
  "İıſK",
  "2026-02-30",
  "9999999999999-01-01T00:00:00Z",
  "NaN",
  "-1",
  "null",
  "__proto__",
  "constructor",
  "javascript:alert(1)",
  "http://127.0.0.1:9/hook",
  "http://[::1]:9/",
  "https://user:pass@127.0.0.1:9/",
  '"quoted local"@example.org',
  "a@b",
  "ada@münchen.example",
  "ADA@EXAMPLE.COM",
  "a".repeat(65).concat("@example.com"),
  "@".repeat(200),
  "ms_live_0123456789",
];

const HOSTILE_VALUES: readonly unknown[] = [
  null,
  true,
  0,
  -0,
  -1,
  1.5,
  2 ** 31,
  2 ** 53,
  1e308,
  [],
  {},
  [[[[[[[[]]]]]]]],
  { __proto__: null, toString: 1 },
  { $ref: "#" },
  Array.from({ length: 2000 }, (_, i) => i),
];

/** Makes a value, of any type, that nobody should send. */
export function makeHostileValue(choose: Choose): unknown {
  return choose.chance(0.6) ? choose.one(HOSTILE_TEXTS) : choose.one(HOSTILE_VALUES);
}

/** Makes values that a schema allows, most of the time. */
export class ValueMaker {
  readonly #choose: Choose;
  readonly #resolve: (ref: string) => Schema;

  constructor(choose: Choose, resolve: (ref: string) => Schema) {
    this.#choose = choose;
    this.#resolve = resolve;
  }

  make(schema: Schema, depth = 0): unknown {
    const { chance, one } = this.#choose;
    if (schema.$ref !== undefined) return this.make(this.#resolve(schema.$ref), depth);
    if (schema.const !== undefined) return schema.const;
    if (schema.enum !== undefined) return one(schema.enum);
    if (schema.examples !== undefined && schema.examples.length > 0 && chance(0.5)) return one(schema.examples);
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices !== undefined) return this.make(one(choices), depth + 1);
    const type = Array.isArray(schema.type) ? one(schema.type as readonly string[]) : schema.type;
    switch (type) {
      case "object":
        return this.#makeObject(schema, depth);
      case "array":
        return depth > 6 ? [] : this.#makeArray(schema, depth);
      case "integer":
        return this.#choose.integer(schema.minimum ?? 0, Math.min(schema.maximum ?? 1000, (schema.minimum ?? 0) + 1000));
      case "number":
        return this.#choose.integer(schema.minimum ?? -10, Math.min(schema.maximum ?? 1000, 1000)) + (chance(0.3) ? 0.25 : 0);
      case "boolean":
        return chance(0.5);
      case "null":
        return null;
      case "string":
        return this.#makeText(schema);
      default:
        return makeHostileValue(this.#choose);
    }
  }

  #makeObject({ properties = {}, required = [], additionalProperties }: Schema, depth: number): Record<string, unknown> {
    const made: Record<string, unknown> = {};
    for (const [name, schema] of Object.entries(properties))
      if (required.includes(name) || (depth < 5 && this.#choose.chance(0.4))) made[name] = this.make(schema, depth + 1);
    if (typeof additionalProperties === "object" && depth < 5)
      for (let n = this.#choose.integer(0, 2); n > 0; n -= 1) made[`key${n}`] = this.make(additionalProperties, depth + 1);
    return made;
  }

  #makeArray({ items = {}, minItems = 0, maxItems = 3 }: Schema, depth: number): unknown[] {
    const length = this.#choose.integer(minItems, Math.max(minItems, Math.min(maxItems, minItems + 3)));
    return Array.from({ length }, () => this.make(items, depth + 1));
  }

  #makeText({ format, minLength = 0, maxLength = 40 }: Schema): string {
    const { integer, one, chance } = this.#choose;
    if (format === "date-time") return new Date(integer(Date.UTC(2026, 0), Date.UTC(2027, 0))).toISOString();
    if (format === "date") return `2026-0${integer(1, 9)}-1${integer(0, 9)}`;
    if (format === "uri") return `http://127.0.0.1:9/${integer(0, 99)}`;
    if (chance(0.4)) return `p${integer(0, 999)}@example.com`;
    const text = one(["Hello", "welcome", "a", "Acme news", "{{firstName}}", "2026-05-01T10:00:00Z", "7d", "color"]);
    return text.padEnd(minLength, "x").slice(0, Math.max(maxLength, minLength));
  }
}

/** A copy of a value in which one place is another one, is gone, or is there in addition. */
export function mutate(value: unknown, choose: Choose): unknown {
  if (Array.isArray(value)) {
    if (value.length === 0 || choose.chance(0.2)) return [...value, makeHostileValue(choose)];
    const at = choose.integer(0, value.length - 1);
    if (choose.chance(0.2)) return value.toSpliced(at, 1);
    return value.with(at, mutate(value[at], choose));
  }
  if (typeof value === "object" && value !== null) {
    const names = Object.keys(value);
    const name =
      names.length === 0 || choose.chance(0.1) ? choose.one(["extra", "id", "__proto__", "to", "workspaceId"]) : choose.one(names);
    const copy = Object.fromEntries(Object.entries(value));
    if (choose.chance(0.15)) delete copy[name];
    else Object.defineProperty(copy, name, { value: mutate(copy[name], choose), enumerable: true, configurable: true, writable: true });
    return copy;
  }
  return makeHostileValue(choose);
}
