import { gunzipSync } from "node:zlib";
import { AGENT_EVENT_TYPES, agentContract, contract, type Endpoint, EVENT_TYPES, EventData, served } from "@mailsvc/sdk/contract";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { createWorld } from "../testing.ts";
import { createSchemaCollector } from "./json-schema.ts";
import { buildOpenApi, listErrors } from "./openapi.ts";
import { ANSWERS } from "./openapi-answers.generated.ts";

type Json = Record<string, unknown>;
const document = buildOpenApi(served, ANSWERS) as Json & {
  paths: Record<string, Record<string, Json>>;
  webhooks: Record<string, Record<string, Json>>;
  components: Record<string, Record<string, Json>>;
};
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
);
const endpoints = Object.entries(served).flatMap(([noun, verbs]) =>
  Object.entries(verbs).map(([verb, e]) => ({ id: `${noun}.${verb}`, e })),
);
const braces = (path: string) => path.replace(/:([A-Za-z]+)/g, "{$1}");

const refs = (value: unknown): string[] => {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => (key === "$ref" ? [inner as string] : refs(inner)));
};
const follow = (ref: string): unknown =>
  ref
    .slice(2)
    .split("/")
    .reduce<unknown>((node, key) => (node as Json | undefined)?.[key], document);

describe("the document", () => {
  test("holds every endpoint of the contract under its path and each alias", () => {
    for (const { id, e } of endpoints) {
      expect(document.paths[e.path.replace(/:([A-Za-z]+)/g, "{$1}")]?.[e.method.toLowerCase()], id).toMatchObject({ operationId: id });
      for (const alias of e.aliases ?? []) {
        expect(document.paths[braces(alias)]?.[e.method.toLowerCase()], alias).toMatchObject({ "x-alias-of": id });
      }
    }
    const expected = endpoints.reduce((sum, { e }) => sum + 1 + (e.aliases?.length ?? 0), 0);
    expect(operations).toHaveLength(expected);
  });

  test("has no dangling references", () => {
    const all = refs(document);
    expect(all.length).toBeGreaterThan(100);
    expect(all.filter((ref) => !ref.startsWith("#/") || follow(ref) === undefined)).toEqual([]);
  });

  test("gives every operation its own id", () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("declares each path parameter, and no parameter twice", () => {
    for (const { path, operation } of operations) {
      const parameters = ((operation.parameters ?? []) as Json[]).map((p) =>
        p.$ref === undefined ? p : (follow(p.$ref as string) as Json),
      );
      const inPath = parameters.filter((p) => p.in === "path").map((p) => p.name);
      expect(inPath, path).toEqual([...path.matchAll(/\{(\w+)\}/g)].map((m) => m[1]));
      const keys = parameters.map((p) => `${p.in} ${p.name}`);
      expect(new Set(keys).size, path).toBe(keys.length);
    }
  });

  test("uses only the parts of OpenAPI 3.1 that exist", () => {
    const allowed = ["openapi", "info", "jsonSchemaDialect", "servers", "tags", "paths", "webhooks", "components"];
    expect(Object.keys(document)).toEqual(allowed);
    const fields = /^(operationId|tags|summary|description|security|parameters|requestBody|responses|x-.+)$/;
    for (const { operation } of operations) expect(Object.keys(operation).filter((key) => !fields.test(key))).toEqual([]);
    for (const name of Object.keys(document.components.schemas as Json)) expect(name).toMatch(/^[A-Za-z0-9._-]+$/);
  });

  test("requires the key and permission that the contract requires", () => {
    expect(document.paths["/api/v1/send"]?.post).toMatchObject({ security: [{ developerKey: ["transactional:send"] }] });
    expect(document.paths["/api/v1/me"]?.get).toMatchObject({ security: [{ developerKey: [] }] });
    expect(document.paths["/api/agents/activations/{activationId}"]?.get).toMatchObject({ security: [{ agentKey: [] }] });
    expect(document.paths["/healthz"]?.get).toMatchObject({ security: [] });
    expect(document.paths["/__dev/clock"]?.get).toMatchObject({ security: [] });
  });

  test("offers Idempotency-Key for writes with a key, and nowhere else", () => {
    const offering = operations.filter(({ operation }) => refs(operation.parameters).includes("#/components/parameters/Idempotency-Key"));
    expect(offering.map(({ method, path }) => `${method} ${path}`)).toContain("post /api/v1/send");
    for (const { method, path } of offering) {
      expect(method, path).not.toBe("get");
      expect(path).toMatch(/^\/api\//);
    }
  });

  test("groups the error codes of an operation by status", () => {
    const responses = document.paths["/api/v1/send"]?.post?.responses as Record<string, Json>;
    expect(Object.keys(responses)).toEqual(["200", "400", "401", "403", "409", "413", "415", "429", "5XX"]);
    const failure = (status: string) => follow(responses[status]?.$ref as string) as Json;
    expect(failure("5XX").description).toBe("internal_error, queue_failed, storage_unavailable");
    expect(Object.keys(failure("5XX").headers as Json)).toContain("Retry-After");
    expect(Object.keys(failure("429").headers as Json)).toContain("Retry-After");
    const keyless = document.paths["/healthz"]?.get?.responses as Record<string, Json>;
    expect(Object.keys((follow(keyless["429"]?.$ref as string) as Json).headers as Json)).toEqual(["X-Request-Id", "Retry-After"]);
  });

  test("is small: a schema, parameter or failure that operations share is written once", () => {
    expect(JSON.stringify(document).length).toBeLessThan(970_000);
    const failures = operations.flatMap(({ operation }) =>
      Object.entries(operation.responses as Record<string, Json>).filter(([s]) => s >= "300"),
    );
    expect(failures.filter(([, response]) => response.$ref === undefined)).toEqual([]);
    const inline = operations.flatMap(({ operation }) => ((operation.parameters ?? []) as Json[]).filter((p) => p.$ref === undefined));
    const uses = Map.groupBy(inline, (parameter) => JSON.stringify(parameter));
    expect([...uses.values()].filter(({ length }) => length > 2)).toEqual([]);
  });

  test("shows an example of each answer, and it has the fields of the contract", () => {
    const seen = new Map<string, Json>();
    const without: string[] = [];
    for (const { operation } of operations) {
      for (const [status, response] of Object.entries(operation.responses as Record<string, Json>)) {
        const full = response.$ref === undefined ? response : (follow(response.$ref as string) as Json);
        for (const [type, content] of Object.entries((full.content ?? {}) as Record<string, Json>)) {
          const [example] = Object.values((content.examples ?? {}) as Record<string, Json>);
          const shown = example?.$ref === undefined ? content.example : (follow(example.$ref as string) as Json).value;
          if (shown === undefined) without.push(`${operation.operationId} ${status}`);
          else if (type === "application/json" && status < "300") seen.set(operation.operationId as string, shown as Json);
        }
      }
    }
    expect(without).toEqual([]);
    for (const { id, e } of endpoints) if (seen.has(id)) expect(e.output.safeParse(seen.get(id)).error, id).toBeUndefined();
    expect(seen.size).toBeGreaterThan(250);
  });

  test("names the webhook of each event of developers and agents, with a schema that says what its data has", () => {
    expect(Object.keys(document.webhooks).toSorted()).toEqual([...EVENT_TYPES, ...AGENT_EVENT_TYPES].toSorted());
    for (const [type, { post }] of Object.entries(document.webhooks)) {
      const [ref = ""] = refs((post as Json).requestBody);
      expect(JSON.stringify(follow(ref)), type).toContain(`"const":${JSON.stringify(type)}`);
    }
    const { Event } = document.components.schemas as { Event: { oneOf: unknown[]; discriminator: Json } };
    expect(Event.oneOf).toHaveLength(EVENT_TYPES.length);
    for (const type of EVENT_TYPES) {
      const [sample] = (EventData.shape[type].meta()?.examples ?? []) as unknown[];
      expect(EventData.shape[type].strict().safeParse(sample).error, type).toBeUndefined();
    }
  });

  test("describes each tag, and has no unused example", () => {
    expect((document.tags as Json[]).filter(({ description }) => !description)).toEqual([]);
    const used = new Set(refs(document));
    const examples = Object.keys(document.components.examples ?? {}).map((name) => `#/components/examples/${name}`);
    expect(examples.filter((example) => !used.has(example))).toEqual([]);
  });

  test("gives examples of the right type, and every property a type", () => {
    const revoked = ((document.paths["/api/v1/keys"]?.get?.parameters ?? []) as Json[]).find(({ name }) => name === "revoked");
    expect(revoked).toMatchObject({ schema: { type: "boolean" }, example: false });
    expect(document.components.schemas).toMatchObject({
      Brand: { properties: { colors: { properties: { primary: { anyOf: [{ type: "string" }, { type: "null" }] } } } } },
    });
  });

  test("requires a body only where an empty one is refused", () => {
    const bodyOf = (path: string): unknown => {
      const body = document.paths[path]?.post?.requestBody as Json;
      return body.$ref === undefined ? body : follow(body.$ref as string);
    };
    expect(bodyOf("/api/v1/send")).toMatchObject({ required: true });
    expect(bodyOf("/api/v1/templates/{id}/preview")).toMatchObject({ required: false });
  });

  test("dev endpoints may answer 403", () => {
    expect(document.paths["/__dev/clock"]?.get?.responses).toHaveProperty("403");
  });

  test("names requests with their required fields and leaves defaults optional", () => {
    expect(document.components.schemas).toMatchObject({
      SendRequest: { required: ["to", "from", "subject"], additionalProperties: false },
    });
    const create = document.paths["/api/v1/suppressions"]?.post?.requestBody as Json;
    expect(create.$ref === undefined ? create : follow(create.$ref as string)).toMatchObject({
      content: { "application/json": { schema: { required: ["email"] } } },
    });
  });
});

test("an endpoint lists the common errors, those of its access and its own, and no others", () => {
  const live = contract.health.live as Endpoint;
  expect(listErrors(live)).toEqual(["validation_error", "rate_limited", "internal_error", "storage_unavailable"]);
  expect(listErrors(contract.emails.get)).toContain("not_found");
  expect(listErrors(contract.emails.get)).toContain("forbidden");
  expect(listErrors(contract.emails.get)).not.toContain("idempotency_key_reused");
  expect(listErrors(contract.me.get)).toContain("forbidden");
  expect(listErrors(contract.me.get)).not.toContain("activation_paused");
  expect(listErrors(agentContract.self.get)).toContain("activation_paused");
});

describe("named schemas", () => {
  test("are listed once and referred to", () => {
    const { named, convert } = createSchemaCollector();
    const Item = z.object({ a: z.string() }).meta({ id: "Item" });
    expect(convert(Item, "output")).toEqual({ $ref: "#/components/schemas/Item" });
    expect(convert(z.array(Item), "output")).toEqual({ type: "array", items: { $ref: "#/components/schemas/Item" } });
    expect(Object.keys(named)).toEqual(["Item"]);
  });

  test("that differ between input and output get a second name", () => {
    const { named, convert } = createSchemaCollector();
    const Item = z.object({ a: z.string().default("x") }).meta({ id: "Item" });
    convert(Item, "output");
    expect(convert(Item, "input")).toEqual({ $ref: "#/components/schemas/ItemInput" });
    expect(named).toMatchObject({ Item: { required: ["a"] }, ItemInput: { properties: { a: { default: "x" } } } });
  });

  test("that differ under one name are an error", () => {
    const { convert } = createSchemaCollector();
    const item = (type: z.ZodType) => z.object({ a: type }).meta({ id: "Item" });
    convert(item(z.string()), "output");
    convert(item(z.number()), "output");
    expect(() => convert(item(z.boolean()), "output")).toThrow("Two schemas are called ItemOutput.");
  });
});

describe("GET /openapi.json", () => {
  test("is compressed for clients that accept it, and 304 for those that have it", async () => {
    await using world = await createWorld();
    const get = (headers: Record<string, string>): Promise<Response> => world.fetch(`${world.url}/openapi.json`, { headers });
    const plain = await get({ "accept-encoding": "identity" });
    const text = await plain.text();
    const zipped = await get({ "accept-encoding": "br, gzip" });
    expect(zipped.headers.get("content-encoding")).toBe("gzip");
    const bytes = Buffer.from(await zipped.arrayBuffer());
    expect(gunzipSync(bytes).toString()).toBe(text);
    expect(bytes.length).toBeLessThan(text.length / 5);
    expect((await get({ "accept-encoding": "gzip;q=0" })).headers.get("content-encoding")).toBeNull();
    const etag = plain.headers.get("etag") ?? "";
    const again = await get({ "if-none-match": etag });
    expect([again.status, await again.text(), again.headers.get("etag")]).toEqual([304, "", etag]);
  });
});
