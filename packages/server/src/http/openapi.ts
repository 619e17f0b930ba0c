import {
  COMMON_ERRORS,
  type Contract,
  type Endpoint,
  ERRORS,
  ErrorBody,
  type ErrorCode,
  isForAgents,
  listStatuses,
  NOUN_SUMMARIES,
  paramNames,
  requiredGrant,
  takesOperatorKey,
} from "@mailsvc/sdk/contract";
import { MAX_KEY_LENGTH } from "./idempotency.ts";
import { takesRevision } from "./if-match.ts";
import { createSchemaCollector, type JsonSchema } from "./json-schema.ts";
import {
  createSharedAnswers,
  createSharedResponses,
  describeEvents,
  shareBodies,
  shareParameters,
  shareSuccesses,
  WEBHOOK_PARAMETERS,
  WEBHOOK_RESPONSE,
} from "./openapi-components.ts";

/** The error codes an endpoint may answer, in the order of the error table. */
export function listErrors(e: Endpoint): ErrorCode[] {
  const codes = new Set<ErrorCode>([...COMMON_ERRORS, ...(e.errors ?? [])]);
  if (e.access === "dev") codes.add("dev_only");
  if (needsKey(e)) codes.add("unauthorized").add("key_revoked").add("key_expired");
  // Dev endpoints are forbidden to other machines.
  if (needsKey(e) || e.access === "dev") codes.add("forbidden");
  if (isForAgents(e.access)) codes.add("activation_paused");
  if (isMutating(e)) codes.add("payload_too_large").add("unsupported_media_type");
  if (takesRevision(e)) codes.add("version_mismatch");
  if (takesIdempotencyKey(e)) codes.add("idempotency_key_reused").add("idempotency_in_progress");
  return (Object.keys(ERRORS) as ErrorCode[]).filter((code) => codes.has(code));
}

// Components have short names, because each answer refers to several.
const COMMON_HEADERS = { "X-Request-Id": ref("headers", "id") };
const RATE_HEADERS = {
  "RateLimit-Limit": ref("headers", "limit"),
  "RateLimit-Remaining": ref("headers", "left"),
  "RateLimit-Reset": ref("headers", "reset"),
};

const HEADERS = {
  id: header("Identifies this request in logs and error reports.", "string"),
  limit: header("Requests the key's bucket holds."),
  left: header("Requests left in the bucket."),
  reset: header("Seconds until the bucket is full again."),
  retry: header("Seconds to wait before trying again."),
  replayed: header("`true` when this is the stored answer to an earlier request with the same Idempotency-Key.", "string"),
};

/**
 * Builds the OpenAPI 3.1 document of a contract. Shared parts are components: named schemas, failures, repeated parameters. An alias is a
 * separate path that names its operation in `x-alias-of`; permissions are roles of the security requirement; `Error` is the body of every
 * failure. `recorded` holds answers by operation; those with the same named schema share the first one.
 */
