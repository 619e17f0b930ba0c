import { Mailsvc } from "@mailsvc/sdk";
import {
  AGENT_EVENT_TYPES,
  AGENT_SCOPES,
  type Endpoint,
  ERRORS,
  EVENT_TYPES,
  findOtherAt,
  isForAgents,
  NOUNS_BY_TOPIC,
  PERMISSIONS,
  paramNames,
  requiredGrant,
  served,
} from "@mailsvc/sdk/contract";
import { describe, expect, test } from "vitest";
import { buildCall } from "../packages/cli/src/runtime/request.ts";
import { listErrors } from "../packages/server/src/http/openapi.ts";
import { sources } from "./support/sources.ts";

const endpoints = Object.entries(served).flatMap(([noun, verbs]) =>
  Object.entries(verbs).map(([verb, e]): [string, Endpoint] => [`${noun}.${verb}`, e]),
);
const pathsOf = (e: Endpoint): string[] => [e.path, ...(e.aliases ?? [])];

test("no two endpoints answer the same method and path, whatever their parameters are called", () => {
  const routes = endpoints.flatMap(([, e]) => pathsOf(e).map((path) => `${e.method} ${path.replace(/:[A-Za-z]+/g, ":")}`));
  expect(routes.filter((route, i) => routes.indexOf(route) !== i)).toEqual([]);
});

test("an argument that is part of another endpoint's path is known, and refused by the client and by commands", async () => {
  const client = new Mailsvc({ baseUrl: "http://mail.test", apiKey: "ms_live_x", fetch: () => expect.unreachable("it was sent") });
  const methods = client as unknown as Record<string, Record<string, (...args: unknown[]) => Promise<unknown>>>;
  const found: string[] = [];
  for (const [id, endpoint] of endpoints) {
    const own = endpoint.path.split("/");
    for (const [other, { method, ...paths }] of endpoints)
      for (const path of method === endpoint.method && other !== id ? [paths.path, ...(paths.aliases ?? [])] : []) {
        const its = path.split("/");
        const filled = its.map((segment, i) => (segment.startsWith(":") ? (own[i] ?? "") : segment));
        const fits = its.length === own.length && own.every((segment, i) => segment.startsWith(":") || segment === filled[i]);
        if (!fits || filled.every((segment, i) => segment === own[i])) continue;
        const args = own.flatMap((segment, i) => (segment.startsWith(":") ? [filled[i]?.replace(/^:/, "") ?? ""] : []));
        found.push(`${id} ${args.at(-1)}`);
        expect(findOtherAt(endpoint, filled.join("/"))).toBe(other);
        expect(() => buildCall(endpoint, args, {}, undefined)).toThrow(`"${args.at(-1)}" is not a valid <`);
        const [noun = "", verb = ""] = id.split(".");
        await expect(methods[noun]?.[verb]?.(...args)).rejects.toThrow(`lead to another endpoint, ${other}.`);
      }
  }
  expect(found).toContain("templates.send batch");
  expect(found).toContain("events.get stream");
  expect(findOtherAt({ method: "GET", path: "/api/v1/contacts/:id" }, "/api/v1/contacts/con_1")).toBeNull();
});

test("every noun has one topic", () => {
  const advice = "Each noun has one line in NOUNS_BY_TOPIC, in packages/sdk/src/contract/index.ts.";
  const nouns = Object.values(NOUNS_BY_TOPIC).flatMap((topic) => Object.keys(topic));
  expect(nouns.sort(), advice).toEqual(Object.keys(served).sort());
});

/** The texts in quotation marks in the sources of the server. */
const quoted = new Set(
  [...sources]
    .filter(([path]) => path.startsWith("packages/server/src/") && !/\.(test|laws)\.ts$/.test(path))
    .flatMap(([, source]) => source.match(/(?<=")[\w.]+(?=")/g) ?? []),
);

/** Errors of requests that are refused before it is known which endpoint they are for. */
const BEFORE_ENDPOINTS = ["method_not_allowed", "request_timeout", "expectation_failed", "headers_too_large", "not_implemented"];

test("every error code is answered by the server, and named by an endpoint unless it belongs to none", () => {
  const codes = Object.keys(ERRORS) as (keyof typeof ERRORS)[];
  const named = new Set(endpoints.flatMap(([, endpoint]) => listErrors(endpoint)));
  const unnamed = "Name the code in `errors` of the endpoints that answer it.";
  expect(
    codes.filter((code) => !named.has(code)),
    unnamed,
  ).toEqual(BEFORE_ENDPOINTS);
  expect(
    codes.filter((code) => !quoted.has(code)),
    "Answer the code, or delete it.",
  ).toEqual([]);
});

test("every event for agents and developers is one that the server records", () => {
  expect([...AGENT_EVENT_TYPES, ...EVENT_TYPES].filter((type) => !quoted.has(type))).toEqual([]);
});

describe.each(endpoints)("%s", (_id, e) => {
  test("has paths that are well formed, with each parameter once", () => {
    for (const path of pathsOf(e)) {
      expect(path).toMatch(/^(?:\/(?:[A-Za-z0-9_.-]+|:[A-Za-z]+))+$/);
      const names = paramNames(path);
      expect(new Set(names).size).toBe(names.length);
    }
  });

  test("has the same parameters in its path and its aliases", () => {
    for (const alias of e.aliases ?? []) expect(paramNames(alias).sort()).toEqual(paramNames(e.path).sort());
  });

  test("uses no name twice among path, query and body", () => {
    const names = [...paramNames(e.path), ...Object.keys(e.query?.shape ?? {}), ...Object.keys(e.body?.shape ?? {})];
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
  });

  test("takes no body with GET", () => {
    expect(e.method === "GET" && e.body !== undefined).toBe(false);
  });

  test("has a summary of one line, without a full stop", () => {
    expect(e.summary).toMatch(/^[A-Z][^\n]{3,100}[^.\s]$/);
    expect(e.description ?? "x").not.toBe("");
  });

  test("names only errors and permissions that exist, each error once", () => {
    const errors = e.errors ?? [];
    expect(errors.filter((code) => !(code in ERRORS))).toEqual([]);
    expect(new Set(errors).size).toBe(errors.length);
    const needed = requiredGrant(e.access);
    if (needed !== null) expect(isForAgents(e.access) ? AGENT_SCOPES : PERMISSIONS).toContain(needed);
  });

  test("says not_found when it names one thing by its id", () => {
    if (paramNames(e.path).length > 0) expect(e.errors).toEqual(expect.arrayContaining([expect.stringMatching(/not_found$/)]));
    else expect(e.path).not.toContain(":");
  });

  test("has examples that parse, with every path parameter", () => {
    const examples = e.examples ?? [];
    expect(examples.length > 0 || e.body === undefined, "an endpoint with a body needs an example").toBe(true);
    for (const { summary, params = {}, query, body } of examples) {
      expect(summary).not.toBe("");
      expect(Object.keys(params).sort()).toEqual(paramNames(e.path).sort());
      if (e.query) expect(e.query.safeParse(query ?? {}).error, summary).toBeUndefined();
      else expect(query).toBeUndefined();
      if (e.body) expect(e.body.safeParse(body).error, summary).toBeUndefined();
      else expect(body).toBeUndefined();
    }
  });
});
