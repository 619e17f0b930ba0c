// Types of the SDK's client, as plain TypeScript without zod: the types of the contract with their documentation, the methods, and the
// table of endpoints from which the methods are built.
import { agentContract, Bytes, contract, NOUN_SUMMARIES, Pagination, paramNames } from "@mailsvc/sdk/contract";
import { z } from "zod";
import { exportedNames, readDeclaredTypes } from "./sdk-declared-types.mjs";
import { commentOf, typeOf } from "./typescript.mjs";

const HEAD = "// Generated from the contract by `npm run generate`.";

/** Types that describe endpoints and schemas themselves: only programs that work with the contract need them, from its own entry. */
const OF_THE_CONTRACT = new Set(["AtLeastOne", "MailsvcContract", "AgentContract", "RuleFields", "StepType", "AgentEventKind"]);

/** @returns {Promise<Record<string, string>>} the files of the SDK with its types: those of the contract, and of the methods */
export async function sdkTypes() {
  const types = createTypes(await readDeclaredTypes());
  const declarations = types.declarations();
  const methods = [
    methodsOf("MailsvcMethods", "The methods of `Mailsvc`, by noun and verb.", contract, [], types),
    methodsOf(
      "AgentMethods",
      "The methods of `AgentClient`, by noun and verb, each for a scope of the key.",
      agentContract,
      ["activationId"],
      types,
    ),
  ].join("\n");
  const used = declarations.filter(
    ({ exported, name }) => exported && new RegExp(`\\b${name}\\b(?!\\??:)`).test(methods.replace(/^ *\/?\*.*$/gm, "")),
  );
  return {
    "packages/sdk/src/types.generated.ts": [
      HEAD,
      'import type { Base64Input } from "./call/binary.ts";',
      "",
      ...declarations.map(({ text }) => text),
    ].join("\n"),
    "packages/sdk/src/methods.generated.ts": [
      HEAD,
      'import type { APIPromise } from "./api-promise.ts";',
      'import type { CallOptions } from "./options.ts";',
      'import type { PagePromise } from "./pagination.ts";',
      `import type { ${used.map(({ name }) => name).join(", ")} } from "./types.generated.ts";`,
      'import type { FileUpload } from "./upload.ts";',
      "",
      methods,
    ].join("\n"),
  };
}

/** @returns {string} the text of packages/sdk/src/endpoints.generated.ts */
export function sdkEndpoints() {
  const table = (name, doc, nouns) => [
    `/** ${doc} */`,
    `export const ${name}: EndpointTable = {`,
    ...Object.entries(nouns).flatMap(([noun, verbs]) => [
      `  ${noun}: \``,
      ...Object.entries(verbs).map(([verb, endpoint]) => `${verb} ${lineOf(factsOf(endpoint))}`),
      "`,",
    ]),
    "};",
    "",
  ];
  return [
    HEAD,
    'import type { EndpointTable } from "./endpoint-facts.ts";',
    "",
    ...table("ENDPOINTS", "The endpoints of `Mailsvc`.", contract),
    ...table("AGENT_ENDPOINTS", "The endpoints of `AgentClient`.", agentContract),
  ].join("\n");
}

/** The facts of an endpoint as `readEndpoints` of the SDK reads them. */
const lineOf = ({ method, path, ...facts }) =>
  [
    method,
    path.replace(/^\/api\/v1\/(?=.)/, ""),
    ...Object.entries(facts).map(([name, value]) => (value === true ? name : `${name}=${JSON.stringify(value)}`)),
  ].join(" ");

/** The facts of an endpoint that a client uses: `EndpointFacts` of the SDK. */
function factsOf({ method, path, access, operatorRight, query, body, file, produces, stream, output, waitSeconds }) {
  const timeout = query?.shape.timeout?.safeParse(undefined);
  const wait = timeout?.success ? timeout.data : waitSeconds;
  return {
    method,
    path,
    ...((access === "public" || access === "dev") && { open: true }),
    ...(access === "public" && operatorRight === "details" && { keyOptional: true }),
    ...(body && { body: true }),
    ...(query && { query: method === "GET" || !body ? true : Object.keys(query.shape) }),
    ...(isPage(output) && { page: true }),
    ...(stream && { stream: true }),
    ...(produces && { produces }),
    ...(output === Bytes && { binary: true }),
    ...(file && { maxFileBytes: file.maxBytes }),
    ...(wait !== undefined && { waitSeconds: wait }),
  };
}

const isPage = (output) => output.shape?.pagination === Pagination;

function methodsOf(name, doc, nouns, bound, types) {
  return [
    ...commentOf(doc),
    `export interface ${name} {`,
    ...Object.entries(nouns).flatMap(([noun, verbs]) => [
      ...(NOUN_SUMMARIES[noun] ? commentOf(NOUN_SUMMARIES[noun], "  ") : []),
      `  readonly ${noun}: {`,
      ...Object.entries(verbs).flatMap(([verb, endpoint]) => {
        const comment = commentOf(documentationOf(endpoint), "    ");
        return signaturesOf(endpoint, bound, types).flatMap((signature) => [...comment, `    ${verb}${signature};`]);
      }),
      "  };",
    ]),
    "}",
    "",
  ].join("\n");
}

