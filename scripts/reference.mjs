// The API reference, docs/reference.md and docs/reference/, generated from the OpenAPI document.
import { anchorOf } from "./anchor.mjs";
import answers from "./answers.json" with { type: "json" };
import { callExamples } from "./call-examples.mjs";

/** Returns the part of the document that a reference names; anything else as it is. */
export const deref = (document, schema) =>
  schema?.$ref
    ? schema.$ref
        .slice(2)
        .split("/")
        .reduce((node, key) => node[key], document)
    : (schema ?? {});

/** An operation with its body and responses in place of references to shared ones. */
const withResponses = (document, operation) => ({
  ...operation,
  ...(operation.requestBody && { requestBody: deref(document, operation.requestBody) }),
  responses: Object.fromEntries(Object.entries(operation.responses).map(([status, response]) => [status, deref(document, response)])),
});

const nameOf = (ref) => ref.split("/").at(-1);
const cell = (text) =>
  String(text ?? "")
    .replaceAll("|", "\\|")
    .replaceAll("<", "&lt;")
    .replaceAll("\n", " ");
const row = (...cells) => `| ${cells.map(cell).join(" | ")} |`;
const table = (head, rows) => [row(...head), row(...head.map(() => "---")), ...rows.map((r) => row(...r)), ""];

/** A JSON Schema's type in a few characters. */
const typeOf = (schema) => {
  if (schema.$ref) return `[${nameOf(schema.$ref)}](objects.md#${anchorOf(nameOf(schema.$ref))})`;
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum) return schema.enum.map((value) => `\`${value}\``).join(", ");
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(" or ");
  if (schema.type === "array") return `${typeOf(schema.items ?? {})}[]`;
  if (schema.format === "date-time") return "date-time";
  if (schema.type === "object" && schema.properties) return `object { ${Object.keys(schema.properties).join(", ")} }`;
  if (Array.isArray(schema.type)) return schema.type.join(" or ");
  return schema.type ?? "any";
};

/** The constraints of a value beyond its type, unless its description already states them. */
const limitsOf = (schema) => {
  const said = (n) => schema.description?.includes(String(n)) || schema.description?.includes(Number(n).toLocaleString("en"));
  const limit = (n, text) => n !== undefined && !said(n) && text;
  return [
    schema.minLength > 1 && limit(schema.minLength, `at least ${schema.minLength} characters`),
    limit(schema.maxLength, `at most ${schema.maxLength} characters`),
    limit(schema.minimum, `from ${schema.minimum}`),
    limit(schema.exclusiveMinimum, `above ${schema.exclusiveMinimum}`),
    limit(schema.maximum, `up to ${schema.maximum}`),
    limit(schema.maxItems, `at most ${schema.maxItems}`),
    schema.default !== undefined && `default \`${JSON.stringify(schema.default)}\``,
  ]
    .filter(Boolean)
    .join(", ");
};

const sentence = (...parts) => {
  const text = parts
    .filter(Boolean)
    .map((part) => part.replace(/\.$/, ""))
    .join("; ");
  return text === "" ? "" : `${text[0].toUpperCase()}${text.slice(1)}.`;
};

const fieldRows = (schema) =>
  Object.entries(schema.properties ?? {}).map(([name, field]) => [
    `\`${name}\``,
    typeOf(field),
    schema.required?.includes(name) ? "yes" : "",
    sentence(field.description, limitsOf(field)),
  ]);

/** The fields of an object; of each kind, when it is one of several. */
const objectLines = (schema) => {
  if (schema.discriminator) return [`One of ${schema.oneOf.map(typeOf).join(", ")}.`, ""];
  if (schema.allOf) {
    const [base, own] = schema.allOf;
    const { type, data } = own.properties;
    const fields =
      Object.keys(data.properties ?? {}).length === 0 ? ["Its `data` is empty.", ""] : ["Its `data`:", "", ...objectLines(data)];
    return [`${typeOf(base)} with the type ${typeOf(type)}.`, "", ...fields];
  }
  const kinds = schema.anyOf ?? schema.oneOf ?? [schema];
  return kinds.flatMap((kind, i) => [
    ...(i === 0 ? [] : ["or", ""]),
    ...(kind.properties ? table(["Field", "Type", "Required", "Meaning"], fieldRows(kind)) : [`${typeOf(kind)}`, ""]),
  ]);
};

