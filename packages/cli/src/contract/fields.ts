import { type Endpoint, ERROR_CODES, type FileRules } from "@mailsvc/sdk/contract";
import { DURATION } from "@mailsvc/sdk/contract/facts";

/** Form of a field on the command line. */
export type FieldKind = "text" | "number" | "boolean" | "enum" | "instant" | "duration" | "list" | "map" | "values" | "json" | "file";

/** The direction of a time: of the past, as in filters, or to come, as in schedules. */
export type Direction = "past" | "future";

/** One query or body field of an endpoint, as a flag. */
export interface Field {
  /** Name on the wire. */
  name: string;
  /** Name of the flag without dashes; singular when it is repeatable. */
  flag: string;
  where: "query" | "body";
  kind: FieldKind;
  required: boolean;
  /** The server's default. */
  default: unknown;
  description: string;
  /** Allowed values of an enum, or of the items of a list. */
  choices: readonly string[] | undefined;
  /** The field takes one item or a list; a single item is sent without a list. */
  oneOrMany: boolean;
  /** True if the field accepts null. */
  nullable: boolean;
  /** True if an enum accepts a number too. */
  orNumber?: true;
  /** The files an upload accepts. */
  file?: FileRules;
  /** True if the value was given as an argument, `<by>`, not as a flag. */
  asArgument?: true;
}

/** The part of a zod schema that this module reads. It is structural, so any copy of zod works. */
interface Schema {
  readonly def: {
    readonly type: string;
    readonly format?: string;
    readonly checks?: readonly { readonly _zod: { readonly def: { readonly pattern?: RegExp } } }[];
    readonly innerType?: Schema;
    readonly defaultValue?: unknown;
    readonly element?: Schema;
    readonly valueType?: Schema;
    readonly options?: readonly Schema[];
    readonly out?: Schema;
    readonly entries?: Readonly<Record<string, string | number>>;
  };
  readonly description?: string | undefined;
}

interface Unwrapped {
  core: Schema;
  nullable: boolean;
  required: boolean;
  default: unknown;
  description: string | undefined;
}

const SCALARS: Readonly<Record<string, FieldKind>> = { string: "text", number: "number", int: "number", boolean: "boolean", enum: "enum" };