function documentationOf({ summary, description, method, path }) {
  return [`${summary}.`, "", ...(description ? [description.replaceAll("\n", " "), ""] : []), `\`${method} ${path}\``].join("\n");
}

/**
 * The signatures of a method: one mail to several recipients returns `recipients`, a send to one recipient `id`, one to an array
 * `ids`; overloads tell them apart by the fields that name recipients.
 */
function signaturesOf(endpoint, bound, types) {
  const params = paramNames(endpoint.path)
    .filter((name) => !bound.includes(name))
    .map((name) => `${name}: string`);
  const input = inputOf(endpoint, types);
  const signature = (narrowed, result) => {
    const type = narrowed === undefined ? input?.type : `${input.type} & ${narrowed}`;
    const args = [...params, ...(input ? [`input${input.optional ? "?" : ""}: ${type}`] : []), "options?: CallOptions"];
    return `(${args.join(", ")}): ${result}`;
  };
  const { output, stream } = endpoint;
  if (stream) return [signature(undefined, `AsyncGenerator<${types.output(output)}, void, undefined>`)];
  if (isPage(output)) return [signature(undefined, `PagePromise<${types.output(output.shape.data.element)}>`)];
  const answer = (type) => `APIPromise<${type}>`;
  const whole = signature(undefined, answer(types.output(output)));
  const options = output._zod.def.type === "union" ? output._zod.def.options : [];
  const [together, single, batch] = ["recipients", "id", "ids"].map((field) => options.findLast(({ shape }) => shape && field in shape));
  if (!single || !batch) return [whole];
  const { cc } = endpoint.body.shape;
  const toEach = (to) => `{ to: ${to}${cc ? "; cc?: undefined; bcc?: undefined; together?: false | undefined" : ""} }`;
  const addresses = "string | string[]";
  return [
    signature(toEach("string"), answer(types.output(single))),
    signature(toEach("string[]"), answer(types.output(batch))),
    ...(cc && together
      ? [signature(`({ cc: ${addresses} } | { bcc: ${addresses} } | { together: true })`, answer(types.output(together)))]
      : []),
    whole,
  ];
}

function inputOf({ query, body, file }, types) {
  if (!query && !body) return null;
  const parts = [
    ...(query ? [{ schema: query, type: types.input(query) }] : []),
    ...(body ? [{ schema: body, type: file ? `FileUpload<${types.input(body)}>` : types.input(body) }] : []),
  ];
  const optional = parts.every(({ schema }) => Object.values(schema.shape).every((field) => field._zod.optin !== undefined));
  return { type: parts.map(({ type }) => type).join(" & "), optional };
}

/** Converts schemas, and collects the named types that they and the sources use. */
function createTypes(declared) {
  const sides = { input: new Map(), output: new Map() };
  const byName = new Map(declared.map((one) => [one.name, one]));
  const convert = (schema, io) => {
    const { properties, $defs = {} } = z.toJSONSchema(z.object({ root: schema }), { io, unrepresentable: "any", override });
    for (const [id, def] of Object.entries($defs)) sides[io].set(id, def);
    return properties.root;
  };
  const names = new Map();
  const nameOf = (io) => (id) => {
    const name = names.get(id) ?? id;
    return io === "input" && differs(id) ? `${name}Input` : name;
  };
  const isWritten = (id) => byName.has(id) && !schemaOf(byName.get(id));
  /** True if a schema of both sides is another type in requests. */
  const differs = (id, seen = new Set()) => {
    const [input, output] = [sides.input.get(id), sides.output.get(id)];
    if (!input || !output || isWritten(id) || seen.has(id)) return false;
    seen.add(id);
    const raw = { nameOf: (inner) => inner };
    if (typeOf(input, { ...INPUT, ...raw }) !== typeOf(output, raw)) return true;
    return [...JSON.stringify(input).matchAll(/"\$ref":"[^"]*?(\w+)"/g)].some(([, inner]) => differs(inner, seen));
  };
  const render = (json, io, indent = "") => typeOf(json, { ...(io === "input" && INPUT), indent, nameOf: nameOf(io) });

  // Everything is converted once before anything is written, because a name depends on all of its uses.
  for (const { query, body, output } of [contract, agentContract].flatMap((nouns) => Object.values(nouns).flatMap(Object.values))) {
    for (const part of [query, body]) if (part) convert(part, "input");
    convert(output, "output");
  }
  const reached = reachedTypes(declared);
  const derived = [...reached].map((name) => byName.get(name)).filter(schemaOf);
  for (const one of derived) {
    const { schema, io } = schemaOf(one);
    const id = schema.meta()?.id;
    if (id === undefined || !(sides.input.has(id) || sides.output.has(id))) convert(schema, io);
    if (id !== undefined) names.set(id, one.name);
  }
  const text = (schema, io, indent) => render(convert(schema, io), io, indent);
  const own = (schema, io) => {
    const id = schema.meta()?.id;
    return render(id === undefined ? convert(schema, io) : sides[io].get(id), io);
  };

  return {
    input: (schema) => text(schema, "input", "    "),
    output: (schema) => text(schema, "output", "    "),
    declarations() {
      const found = new Map();
      for (const io of ["output", "input"])
        for (const [id, json] of sides[io]) {
          const name = nameOf(io)(id);
          const one = byName.get(name);
          const doc = one?.doc || (json.description ? `/** ${json.description} */\n` : "");
          if (!isWritten(id) && !found.has(name)) found.set(name, declaration(name, doc, render(json, io), one && schemaOf(one).extra));
        }
      for (const name of reached) {
        const one = byName.get(name);
        const derivedFrom = schemaOf(one);
        if (found.has(name)) continue;
        if (derivedFrom) found.set(name, declaration(name, one.doc, own(derivedFrom.schema, derivedFrom.io), derivedFrom.extra));
        else found.set(name, `${one.doc}${one.exported ? "export " : ""}${one.head} ${resolve(one, own)}\n`);
      }
      return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, text]) => ({ name, text, exported: /^export /m.test(text) }));
    },
  };
}

