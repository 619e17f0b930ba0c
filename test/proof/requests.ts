import { type Choose, makeHostileValue, mutate, type Schema, ValueMaker } from "./values.ts";

interface Media {
  readonly schema?: Schema;
  readonly examples?: Readonly<Record<string, { readonly value?: unknown; readonly $ref?: string }>>;
}

interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly schema: Schema;
  readonly example?: unknown;
}

interface Reference {
  readonly $ref: string;
}

interface Body {
  readonly content: Readonly<Record<string, Media>>;
}

interface Response {
  readonly content?: Readonly<Record<string, Media>>;
}

interface OpenApiOperation {
  readonly operationId: string;
  readonly parameters?: readonly (Parameter | Reference)[];
  readonly requestBody?: Body | Reference;
  readonly responses: Readonly<Record<string, Response | Reference>>;
}

/** openapi.json, as far as requests are made of it. */
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** An operation whose requests are made. */
interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly body: Media | null;
  /** The schema of each JSON answer, by its status. */
  readonly answers: ReadonlyMap<number, Schema>;
}

export interface FuzzRequest {
  readonly operation: Operation;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

/**
 * Excluded paths: answers that do not end, or wait; requests to other machines; requests that end the world of all others. The last are
 * tested separately.
 */
const LEFT_OUT = /^\/__dev\/|\/stream$|\/wait$|^\/api\/v1\/domains\/|\/verify$|\/keys\/\{id\}$|^\/api\/v1\/dashboard/;

/** Reads the operations of openapi.json. */
function readOperations(document: OpenApi): Operation[] {
  const resolve = <T>(value: T | Reference): T => {
    const ref = (value as Partial<Reference>).$ref;
    if (ref === undefined) return value as T;
    const [, , room = "", name = ""] = ref.split("/");
    return document.components[room]?.[decodeURIComponent(name)] as T;
  };
  return Object.entries(document.paths)
    .filter(([path]) => !LEFT_OUT.test(path))
    .flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, operation]) => operation.operationId !== undefined)
        .map(([method, operation]) => ({
          id: operation.operationId,
          method: method.toUpperCase(),
          path,
          parameters: (operation.parameters ?? []).map(resolve<Parameter>),
          body: (operation.requestBody && resolve<Body>(operation.requestBody).content["application/json"]) ?? null,
          answers: new Map(
            Object.entries(operation.responses).flatMap(([status, response]) => {
              const schema = resolve<Response>(response).content?.["application/json"]?.schema;
              return schema === undefined ? [] : [[Number(status), schema] as const];
            }),
          ),
        })),
    );
}

/** Makes requests of operations: right ones, ones that are wrong in one place, and bytes that are no request at all. */
export class RequestMaker {
  readonly #choose: Choose;
  readonly #document: OpenApi;
  readonly #apiKey: string;
  readonly #operations: readonly Operation[];
  readonly #values: ValueMaker;
  /** Ids of objects that there are, by their prefix. */
  readonly #ids = new Map<string, string[]>();

  constructor(document: OpenApi, apiKey: string, choose: Choose) {
    this.#choose = choose;
    this.#document = document;
    this.#apiKey = apiKey;
    this.#operations = readOperations(document);
    this.#values = new ValueMaker(choose, (ref) => this.#lookUp(ref) as Schema);
  }

  /** Takes notice of the ids in an answer, so that later requests are about objects that there are. */
  learn(answer: string): void {
    for (const [, id = "", prefix = ""] of answer.slice(0, 5000).matchAll(/"id":"(([a-z]+)_[0-9a-z]{10,40})"/g)) {
      const known = this.#ids.get(prefix) ?? [];
      this.#ids.set(prefix, [...known.filter((one) => one !== id), id].slice(-30));
    }
  }