/** `scheduledAt` -> `scheduled-at`. */
export function toKebabCase(name: string): string {
  return name.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`);
}

/** The direction of a field: filters and ranges tell of the past, all other instants are set. */
export function getDirection({ where, name }: Field): Direction {
  return where === "query" || /^(?:since|until)$/.test(name) ? "past" : "future";
}

/** True for kinds whose flag can be repeated. */
export function isRepeatable(kind: FieldKind): boolean {
  return kind === "list" || kind === "map" || kind === "values";
}

/** Fields of an upload that default to what the file says. */
const BESIDE_FILE: Readonly<Record<string, string>> = {
  fileName: "File name (default: that of --file)",
  contentType: "Content type (default: by the file name)",
  contentBase64: "The file as base64, instead of --file",
};

/** Lists the fields of an endpoint: query first, in the order of the contract. An upload's file comes before its body fields. */
export function listFields(endpoint: Endpoint): Field[] {
  const of = (where: Field["where"]): Field[] =>
    listShape(endpoint[where]).map(([name, schema]) => {
      const { core, ...rest } = unwrap(schema);
      const kind = getKind(core);
      const repeats = isRepeatable(kind.kind);
      return {
        name,
        where,
        ...rest,
        ...kind,
        description: rest.description ?? core.description ?? "",
        flag: repeats ? toSingular(toKebabCase(name)) : toKebabCase(name),
      };
    });
  const { file } = endpoint;
  if (!file) return [...of("query"), ...of("body")];
  const body = of("body").map((field) => {
    const description = BESIDE_FILE[field.name];
    return description === undefined ? field : { ...field, required: false, description };
  });
  return [...of("query"), buildFileField(file), ...body];
}

/** True when an endpoint returns a list in pages. */
export function isPaginated(endpoint: Endpoint): boolean {
  const shape = endpoint.query?.shape ?? {};
  return endpoint.method === "GET" && "page" in shape && "cursor" in shape;
}

const ADDRESSES: ReadonlySet<string> = new Set(["to", "from", "email", "reply-to"]);

/** The name of a field in errors: as it was given. */
export function nameField({ name, flag, asArgument }: Field): string {
  return asArgument ? `<${name}>` : `--${flag}`;
}

/** The flag with its placeholder: `--tag <name=value>`. */
export function flagSyntax(field: Field): string {
  return field.kind === "boolean" ? `--${field.flag}` : `--${field.flag} <${placeholder(field)}>`;
}

/** True if the values of an enum fit into the help. A list as long as the error codes does not. */
export function showsChoices(field: Field): boolean {
  return field.choices !== undefined && field.choices.length < ERROR_CODES.length;
}

// optional(default(string)) -> string, with what the wrappers say.
function unwrap(schema: Schema): Unwrapped {
  const { def } = schema;
  const rest = { required: true, nullable: false, default: undefined, description: schema.description };
  if (def.type === "pipe" && def.out) return { ...unwrap(def.out), description: schema.description };
  if (!def.innerType) return { core: schema, ...rest };
  const inner = unwrap(def.innerType);
  const description = schema.description ?? inner.description;
  if (def.type === "default" || def.type === "prefault") return { ...inner, required: false, default: def.defaultValue, description };
  if (def.type === "optional") return { ...inner, required: false, description };
  return { ...inner, nullable: inner.nullable || def.type === "nullable", description };
}

function getKind(schema: Schema): Pick<Field, "kind" | "choices" | "oneOrMany" | "orNumber"> {
  const { def } = schema;
  const one = { choices: undefined, oneOrMany: false };
  if (def.type === "string" && def.format === "datetime") return { kind: "instant", ...one };
  if (def.checks?.some(({ _zod }) => _zod.def.pattern?.source === DURATION.source)) return { kind: "duration", ...one };
  if (def.type === "enum") return { kind: "enum", choices: Object.values(def.entries ?? {}).map(String), oneOrMany: false };
  const scalar = SCALARS[def.type];
  if (scalar) return { kind: scalar, ...one };
  // A record of strings, or of any values.
  if (def.type === "record") return { kind: def.valueType && unwrap(def.valueType).core.def.type === "string" ? "map" : "values", ...one };
  if (def.type === "array" && def.element) {
    const item = getKind(unwrap(def.element).core);
    return item.kind === "text" || item.kind === "enum"
      ? { kind: "list", choices: item.choices, oneOrMany: false }
      : { kind: "json", ...one };
  }
  if (def.type === "union" && def.options) {
    const kinds = def.options.map((option) => getKind(unwrap(option).core));
    const list = kinds.find((k) => k.kind === "list");
    if (list && kinds.some((k) => k.kind === "text")) return { ...list, oneOrMany: true };
    const words = kinds.find((k) => k.kind === "enum");
    if (words && kinds.some((k) => k.kind === "number")) return { ...words, orNumber: true };
  }
  return { kind: "json", ...one };
}

function toSingular(word: string): string {
  return /[^s]s$/.test(word) ? word.replace(/ies$/, "y").replace(/s$/, "") : word;
}

function listShape(schema: Endpoint["query"]): [string, Schema][] {
  return Object.entries(schema?.shape ?? {}) as unknown as [string, Schema][];
}

/** Builds the field of an upload's file. */
function buildFileField(file: FileRules): Field {
  return {
    name: "file",
    flag: "file",
    where: "body",
    kind: "file",
    required: true,
    nullable: false,
    default: undefined,
    description: `The file to upload, up to ${file.maxBytes / 1024 / 1024} MB, or - for stdin`,
    choices: undefined,
    oneOrMany: false,
    file,
  };
}

function placeholder(field: Field): string {
  if (field.kind === "number") return "n";
  if (field.kind === "instant" || field.kind === "duration") return "time";
  if (field.kind === "map") return field.name === "headers" ? "name: value" : "name=value";
  if (field.kind === "values") return "name=value";
  if (field.kind === "json") return "json";
  if (field.kind === "file") return "path";
  return ADDRESSES.has(field.flag) ? "address" : (field.flag.split("-").at(-1) ?? "text");
}