export function buildOpenApi(contract: Contract, recorded: Readonly<Record<string, unknown>> = {}): JsonSchema {
  const { named, convert } = createSchemaCollector();
  convert(ErrorBody, "output");
  const errors = createSharedResponses();
  const answers = createSharedAnswers(recorded);
  const paths: Record<string, JsonSchema> = {};
  for (const [noun, verbs] of Object.entries(contract)) {
    for (const [verb, e] of Object.entries(verbs)) {
      for (const path of [e.path, ...(e.aliases ?? [])]) {
        const item = (paths[path.replace(/:([A-Za-z]+)/g, "{$1}")] ??= {});
        item[e.method.toLowerCase()] = operation(noun, verb, e, path, { convert, errors, answers });
      }
    }
  }
  const parameters = shareParameters(paths);
  const requestBodies = shareBodies(paths);
  const successes = shareSuccesses(paths);
  const webhooks = describeEvents(named, convert);
  return {
    openapi: "3.1.1",
    info: {
      title: "mailsvc",
      version: "1.0.0",
      description: "Transactional email, senders, suppressions and the tools of a development server, over JSON and HTTP.",
      license: { name: "MIT", identifier: "MIT" },
    },
    jsonSchemaDialect: "https://json-schema.org/draft/2020-12/schema",
    servers: [{ url: "/", description: "The server this document came from" }],
    tags: Object.keys(contract).map((name) => ({ name, description: describeNoun(name) })),
    paths,
    webhooks,
    components: {
      securitySchemes: {
        developerKey: { type: "http", scheme: "bearer", bearerFormat: "ms_live_…" },
        operatorKey: { type: "http", scheme: "bearer", bearerFormat: "ms_op_…" },
        agentKey: { type: "http", scheme: "bearer", bearerFormat: "ms_agent_…" },
      },
      parameters: {
        "Idempotency-Key": {
          name: "Idempotency-Key",
          in: "header",
          required: false,
          description: "Makes a retry safe: the same request with the same key gets the answer of the first one.",
          schema: { type: "string", minLength: 1, maxLength: MAX_KEY_LENGTH },
        },
        ...parameters,
        ...WEBHOOK_PARAMETERS,
      },
      requestBodies,
      responses: { ...errors.responses, ...successes, ...WEBHOOK_RESPONSE },
      headers: HEADERS,
      examples: { ...Object.fromEntries(listUsedErrors(contract).map((code) => [code, errorExample(code)])), ...answers.examples },
      schemas: Object.fromEntries(Object.entries(named).sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  };
}

/** The document as it is served, with an example of each answer. They are loaded only for it: no start of a server needs them. */
export async function buildShownOpenApi(contract: Contract): Promise<JsonSchema> {
  const { ANSWERS } = await import("./openapi-answers.generated.ts");
  return buildOpenApi(contract, ANSWERS);
}

function describeNoun(name: string): string | undefined {
  return NOUN_SUMMARIES[name as keyof typeof NOUN_SUMMARIES];
}

/** The codes that some endpoint answers; others, such as method_not_allowed, belong to no operation. */
function listUsedErrors(contract: Contract): ErrorCode[] {
  const used = new Set(Object.values(contract).flatMap((verbs) => Object.values(verbs).flatMap(listErrors)));
  return (Object.keys(ERRORS) as ErrorCode[]).filter((code) => used.has(code));
}

function ref(kind: string, name: string) {
  return { $ref: `#/components/${kind}/${name}` };
}

function needsKey(e: Endpoint): boolean {
  return e.access !== "public" && e.access !== "dev";
}

function getScheme({ access }: Endpoint): "agentKey" | "operatorKey" | "developerKey" {
  if (isForAgents(access)) return "agentKey";
  return access === "operator" ? "operatorKey" : "developerKey";
}

/** The kinds of keys that an operation takes: any one of them. */
function listSecurity(e: Endpoint): Record<string, string[]>[] {
  if (!needsKey(e)) return e.operatorRight === "details" ? [{}, { developerKey: [] }, { operatorKey: [] }] : [];
  return [{ [getScheme(e)]: listGrants(e) }, ...(takesOperatorKey(e) ? [{ operatorKey: [] }] : [])];
}

function listGrants(e: Endpoint): string[] {
  const needed = requiredGrant(e.access);
  return needed === null ? [] : [needed];
}

function isMutating(e: Endpoint): boolean {
  return e.method !== "GET";
}

/** Idempotency keys belong to an API key, so only endpoints that need one take them. */
function takesIdempotencyKey(e: Endpoint): boolean {
  return isMutating(e) && needsKey(e);
}

function listHeaders(e: Endpoint, status: number) {
  return {
    ...COMMON_HEADERS,
    ...(needsKey(e) && status !== 401 ? RATE_HEADERS : {}),
    ...(takesIdempotencyKey(e) && status < 300 ? { "Idempotency-Replayed": ref("headers", "replayed") } : {}),
    ...(status === 429 || status === 503 ? { "Retry-After": ref("headers", "retry") } : {}),
  };
}

/** The failures of an operation by status. Those of the server are one entry: a client does the same about all of them. */
function failures(e: Endpoint, errors: Shared["errors"]) {
  const byStatus = Object.groupBy(listErrors(e), (code) => (ERRORS[code].status < 500 ? String(ERRORS[code].status) : "5XX"));
  return Object.fromEntries(Object.entries(byStatus).map(([status, codes = []]) => [status, errors.share(status, failure(e, codes))]));
}

/** A failure with codes of one status, or of several of the server. */
function failure(e: Endpoint, codes: readonly ErrorCode[]): JsonSchema {
  return {
    description: codes.join(", "),
    headers: Object.assign({}, ...codes.map((code) => listHeaders(e, ERRORS[code].status))),
    content: {
      "application/json": {
        schema: ref("schemas", "Error"),
        examples: Object.fromEntries(codes.map((code) => [code, ref("examples", code)])),
      },
    },
  };
}

function queryParameters(schema: JsonSchema, e: Endpoint) {
  const required = (schema.required ?? []) as string[];
  return Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>).map(([name, { description, ...type }]) => {
    const example = e.examples?.find((x) => x.query?.[name] !== undefined)?.query?.[name];
    return {
      name,
      in: "query",
      ...(required.includes(name) && { required: true }),
      ...(description === undefined ? {} : { description }),
      schema: type,
      ...(example === undefined ? {} : { example: type.type === "boolean" ? example === "true" : example }),
    };
  });
}

function pathParameters(path: string, e: Endpoint) {
  return paramNames(path).map((name) => {
    const example = e.examples?.find((x) => x.params?.[name] !== undefined)?.params?.[name];
    return { name, in: "path", required: true, schema: { type: "string" }, ...(example === undefined ? {} : { example }) };
  });
}

/** The part of the operator in it; empty where there is none. */
function describeRight({ operatorRight }: Endpoint): string {
  if (operatorRight === "call") return "Once the server has several workspaces, needs the operator key instead.";
  if (typeof operatorRight === "object")
    return `With \`${operatorRight.when}\`, needs the operator key instead once the server has several workspaces.`;
  return "";
}

/** The announced end of it; empty where there is none. */
function describeEnd({ deprecated }: Endpoint): string {
  return deprecated === undefined ? "" : `Deprecated since ${deprecated.since}, gone from ${deprecated.sunset}. ${deprecated.instead}`;
}

function description(e: Endpoint): string {
  const who =
    e.access === "dev"
      ? "Development servers only, from the same machine; needs no key."
      : typeof e.access === "object"
        ? `Needs the ${isForAgents(e.access) ? "scope" : "permission"} \`${requiredGrant(e.access)}\`.`
        : e.access === "agent"
          ? "Needs the key of this activation."
          : e.access === "key"
            ? "Needs any live developer key."
            : e.access === "operator"
              ? "Needs the operator key, which the first start of a server prints."
              : "Open to anyone.";
  return [describeEnd(e), e.description, [who, describeRight(e)].filter(Boolean).join(" ")].filter(Boolean).join("\n\n");
}

/** The schema of a body sent as a form, with its file in `file`. */
function formSchema(body: JsonSchema): JsonSchema {
  const { fileName: _name, contentBase64: _content, ...fields } = (body.properties ?? {}) as Record<string, JsonSchema>;
  const required = ((body.required ?? []) as string[]).filter((name) => name in fields);
  return { type: "object", properties: { file: { type: "string", format: "binary" }, ...fields }, required: ["file", ...required] };
}

/** Components that operations share: the schemas by name, and the responses of failures. */
interface Shared {
  convert: ReturnType<typeof createSchemaCollector>["convert"];
  errors: ReturnType<typeof createSharedResponses>;
  answers: ReturnType<typeof createSharedAnswers>;
}

function operation(noun: string, verb: string, e: Endpoint, path: string, { convert, errors, answers }: Shared) {
  const alias = (e.aliases ?? []).indexOf(path as `/${string}`) + 1;
  const suffix = alias === 0 ? "" : alias === 1 ? ".alias" : `.alias${alias}`;
  const parameters = [
    ...pathParameters(path, e),
    ...(e.query ? queryParameters(convert(e.query, "input"), e) : []),
    ...(takesIdempotencyKey(e) ? [ref("parameters", "Idempotency-Key")] : []),
  ];
  const bodies = (e.examples ?? []).filter((x) => x.body !== undefined);
  return {
    operationId: `${noun}.${verb}${suffix}`,
    tags: [noun],
    summary: e.summary,
    ...(e.deprecated && { deprecated: true }),
    description: alias === 0 ? description(e) : `Another path of \`${noun}.${verb}\`.`,
    ...(alias === 0 ? {} : { "x-alias-of": `${noun}.${verb}` }),
    security: listSecurity(e),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(e.body === undefined
      ? {}
      : {
          requestBody: {
            // An empty body counts as {}.
            required: !e.body.safeParse({}).success,
            content: {
              "application/json": {
                schema: convert(e.body, "input"),
                ...(bodies.length === 0
                  ? {}
                  : { examples: Object.fromEntries(bodies.map((x, i) => [`example${i + 1}`, { summary: x.summary, value: x.body }])) }),
              },
              ...(e.form && { "multipart/form-data": { schema: formSchema(convert(e.body, "input")) } }),
            },
          },
        }),
    responses: {
      ...Object.fromEntries(
        listStatuses(e).map((status) => [
          status,
          {
            description: status === 201 ? "Created" : "OK",
            headers: listHeaders(e, status),
            content: showAnswer(`${noun}.${verb}`, e, convert(e.output, "output"), answers),
          },
        ]),
      ),
      ...failures(e, errors),
    },
  };
}

/** The content of an answer: its schema, and an example where one is recorded. */
function showAnswer(id: string, { stream, produces }: Endpoint, schema: JsonSchema, { share }: Shared["answers"]): JsonSchema {
  const mediaType = stream ? "text/event-stream" : (produces ?? "application/json");
  return { [mediaType]: { schema, ...share(id, schema, mediaType) } };
}

function header(text: string, type: "string" | "integer" = "integer") {
  return { description: text, schema: { type } };
}

function errorExample(code: ErrorCode) {
  return {
    value: {
      error: {
        code,
        message: "What went wrong, in a sentence.",
        status: ERRORS[code].status,
        requestId: "req_01jc3v2m9k8q4w6x0y5z7a1b2c",
        details: [],
        hint: ERRORS[code].hint,
      },
    },
  };
}