  next(): FuzzRequest {
    const { chance, one } = this.#choose;
    const operation = one(this.#operations);
    const method = chance(0.005) ? one(["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"]) : operation.method;
    const headers: Record<string, string> = { authorization: `Bearer ${this.#apiKey}`, ...this.#makeHeaders(operation) };
    const body = operation.body === null ? undefined : this.#makeBody(operation.body, headers);
    return { operation, method, path: this.#makePath(operation), headers, body };
  }

  #lookUp(ref: string): unknown {
    const [, , room = "", name = ""] = ref.split("/");
    return this.#document.components[room]?.[decodeURIComponent(name)];
  }

  #makePath({ path, parameters }: Operation): string {
    const { chance, one } = this.#choose;
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
      const parameter = parameters.find((candidate) => candidate.in === "path" && candidate.name === name);
      const example = String(parameter?.example ?? "x");
      const known = this.#ids.get(example.split("_")[0] ?? "");
      if (chance(0.05)) return encodeURIComponent(toText(makeHostileValue(this.#choose))).slice(0, 500) || "%20";
      return encodeURIComponent(known !== undefined && chance(0.9) ? one(known) : example);
    });
    const query = parameters
      .filter((parameter) => parameter.in === "query" && chance(0.25))
      .map(({ name, schema, example }) => {
        const value = chance(0.1)
          ? makeHostileValue(this.#choose)
          : chance(0.5) && example !== undefined
            ? example
            : this.#values.make(schema);
        return `${name}=${encodeURIComponent(toText(value)).slice(0, 2000)}`;
      });
    if (chance(0.01)) query.push("unknown=1");
    return query.length === 0 ? filled : `${filled}?${query.join("&")}`;
  }

  #makeHeaders({ parameters }: Operation): Record<string, string> {
    const { chance, integer } = this.#choose;
    if (!parameters.some(({ name }) => name === "Idempotency-Key") || !chance(0.2)) return {};
    return { "idempotency-key": chance(0.05) ? "k".repeat(integer(200, 300)) : `key-${integer(0, 500)}` };
  }

  #makeBody(media: Media, headers: Record<string, string>): Buffer | undefined {
    const { chance, one } = this.#choose;
    headers["content-type"] = chance(0.01)
      ? one(["text/plain", "application/xml", "multipart/form-data", "application/json; charset=utf-16"])
      : "application/json";
    if (chance(0.02)) return one(NO_JSON);
    const examples = Object.values(media.examples ?? {}).map((example) => onThisMachine(example.value ?? this.#exampleAt(example.$ref)));
    const start = examples.length > 0 && chance(0.7) ? one(examples) : this.#values.make(media.schema ?? {});
    let value = this.#withIds(start);
    while (chance(0.35)) value = mutate(value, this.#choose);
    return value === undefined ? undefined : Buffer.from(JSON.stringify(value));
  }

  #exampleAt(ref: string | undefined): unknown {
    return ref === undefined ? {} : (this.#lookUp(ref) as { value?: unknown } | undefined)?.value;
  }

  /** The value with ids of objects that there are in place of those of examples. */
  #withIds(value: unknown): unknown {
    if (typeof value === "string") {
      const known = /^[a-z]+_[0-9a-z]{20,40}$/.test(value) ? this.#ids.get(value.split("_")[0] ?? "") : undefined;
      return known === undefined ? value : this.#choose.one(known);
    }
    if (Array.isArray(value)) return value.map((one) => this.#withIds(one));
    if (typeof value === "object" && value !== null)
      return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, this.#withIds(one)]));
    return value;
  }
}

const NO_JSON = [
  "",
  "{",
  '{"a":1,}',
  "[]",
  "null",
  '"text"',
  "1e400",
  '{"to":1e400}',
  '{"a":1,"a":2}',
  `${"[".repeat(5000)}`,
  "\ufeff{}",
  "{}\0",
]
  .map((text) => Buffer.from(text))
  .concat(Buffer.from([0xff, 0xfe, 0x7b]), Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d]));

function toText(value: unknown): string {
  return typeof value === "string" ? value.toWellFormed() : JSON.stringify(value);
}

/** An example whose addresses of the web lead nowhere but to this machine. */
function onThisMachine(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null).replace(/https?:\/\/[\w.-]+(?::\d+)?/g, "http://127.0.0.1:9"));
}