const outputLines = (schema) => {
  const shapes = schema.anyOf ?? [schema];
  return shapes.flatMap((shape) => {
    if (shape.$ref) return [`Answers ${typeOf(shape)}.`, ""];
    if (shape.type !== "object" || !shape.properties) return [`Answers ${typeOf(shape)}.`, ""];
    return ["Answers:", "", ...table(["Field", "Type", "Required", "Meaning"], fieldRows(shape))];
  });
};

/** Formats the recorded answer of an endpoint. */
const answerLines = (id) => (id in answers ? ["```json", JSON.stringify(answers[id], null, 2), "```", ""] : []);

const operationLines = (document, method, path, operation, aliases, endpoint) => {
  const parameters = (operation.parameters ?? []).map((p) => deref(document, p));
  const rows = parameters.map((p) => [
    `\`${p.name}\``,
    p.in,
    typeOf(p.schema),
    p.required ? "yes" : "",
    sentence(p.description, limitsOf({ ...p.schema, description: p.description })),
  ]);
  const body = deref(document, operation.requestBody?.content["application/json"].schema);
  const successes = Object.entries(operation.responses).filter(([code]) => code < "300");
  const status = successes.map(([code]) => code).join(" or ");
  const [, success] = successes[0];
  const [media, { schema }] = Object.entries(success.content)[0];
  const errors = Object.entries(operation.responses)
    .filter(([code]) => code >= "300")
    .map(([code, { description }]) => [
      code,
      description
        .split(", ")
        .map((c) => `[\`${c}\`](errors.md#${c})`)
        .join(", "),
    ]);
  return [
    `## ${operation.operationId}`,
    "",
    `${operation.summary}.`,
    "",
    "```http",
    `${method.toUpperCase()} ${path}`,
    ...aliases.map((alias) => `${method.toUpperCase()} ${alias}`),
    "```",
    "",
    operation.description,
    "",
    ...callExamples(operation.operationId, endpoint),
    ...(rows.length > 0 ? table(["Parameter", "In", "Type", "Required", "Meaning"], rows) : []),
    ...(operation.requestBody ? ["Body:", "", ...table(["Field", "Type", "Required", "Meaning"], fieldRows(body))] : []),
    `Status ${status}${media === "application/json" ? "" : `, \`${media}\``}. ${outputLines(schema).join("\n")}`,
    ...answerLines(operation.operationId),
    "Errors:",
    "",
    ...table(["Status", "Codes"], errors),
  ];
};

const toPage = (lines) =>
  `${lines
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .trimEnd()}\n`;

/** The file of a noun's page: `agent.landingPages` -> `agent-landing-pages.md`. */
export const fileOf = (tag) => `${tag.replaceAll(".", "-").replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.md`;

/**
 * Returns the pages by path: the index, one page for each noun, and one each for objects, errors and limits. `served` are the
 * endpoints, `topics` their nouns, each with a line about it, `errors` the contract's table, `limits` and `lintRules` the texts of those pages.
 */
export const reference = (document, { served, topics, errors, limits, lintRules }) => {
  const endpointOf = (id) => served[id.slice(0, id.lastIndexOf("."))][id.slice(id.lastIndexOf(".") + 1)];
  const all = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation: withResponses(document, operation) })),
  );
  const aliasesOf = (id) => all.filter(({ operation }) => operation["x-alias-of"] === id).map(({ path }) => path);
  const own = all.filter(({ operation }) => operation["x-alias-of"] === undefined);
  const operationsOf = (tag) => own.filter(({ operation }) => operation.tags[0] === tag);
  const index = toPage([
    "# API reference",
    "",
    "Every endpoint, by the noun it is about, with a call by curl, by the [SDK](../packages/sdk/README.md) and on the",
    "[command line](cli.md). The same as OpenAPI: [openapi.json](../openapi.json).",
    "",
    "- **Address.** Paths begin after the address of the server, here `MAILSVC_URL`. Bodies and responses are JSON.",
    "- **Key.** `Authorization: Bearer …` with the key of a workspace, here `MAILSVC_API_KEY`. Endpoints that begin with `agent.` take the key of an activation; `client` and `agent` in the examples are a `Mailsvc` and an `AgentClient` of the SDK.",
    "- **Repeating.** A write with an `Idempotency-Key` takes effect once: [idempotency](emails.md#idempotency).",
    "- **Lists** come in pages. Continue with `cursor`, from `pagination.nextCursor` of the last response.",
    "- **Compression**. Lists and reports above 1 kB come in brotli or gzip to clients that send `Accept-Encoding`, as the SDK does. Answers that may hold a secret, such as a mail, never do.",
    "- **Errors** all have one shape, and each code has one status: [errors](reference/errors.md).",
    "",
    ...Object.entries(topics).flatMap(([topic, nouns]) => [
      `## ${topic}`,
      "",
      ...Object.entries(nouns).map(([name, summary]) => {
        const links = operationsOf(name).map(
          ({ operation: { operationId: id } }) => `[${id.slice(name.length + 1)}](reference/${fileOf(name)}#${anchorOf(id)})`,
        );
        return `- **[${name}](reference/${fileOf(name)})**, ${summary.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase())}: ${links.join(", ")}`;
      }),
      "",
    ]),
    "## For all",
    "",
    "- [Errors](reference/errors.md): every code, its cause and what to do",
    "- [Limits](reference/limits.md): sizes, counts, rates and times",
    "- [Rules of lint](reference/lint-rules.md): what is checked in a mail",
    "- [Objects](reference/objects.md): what responses consist of",
    "- [Where each operation is found](reference/parity.md): SDK, command line, guides, tools of MCP clients",
    "",
  ]);
  const nouns = document.tags.map(({ name, description }) => [
    `docs/reference/${fileOf(name)}`,
    toPage([
      `# ${name}`,
      "",
      ...(description ? [`${description}.`, ""] : []),
      "[All nouns](../reference.md)",
      "",
      ...operationsOf(name).flatMap(({ path, method, operation }) =>
        operationLines(document, method, path, operation, aliasesOf(operation.operationId), endpointOf(operation.operationId)),
      ),
    ]),
  ]);
  const objects = toPage([
    "# Objects",
    "",
    ...Object.entries(document.components.schemas).flatMap(([name, schema]) => [`## ${name}`, "", ...objectLines(schema)]),
  ]);
  return {
    "docs/reference.md": index,
    ...Object.fromEntries(nouns),
    "docs/reference/objects.md": objects,
    "docs/reference/errors.md": errorsPage(errors, own),
    "docs/reference/limits.md": limits,
    "docs/reference/lint-rules.md": lintRules,
  };
};