const INPUT = { instant: "string | Date", base64: "Base64Input" };

/** A `z.stringbool()` is true and false for a caller, and free data holds values of JSON. */
function override({ zodSchema: { _zod }, jsonSchema }) {
  const { type, in: from, out } = _zod.def;
  if (jsonSchema.format === "binary") Object.assign(jsonSchema, { tsType: "Uint8Array" });
  if (type !== "pipe") return;
  if (out._zod.def.type === "boolean" && from._zod.def.type === "string") Object.assign(jsonSchema, { type: "boolean" });
  if (out._zod.def.type === "record" && from._zod.def.type === "custom")
    Object.assign(jsonSchema, { tsType: "Record<string, CustomValue>" });
}

function declaration(name, doc, type, extra = "") {
  const isObject = extra === "" && /^\{\n(?: .*\n)*\}$/.test(type);
  return isObject ? `${doc}export interface ${name} ${type}\n` : `${doc}export type ${name} = ${type}${extra};\n`;
}

/** The schema whose type a declaration is, and the rest of an intersection with it; null for other types. */
function schemaOf({ text, module }) {
  const [, kind, name, extra] = /^= z\.(infer|input|output)<typeof (\w+)>( & \([^()]+\))?;$/.exec(text) ?? [];
  return name === undefined ? null : { schema: valueIn(module, name), io: kind === "input" ? "input" : "output", extra };
}

function valueIn(module, name) {
  if (!(name in module)) throw new Error(`${name} is not exported, so that its type cannot be resolved.`);
  return module[name];
}

/** The names of all types that a client's user can import, and of those that they need. */
function reachedTypes(declared) {
  const files = exportedNames();
  const byName = new Map(declared.map((one) => [one.name, one]));
  const reached = new Set();
  const visit = (one) => {
    if (reached.has(one.name)) return;
    reached.add(one.name);
    if (schemaOf(one)) return;
    for (const [word] of one.text
      .replace(/typeof \w+|\/\*\*[\s\S]*?\*\//g, "")
      .concat(one.head)
      .matchAll(/\b[A-Z]\w+/g)) {
      const other = declared.find(({ name, file }) => name === word && file === one.file) ?? byName.get(word);
      if (other) visit(other);
    }
  };
  for (const one of declared) {
    if (!one.exported || one.file === "endpoint.ts" || one.file === "zod.ts" || OF_THE_CONTRACT.has(one.name)) continue;
    const names = files.get(one.file);
    if (names === null || names?.has(one.name)) visit(one);
  }
  return reached;
}

/** A type as its source declares it, with what it reads from values written out. */
function resolve({ name, text, module }, own) {
  const union = (values) => [...new Set(values)].map((value) => JSON.stringify(value)).join(" | ");
  const resolved = text
    .replace(/z\.(infer|input|output)<typeof (\w+)>/g, (_, kind, schema) =>
      own(valueIn(module, schema), kind === "input" ? "input" : "output"),
    )
    .replace(/keyof typeof (\w+)/g, (_, value) => union(Object.keys(valueIn(module, value))))
    .replace(/\(typeof (\w+)\)\[\w+\]\[number\]/g, (_, value) => `(${union(Object.values(valueIn(module, value)).flat())})`)
    .replace(/\(typeof (\w+)\)\[number\]/g, (_, value) => `(${union(valueIn(module, value))})`)
    .replace(/^= \(([^()]*)\);$/, "= $1;");
  if (/\btypeof\b|\bz\./.test(resolved)) throw new Error(`The type ${name} cannot be written without the contract: ${resolved}`);
  return resolved;
}
