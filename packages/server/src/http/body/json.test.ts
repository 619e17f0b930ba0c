import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { wire } from "../../../test/wire.ts";
import { MAX_JSON_VALUES, parseJson } from "./json.ts";
import { readNodeBody } from "./read.ts";

test.each([
  ["before its body was whole", "abc"],
  ["after its body was whole", "abcdef"],
])("a request that waited, and whose connection broke %s, is refused when its turn comes", async (_when, sent) => {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  try {
    const arrived = once(server, "request") as Promise<[IncomingMessage]>;
    const line = await wire(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    line.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\n${sent}`);
    const [request] = await arrived;
    const closed = once(request, "close");
    line.cut();
    await closed.catch(() => {});
    await expect(readNodeBody(request, 100)).rejects.toMatchObject({ code: "validation_error", status: 400 });
  } finally {
    server.close();
  }
});

test("a connection that breaks within a body that is being read refuses that request, and is no fault of ours", async () => {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  try {
    const arrived = once(server, "request") as Promise<[IncomingMessage]>;
    const line = await wire(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    line.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\nabc");
    const [request] = await arrived;
    const read = readNodeBody(request, 100);
    await once(request, "data");
    line.cut();
    await expect(read).rejects.toMatchObject({ code: "validation_error", status: 400 });
  } finally {
    server.close();
  }
});

test.each([
  ['{"tags":{"a":"b","__proto__":"x"}}', "tags.__proto__"],
  ['{"list":[1,{"\\u005f_proto__":null}]}', "list[1].__proto__"],
])("a field that would be dropped without a word is refused by name: %s", (text, path) => {
  expect(() => parseJson(Buffer.from(text))).toThrow(
    expect.objectContaining({ status: 400, details: [{ path, code: "invalid_key", message: expect.any(String) }] }),
  );
});

test("a text may say what no field is called", () => {
  expect(parseJson(Buffer.from('{"text":"about __proto__ and \\u005f"}'))).toEqual({ text: "about __proto__ and _" });
});

test.each([
  ['{"v":1e400}', "v"],
  ['{"customFields":{"a":[1,{"b":-1e999}]}}', "customFields.a[1].b"],
])("a number beyond the range of a double is refused by name: %s", (text, path) => {
  expect(() => parseJson(Buffer.from(text))).toThrow(
    expect.objectContaining({ status: 400, details: [{ path, code: "out_of_range", message: expect.stringContaining(path) }] }),
  );
});

test("the largest number is taken", () => {
  expect(parseJson(Buffer.from('{"v":1.7976931348623157e308}'))).toEqual({ v: Number.MAX_VALUE });
});

test("an object with more fields than any request needs is refused before it is validated", () => {
  const fields = Object.fromEntries(Array.from({ length: 10_001 }, (_, i) => [`t${i}`, 1]));
  expect(() => parseJson(Buffer.from(JSON.stringify({ tags: fields })))).toThrow(
    expect.objectContaining({
      status: 400,
      details: [{ path: "tags", code: "too_many_fields", message: "tags has more than 10000 fields." }],
    }),
  );
  delete fields.t0;
  expect(parseJson(Buffer.from(JSON.stringify({ tags: fields })))).toEqual({ tags: fields });
});

test.each([
  ["fields of one object", `{${Array.from({ length: MAX_JSON_VALUES + 1 }, (_, i) => `"k${i}":1`).join()}}`],
  ["items of a list", `{"tags":[${"1,".repeat(MAX_JSON_VALUES)}1]}`],
  ["empty objects", `{"tags":[${"{},".repeat(MAX_JSON_VALUES / 2)}{}]}`],
])("more %s than any request needs are refused before they are parsed", (_what, text) => {
  // Without its end it is no JSON: who parses it first says that.
  expect(() => parseJson(Buffer.from(text.slice(0, -1)))).toThrow(
    expect.objectContaining({
      status: 400,
      details: [{ path: "", code: "too_many_values", message: expect.stringContaining(`more than ${MAX_JSON_VALUES}`) }],
    }),
  );
});

test("commas and brackets inside a text are no values", () => {
  const text = ",[{".repeat(MAX_JSON_VALUES);
  expect(parseJson(Buffer.from(JSON.stringify({ text })))).toEqual({ text });
});

test("an integer that a double cannot hold is refused, wherever it stands, and nothing that it can hold", () => {
  const parse = (text: string) => parseJson(Buffer.from(text));
  for (const number of ["9007199254740993", "-9007199254740993", "12345678901234567891", "100000000000000000001"])
    expect(() => parse(`{"customFields": {"a": ["9007199254740993", 1], "id": ${number}}}`)).toThrow(
      /customFields\.id is a number that would be/,
    );
  for (const number of [
    "9007199254740991",
    "9007199254740992",
    "1e21",
    "1.5e300",
    "-0",
    "0.1",
    "10000000000000000000000",
    "9007199254740993.5",
  ])
    expect(parse(`{"a": ${number}}`)).toEqual({ a: Number(number) });
  expect(parse('{"a": "9007199254740993", "b\\"9007199254740993": 9007199254740992}')).toMatchObject({ a: "9007199254740993" });
});
