import { afterAll, beforeAll, expect, test } from "vitest";
import { type ResendServer, startResend } from "../../../test/resend-server.ts";

let server: ResendServer;
beforeAll(async () => {
  server = await startResend();
});
afterAll(() => server.close());

/** The data of an answer of the package. */
function dataOf<T>({ data, error }: { data: T | null; error: unknown }): T {
  expect(error).toBeNull();
  if (data === null) throw new Error("An answer without an error has data.");
  return data;
}

test("the fields of an event have the types that it was defined with, until it is defined otherwise", async () => {
  const { events, contacts } = server.resend;
  dataOf(await contacts.create({ email: "ada@example.com" }));
  const schema = { order: "string", total: "number", first: "boolean", at: "date" } as const;
  const { id } = dataOf(await events.create({ name: "order.paid", schema }));
  const send = async (payload: Record<string, unknown>) => {
    const { error } = await events.send({ event: "order.paid", email: "ada@example.com", payload });
    return error === null ? "sent" : `${error.statusCode} ${error.message}`;
  };
  expect(await send({ order: "1042", total: 49.9, first: true, at: "2026-11-29T10:00:00Z", note: ["anything"] })).toBe("sent");
  expect(await send({})).toBe("sent");
  expect(await send({ total: "49.90" })).toMatch(/^422 payload\.total must be a number/);
  expect(await send({ at: "yesterday" })).toMatch(/^422 payload\.at must be a date/);
  expect(await send({ first: 1 })).toMatch(/^422 payload\.first must be true or false/);
  dataOf(await events.update(id, { schema: null }));
  expect(dataOf(await events.get(id))).toMatchObject({ id, name: "order.paid", schema: null, updated_at: expect.any(String) });
  expect(await send({ total: "49.90" })).toBe("sent");
});

test("definitions are found by name and by id, listed newest first, and there once", async () => {
  const { events } = server.resend;
  const first = dataOf(await events.create({ name: "a.first" })).id;
  const second = dataOf(await events.create({ name: "with a space", schema: { n: "number" } })).id;
  expect(dataOf(await events.get("with a space"))).toMatchObject({ object: "event", id: second, schema: { n: "number" } });
  expect(dataOf(await events.list({ limit: 2 })).data.map(({ id }) => id)).toEqual([second, first]);
  expect(dataOf(await events.list({ limit: 1, after: second })).data).toMatchObject([{ id: first }]);
  expect((await events.create({ name: "a.first" })).error).toMatchObject({ statusCode: 409 });
  expect(dataOf(await events.remove("a.first"))).toMatchObject({ object: "event", id: first, deleted: true });
  expect((await events.remove("a.first")).error).toMatchObject({ statusCode: 404 });
  expect(dataOf(await events.create({ name: "a.first" })).id).not.toBe(first);
});

test("names that Resend keeps for itself, and types that it has not, are refused", async () => {
  const { events } = server.resend;
  expect((await events.create({ name: "resend:sent" })).error).toMatchObject({ statusCode: 422, message: expect.stringContaining("name") });
  expect((await events.create({ name: "" })).error).toMatchObject({ name: "missing_required_field", message: "Missing `name` field." });
  const odd = { name: "odd", schema: { n: "integer" as never } };
  expect((await events.create(odd)).error).toMatchObject({ statusCode: 422, message: expect.stringContaining("schema.n") });
});
