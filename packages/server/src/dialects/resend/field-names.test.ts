import { afterAll, beforeAll, expect, test } from "vitest";
import { call, type ResendServer, startResend } from "../../../test/resend-server.ts";
import { FIELD_NAMES } from "./resend.ts";

let server: ResendServer;
let segment: string;
beforeAll(async () => {
  server = await startResend();
  segment = (await server.resend.segments.create({ name: "Readers" })).data?.id ?? "";
});
afterAll(() => server.close());

const long = "x".repeat(2000);
const template = { name: "Welcome", html: "<p>Hi</p>" };
const broadcast = () => ({ segment_id: segment, from: "news@acme.com", subject: "News", html: "<p>Hi</p>" });

const CASES: readonly (readonly [field: string, path: string, body: () => object])[] = [
  ["alias", "/templates", () => ({ ...template, alias: "Not a slug!" })],
  ["subject", "/templates", () => ({ ...template, subject: long })],
  ["html", "/templates", () => ({ ...template, html: "<p>{{#if NAME}}</p>" })],
  ["variables[0].key", "/templates", () => ({ ...template, variables: [{ key: "NO WAY", type: "string" }] })],
  ["subject", "/broadcasts", () => ({ ...broadcast(), subject: long })],
  ["preview_text", "/broadcasts", () => ({ ...broadcast(), preview_text: long })],
  ["segment_id", "/broadcasts", () => ({ ...broadcast(), segment_id: "x".repeat(300) })],
  ["from", "/broadcasts", () => ({ ...broadcast(), from: `${long} <news@acme.com>` })],
  ["html", "/broadcasts", () => ({ ...broadcast(), html: "<p>{{#if plan}}</p>" })],
  ["properties", "/contacts", () => ({ email: "ada@example.com", properties: { [long]: "x" } })],
  ["name", "/domains", () => ({ name: "not a domain" })],
  ["endpoint", "/webhooks", () => ({ endpoint: "nowhere", events: ["email.sent"] })],
  ["event", "/events/send", () => ({ event: "", email: "ada@example.com" })],
];

test.each(CASES)("%s of %s is named as Resend does", async (field, path, body) => {
  const answer = await call(server, "POST", path, body());
  expect([answer.status, answer.body]).toEqual([
    expect.toSatisfy((status) => status >= 400 && status < 500),
    { statusCode: answer.status, name: expect.any(String), message: expect.stringContaining(field) },
  ]);
  const ours = [...FIELD_NAMES.values()].flatMap((names) => Object.keys(names)).filter((name) => /[A-Z]/.test(name));
  expect(ours.filter((name) => JSON.stringify(answer.body).includes(name))).toEqual([]);
});

test("a list that people do not see is a segment, and no topic", async () => {
  const { id } = (await server.resend.topics.create({ name: "Offers", defaultSubscription: "opt_out" })).data ?? {};
  expect((await call(server, "GET", `/topics/${id}`)).status).toBe(200);
  for (const [method, path, body] of [
    ["GET", `/topics/${segment}`, undefined],
    ["PATCH", `/topics/${segment}`, { name: "Mine" }],
    ["DELETE", `/topics/${segment}`, undefined],
    ["POST", "/contacts", { email: "kay@example.com", topics: [{ id: segment, subscription: "opt_in" }] }],
  ] as const)
    expect(await call(server, method, path, body)).toMatchObject({ status: 404, body: { name: "not_found" } });
  expect((await server.resend.segments.get(segment)).data).toMatchObject({ name: "Readers" });
});
