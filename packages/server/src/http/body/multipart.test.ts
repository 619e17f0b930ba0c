import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readMultipart } from "./form.ts";

const TYPE = "multipart/form-data; boundary=b";

/** A body of these lines, the last one closed as well. */
const lines = (...all: string[]): Buffer => Buffer.from(all.map((line) => `${line}\r\n`).join(""));

const read = (body: Uint8Array, type = TYPE) =>
  readMultipart(type, body).map((part) => ({ ...part, bytes: part.bytes.toString("latin1") }));

const field = (disposition: string, ...more: string[]): Buffer =>
  lines("--b", `Content-Disposition: ${disposition}`, ...more, "", "x", "--b--");

describe("what clients write", () => {
  const CLIENTS: [client: string, body: Buffer, type: string, part: object][] = [
    ["a browser", field('form-data; name="file"; filename="a.pdf"', "Content-Type: application/pdf"), TYPE, { fileName: "a.pdf" }],
    ["requests, which names no type", field('form-data; name="file"; filename="a.pdf"'), TYPE, { fileName: "a.pdf", type: "" }],
    [".NET, without quotes", field("form-data; name=file; filename=a.pdf; filename*=utf-8''%C3%A4.pdf"), TYPE, { fileName: "ä.pdf" }],
    [".NET, with a boundary in quotes", field('form-data; name="file"; filename="a.pdf"'), 'multipart/form-data; boundary="b"', {}],
    [
      "Java, with a length and an encoding",
      field('form-data; name="file"; filename="a.pdf"', "Content-Length: 1", "Content-Transfer-Encoding: binary"),
      TYPE,
      {},
    ],
    ["names in small letters", lines("--b", 'content-disposition:form-data;name="file";filename="a.pdf"', "", "x", "--b--"), TYPE, {}],
    ["a whole path of Windows", field('form-data; name="file"; filename="C:\\dir\\a.pdf"'), TYPE, { fileName: "C:\\dir\\a.pdf" }],
    ["a path that ends with a backslash", field('form-data; name="file"; filename="C:\\"'), TYPE, { fileName: "C:\\" }],
    ["an older curl, with a quote", field('form-data; name="file"; filename="a\\"b.pdf"'), TYPE, { fileName: 'a"b.pdf' }],
    [
      "a browser, with a quote and a line break",
      field('form-data; name="file"; filename="a%22b%0D%0A.pdf"'),
      TYPE,
      { fileName: 'a"b\r\n.pdf' },
    ],
    ["a name in UTF-8", field('form-data; name="file"; filename="für 😀.pdf"'), TYPE, { fileName: "für 😀.pdf" }],
    ["a preamble", Buffer.concat([Buffer.from("hello\r\n"), field('form-data; name="file"; filename="a.pdf"')]), TYPE, {}],
    ["an epilogue", Buffer.concat([field('form-data; name="file"; filename="a.pdf"'), Buffer.from("bye")]), TYPE, {}],
    [
      "blanks behind the boundary",
      lines("--b \t", 'Content-Disposition: form-data; name="file"', "", "x", "--b--"),
      TYPE,
      { fileName: null },
    ],
    ["no line break at the very end", field('form-data; name="file"').subarray(0, -2), TYPE, { fileName: null }],
  ];
  for (const [client, body, type, part] of CLIENTS)
    test(client, () => expect(read(body, type)).toEqual([expect.objectContaining({ name: "file", bytes: "x", ...part })]));
});

test("a file may hold what looks like a boundary, and nothing at all", () => {
  const body = lines(
    "--b",
    'Content-Disposition: form-data; name="a"',
    "",
    "x",
    "--bc",
    " --b",
    "--b",
    'Content-Disposition: form-data; name="e"',
    "",
    "",
    "--b--",
  );
  expect(read(body).map(({ bytes }) => bytes)).toEqual(["x\r\n--bc\r\n --b", ""]);
});

describe("what is no form", () => {
  const good = 'Content-Disposition: form-data; name="a"';
  const NONSENSE: [name: string, body: Buffer, says: string, type?: string][] = [
    ["nothing", Buffer.alloc(0), "boundary"],
    ["no boundary in the type", lines("--b", good, "", "x", "--b--"), "has no boundary", "multipart/form-data"],
    ["an empty boundary", lines("--", good, "", "x", "----"), "has no boundary", 'multipart/form-data; boundary=""'],
    ["a boundary of another", lines("--c", good, "", "x", "--c--"), "boundary"],
    ["no last boundary", lines("--b", good, "", "x"), "closing boundary"],
    ["a part that is cut off", lines("--b", good), "do not end"],
    ["line feeds alone", Buffer.from(`--b\n${good}\n\nx\n--b--\n`), "boundary"],
    ["a part without headers", lines("--b", "", "x", "--b--"), "do not end"],
    ["a part without a disposition", lines("--b", "Content-Type: text/plain", "", "x", "--b--"), "Content-Disposition"],
    ["another disposition", lines("--b", 'Content-Disposition: attachment; name="a"', "", "x", "--b--"), "Content-Disposition"],
    ["a part without a name", lines("--b", "Content-Disposition: form-data", "", "x", "--b--"), "Content-Disposition"],
    ["an encoding", lines("--b", good, "Content-Transfer-Encoding: base64", "", "eA==", "--b--"), "Transfer-Encoding"],
    ["headers without an end", lines("--b", `${good}${"x".repeat(9000)}`, "", "x", "--b--"), "do not end"],
    ["headers that are not UTF-8", Buffer.from(`--b\r\n${good}; filename="\xff"\r\n\r\nx\r\n--b--`, "latin1"), "UTF-8"],
    ["too many parts", lines(...Array.from({ length: 65 }, () => ["--b", good, "", "x"]).flat(), "--b--"), "64 parts"],
  ];
  for (const [name, body, says, type] of NONSENSE) test(name, () => expect(() => read(body, type)).toThrow(says));
});

test("property: what the runtime writes is read as it was", async () => {
  const name = fc.string({ minLength: 1, maxLength: 20 }).filter((text) => !/[\r\n%]/.test(text));
  const part = fc.record({ name, bytes: fc.uint8Array({ maxLength: 300 }), fileName: fc.option(name) });
  await fc.assert(
    fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 5 }), async (parts) => {
      const form = new FormData();
      for (const { name, bytes, fileName } of parts)
        if (fileName === null) form.append(name, Buffer.from(bytes).toString("hex"));
        else form.append(name, new Blob([new Uint8Array(bytes)]), fileName);
      const sent = new Response(form);
      const found = readMultipart(sent.headers.get("content-type") ?? "", new Uint8Array(await sent.arrayBuffer()));
      const text = ({ bytes, fileName }: (typeof parts)[number]) =>
        Buffer.from(fileName === null ? Buffer.from(bytes).toString("hex") : bytes);
      expect(found.map(({ name, fileName, bytes }) => ({ name, fileName, bytes: Buffer.from(bytes) }))).toEqual(
        parts.map((one) => ({ name: one.name, fileName: one.fileName, bytes: text(one) })),
      );
    }),
  );
});

test("property: whatever comes is read or refused, never anything else", () => {
  const piece = fc.constantFrom(
    "--b",
    "--b--",
    "\r\n",
    "\r\n\r\n",
    "\n",
    'Content-Disposition: form-data; name="a"',
    '; filename="',
    "\\",
    '"',
    ";",
    "x",
    "\xff",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      try {
        readMultipart(TYPE, Buffer.from(pieces.join(""), "latin1"));
      } catch (error) {
        expect((error as Error).name).toBe("ApiError");
      }
    }),
  );
});
