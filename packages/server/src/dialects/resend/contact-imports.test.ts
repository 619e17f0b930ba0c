import { afterAll, beforeAll, expect, test } from "vitest";
import { call, type ResendServer, startResend } from "../../../test/resend-server.ts";

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

type Options = Omit<Parameters<ResendServer["resend"]["contacts"]["imports"]["create"]>[0], "file">;

const read = (text: string, options: Options = {}) =>
  server.resend.contacts.imports.create({ file: new Blob([text], { type: "text/csv" }), ...options });

async function countsOf(text: string, options?: Options): Promise<string> {
  const { id } = dataOf(await read(text, options));
  const { status, counts } = dataOf(await server.resend.contacts.imports.get(id));
  expect(status).toBe("completed");
  return Object.entries(counts)
    .map(([name, n]) => `${name} ${n}`)
    .join(", ");
}

const getContact = async (email: string) => dataOf(await server.resend.contacts.get({ email }));

test("columns that a map names become fields and properties, with their types, and others are left out", async () => {
  const file = 'Mail,Given,Plan,Seats,Notes\nmap@example.com,Ada,pro,12,"a, b"\nbad@example.com,Bad,pro,many,\n';
  const columnMap = {
    ...{ email: "Mail", firstName: "Given" },
    properties: { plan: { column: "Plan" }, seats: { column: "Seats", type: "number" as const } },
  };
  expect(await countsOf(file, { columnMap })).toBe("total 2, created 1, updated 0, skipped 0, failed 1");
  expect(await getContact("map@example.com")).toMatchObject({
    first_name: "Ada",
    unsubscribed: false,
    properties: { plan: { value: "pro" }, seats: { type: "number", value: 12 } },
  });
  expect((await server.resend.contacts.get({ email: "bad@example.com" })).error).toMatchObject({ statusCode: 404 });
});

test("without a map, columns are found by their names, and a property is read as it was declared", async () => {
  dataOf(await server.resend.contactProperties.create({ key: "age", type: "number" }));
  expect(await countsOf("email,first_name,last_name,age\nnames@example.com,Grace,Hopper,85\n")).toContain("created 1");
  expect(await getContact("names@example.com")).toMatchObject({
    ...{ first_name: "Grace", last_name: "Hopper" },
    properties: { age: { type: "number", value: 85 } },
  });
});

test("contacts that are there are updated or, if asked, left as they are; those who left stay so", async () => {
  dataOf(await server.resend.contacts.create({ email: "there@example.com", firstName: "Old" }));
  dataOf(await server.resend.contacts.create({ email: "left@example.com", unsubscribed: true }));
  const file = "email,first_name,unsubscribed\nthere@example.com,New,\nleft@example.com,Left,false\nno@example.com,No,true\n";
  expect(await countsOf(file, { onConflict: "skip" })).toBe("total 3, created 1, updated 0, skipped 2, failed 0");
  expect(await getContact("there@example.com")).toMatchObject({ first_name: "Old" });
  expect(await countsOf(file)).toBe("total 3, created 0, updated 3, skipped 0, failed 0");
  expect(await getContact("there@example.com")).toMatchObject({ first_name: "New" });
  expect(await getContact("left@example.com")).toMatchObject({ first_name: "Left", unsubscribed: true });
  expect(await getContact("no@example.com")).toMatchObject({ unsubscribed: true });
});

test("contacts join segments and topics, but not those that are skipped", async () => {
  const { segments, topics, contacts } = server.resend;
  const [one, two] = [dataOf(await segments.create({ name: "One" })).id, dataOf(await segments.create({ name: "Two" })).id];
  const topic = dataOf(await topics.create({ name: "Weekly", defaultSubscription: "opt_out" })).id;
  dataOf(await contacts.create({ email: "skip@example.com" }));
  const rows = Array.from({ length: 1200 }, (_, i) => `many${i}@example.com`);
  const file = `email\n${["skip@example.com", ...rows].join("\n")}\n`;
  const options: Options = { onConflict: "skip", segments: [{ id: one }, { id: two }], topics: [{ id: topic, subscription: "opt_in" }] };
  expect(await countsOf(file, options)).toBe("total 1201, created 1200, updated 0, skipped 1, failed 0");
  for (const email of ["many0@example.com", "many1199@example.com"]) {
    expect(dataOf(await contacts.segments.list({ email })).data.map(({ id }) => id)).toEqual(expect.arrayContaining([one, two]));
    expect(dataOf(await contacts.topics.list({ email })).data).toContainEqual(
      expect.objectContaining({ id: topic, subscription: "opt_in" }),
    );
  }
  expect(dataOf(await contacts.segments.list({ email: "skip@example.com" })).data).toEqual([]);
});

test("imports are listed by their state, newest first, and paged", async () => {
  const { imports } = server.resend.contacts;
  const first = dataOf(await read("email\npage1@example.com\n")).id;
  const second = dataOf(await read("email\npage2@example.com\n")).id;
  expect(dataOf(await imports.list({ limit: 2 })).data.map(({ id }) => id)).toEqual([second, first]);
  expect(dataOf(await imports.list({ limit: 1, after: second })).data.map(({ id }) => id)).toEqual([first]);
  expect(dataOf(await imports.list({ status: "completed", limit: 1 })).data).toMatchObject([{ id: second }]);
  expect(dataOf(await imports.list({ status: "failed" })).data).toEqual([]);
  expect((await imports.get("00000000-0000-4000-8000-000000000000")).error).toMatchObject({ statusCode: 404 });
});

test.each<[string, string, Options, string]>([
  ["without addresses", "name\nAda\n", {}, "column_map.email"],
  ["without rows", "email\n", {}, "no rows"],
  ["with a column that may be about consent", "email,Contact by\na@example.com,unsubscribed\n", {}, "who wants no mail"],
  ["whose map names another column", "email\na@example.com\n", { columnMap: { email: "Mail" } }, 'no column "Mail"'],
  ["of too many rows", `email\n${"a@example.com\n".repeat(5001)}`, {}, "5,001 rows"],
])("a file %s is refused, with a reason, and nothing is stored", async (_what, text, options, reason) => {
  const before = dataOf(await server.resend.contacts.imports.list()).data.length;
  const { error } = await read(text, options);
  expect(error).toMatchObject({ statusCode: 422 });
  expect(error?.message).toContain(reason);
  expect(dataOf(await server.resend.contacts.imports.list()).data).toHaveLength(before);
});

test("a request without a file, and one with a map that is no JSON, are refused by field", async () => {
  expect(await call(server, "POST", "/contacts/imports", {})).toMatchObject({
    status: 422,
    body: { name: "missing_required_field", message: expect.stringContaining("file") },
  });
  const form = new FormData();
  form.set("file", new Blob(["email\na@example.com"]));
  form.set("column_map", "{");
  const init = { method: "POST", headers: { authorization: "Bearer re_1" }, body: form };
  const answer = await fetch(`${server.url}/resend/contacts/imports`, init);
  expect([answer.status, ((await answer.json()) as { message: string }).message]).toEqual([422, expect.stringContaining("column_map")]);
});
