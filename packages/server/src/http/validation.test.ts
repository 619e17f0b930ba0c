import { contract, type Endpoint } from "@mailsvc/sdk/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ask, scenarios } from "../../test/scenario.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const endpoints = Object.values(contract).flatMap((group) => Object.values(group) as Endpoint[]);
const reads = endpoints.filter(({ method, access }) => method === "GET" && access !== "public");

describe("an unknown query parameter", () => {
  let world: TestWorld;
  beforeAll(async () => {
    world = await createWorld();
  });
  afterAll(() => world.dispose());

  test.each(reads.map((endpoint): [string, Endpoint] => [endpoint.path, endpoint]))("is refused by GET %s", async (path, { access }) => {
    const key = access === "operator" ? world.app.installation.operatorKey : world.apiKey;
    const response = await ask(world, { method: "GET", key, path: `${path.replace(/:\w+/g, "x")}?xyzzy=1` });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: {
        code: "validation_error",
        message: 'Unknown query parameter "xyzzy".',
        details: [{ path: "xyzzy", code: "unknown_parameter" }],
      },
    });
  });

  test("is ignored by the links in emails, to which mail programs and trackers add parameters", async () => {
    expect((await ask(world, { method: "GET", path: "/healthz?utm_source=x", key: null })).status).toBe(200);
  });
});

scenarios("several faults of one field", [
  {
    name: "a text in place of a list has no size",
    path: "/api/v1/contacts/tags",
    body: { contacts: "ada@example.com", add: ["vip"] },
    status: 400,
    code: "validation_error",
    details: ["contacts invalid_type"],
    contains: ['"message":"contacts must be an array, not a string."'],
  },
]);

scenarios("queries", [
  {
    name: "a misspelt parameter comes with the right name",
    method: "GET",
    path: "/api/v1/emails?stauts=bounced",
    status: 400,
    code: "validation_error",
    details: ["stauts unknown_parameter"],
    contains: ['Unknown query parameter \\"stauts\\". Did you mean status?'],
  },
  {
    name: "a parameter in another case",
    method: "GET",
    path: "/api/v1/emails?LIMIT=1",
    status: 400,
    code: "validation_error",
    details: ["LIMIT unknown_parameter"],
    contains: ["Did you mean limit?"],
  },
  {
    name: "a name of the prototype",
    method: "GET",
    path: "/api/v1/emails?constructor=1&__proto__=2",
    status: 400,
    code: "validation_error",
    details: ["constructor unknown_parameter", "__proto__ unknown_parameter"],
  },
  {
    name: "a parameter twice",
    method: "GET",
    path: "/api/v1/emails?limit=1&limit=2",
    status: 400,
    code: "validation_error",
    details: ["limit duplicate"],
  },
  {
    name: "a query on a write",
    path: "/api/v1/send?dryRun=true",
    body: { from: "a@acme.test", to: "ada@example.com", subject: "x", text: "x" },
    status: 400,
    code: "validation_error",
    details: ["dryRun unknown_parameter"],
  },
  {
    name: "a misspelt field of a body comes with the right name",
    path: "/api/v1/send",
    body: { from: "a@acme.test", to: "ada@example.com", subjcet: "x", subject: "x", text: "x" },
    status: 400,
    code: "validation_error",
    details: ["subjcet unknown_field"],
    contains: ["Did you mean subject?"],
  },
  {
    name: "a number beyond all bounds in a custom field",
    path: "/api/v1/contacts",
    body: '{"email":"ada@example.com","customFields":{"v":1e400}}',
    status: 400,
    code: "validation_error",
    details: ["customFields.v out_of_range"],
  },
  {
    name: "a number beyond all bounds in a variable",
    path: "/api/v1/send",
    body: '{"from":"a@acme.test","to":"ada@example.com","templateSlug":"x","variables":{"v":-1e400}}',
    status: 400,
    code: "validation_error",
    details: ["variables.v out_of_range"],
  },
  {
    name: "U+0000 in a custom field is named for what it is",
    path: "/api/v1/contacts",
    body: { email: "ada@example.com", customFields: { v: "a\0b" } },
    status: 400,
    code: "validation_error",
    details: ["customFields.v invalid_characters"],
    contains: ["U+0000"],
  },
]);