/** Every error code under its own heading, with its status, its cause, what to do, and the endpoints that name it. */
const errorsPage = (errors, operations) => {
  const usersOf = (code) => {
    const ids = operations
      .filter(({ operation }) => Object.values(operation.responses).some(({ description }) => description.split(", ").includes(code)))
      .map(({ operation }) => operation);
    if (ids.length > 12) return `${ids.length} of ${operations.length} endpoints`;
    return ids.map(({ operationId: id, tags: [tag] }) => `[${id}](${fileOf(tag)}#${anchorOf(id)})`).join(", ");
  };
  return toPage([
    "# Errors",
    "",
    "Every response that is not 2xx has the body [Error](objects.md#error). Programs decide by `code`, which is stable and always has the",
    "same status; `message` is for people and may change. `hint` says what to do, often more exactly than this page. `details` names",
    "the invalid fields, all at once. `requestId` is in the server's log.",
    "",
    "Retry 408, 429, 500 and 503 after the seconds in `Retry-After`, or with growing waits, with the same `Idempotency-Key`. The SDK does",
    "so by itself. Every other error is final: the same request gets the same answer. `mailsvc errors` lists the codes in a terminal.",
    "",
    ...Object.entries(errors).flatMap(([code, { status, cause, hint }]) => {
      const users = usersOf(code);
      const facts = { Status: String(status), Cause: cause, "What to do": hint, "Answered by": users };
      const lines = Object.entries(facts).filter(([, fact]) => fact !== "");
      return [`## ${code}`, "", ...lines.map(([name, fact]) => `- **${name}:** ${fact.replaceAll("<", "&lt;")}`), ""];
    }),
  ]);
};
