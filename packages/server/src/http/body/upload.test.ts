import { createHash } from "node:crypto";
import { contract, type Endpoint } from "@mailsvc/sdk/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CHUNK_BYTES } from "../../lib/turn.ts";
import { decodeBase64, readUpload } from "./upload.ts";

const ENDPOINT: Endpoint = contract.assets.create;
const JSON_TYPE = new Headers({ "content-type": "application/json" });

const read = (body: string | Uint8Array, headers = JSON_TYPE) => readUpload(ENDPOINT, headers, Buffer.from(body));

/** Bytes whose base64 has every digit there is. */
const bytesOf = (size: number): Buffer => Buffer.from(Uint8Array.from({ length: size }, (_, i) => (i * 7 + (i >> 8)) % 256));

const LARGE = bytesOf(3 * CHUNK_BYTES + 1);

describe("a file in JSON", () => {
  const WRITERS: [how: string, write: (json: string) => string][] = [
    ["as it is", (json) => json],
    ["with slashes escaped", (json) => json.replaceAll("/", "\\/")],
    ["with plus signs by number", (json) => json.replaceAll("+", "\\u002B")],
    ["with every digit by number", (json) => json.replace(/[A-Z]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`)],
  ];
  for (const size of [1, 2, 3, 30_000, LARGE.length - 1, LARGE.length])
    for (const [how, write] of WRITERS)
      test(`of ${size} bytes, ${how}`, async () => {
        const bytes = LARGE.subarray(0, size);
        const upload = read(`{"alt": "a \\"b\\"", "contentBase64" : "${write(bytes.toString("base64"))}","fileName":"a.png"}`);
        expect(upload.fields).toMatchObject({ alt: 'a "b"', fileName: "a.png", contentBase64: expect.any(String) });
        const file = await upload.file();
        expect(Buffer.from(file.bytes).equals(bytes)).toBe(true);
        expect(file.sha256).toBe(createHash("sha256").update(bytes).digest("hex"));
      });

  const long = LARGE.toString("base64");
  test("the last of two counts, as in all JSON", async () => {
    const small = Buffer.from("small").toString("base64");
    const first = await read(`{"contentBase64":"${long}","contentBase64":"${small}"}`).file();
    expect(Buffer.from(first.bytes).toString()).toBe("small");
    const second = await read(`{"contentBase64":"${small}","contentBase64":"${long}"}`).file();
    expect(Buffer.from(second.bytes).equals(LARGE)).toBe(true);
  });

  const REFUSED: [name: string, body: string, says: string][] = [
    ["with a line break in it", `{"contentBase64":"${long.slice(0, 70_000)}\\n${long.slice(70_000)}"}`, "not valid base64"],
    ["with a real line break in it", `{"contentBase64":"${long.slice(0, 70_000)}\n${long.slice(70_000)}"}`, "not valid base64"],
    ["with its end in the middle", `{"contentBase64":"${long.slice(0, 70_002)}==${long.slice(70_004)}"}`, "not valid base64"],
    ["with a digit too few", `{"contentBase64":"${long.slice(0, 200_001)}"}`, "not valid base64"],
    ["with something else in it", `{"contentBase64":"${"ä".repeat(100_000)}"}`, "not valid base64"],
    ["with a broken escape", `{"contentBase64":"${long}\\x"}`, "not valid base64"],
    ["of backslashes", `{"contentBase64":"${"\\".repeat(1_200_000)}"}`, "at most 1 MB"],
    ["of quotes", `{"contentBase64":"${'\\"'.repeat(1_200_000)}"}`, "at most 1 MB"],
    ["that does not end", `{"contentBase64":"${long}`, "at most 1 MB"],
    ["behind a title as long", `{"alt":"${long}","contentBase64":"AAAA"}`, "at most 1 MB"],
    ["twice, both long", `{"contentBase64":"${long}","contentBase64":"${long}"}`, "at most 1 MB"],
    ["in an array", `["contentBase64","${long}"]`, "at most 1 MB"],
    ["with something behind it", `{"contentBase64":"${long}"}}`, "not valid JSON"],
  ];
  for (const [name, body, says] of REFUSED)
    test(name, async () => {
      const reading = async () => read(body).file();
      await expect(reading()).rejects.toThrow(says);
    });

  test("that stands deeper is none of ours", () => {
    expect(read(`{"x":{"contentBase64":"${long}"}}`).fields).toMatchObject({ x: expect.anything() });
  });
});

test("a form may bring its file as text too, but not twice", async () => {
  const form = new FormData();
  form.append("contentBase64", "eA==");
  form.append("fileName", "a.png");
  const encoded = async (): Promise<[Uint8Array, Headers]> => {
    const sent = new Response(form);
    return [new Uint8Array(await sent.arrayBuffer()), sent.headers];
  };
  const upload = read(...(await encoded()));
  expect(upload.fields).toEqual({ fileName: "a.png", contentBase64: "eA==" });
  expect(Buffer.from((await upload.file()).bytes).toString()).toBe("x");
  form.append("file", new Blob(["y"]), "b.png");
  const twice = await encoded();
  expect(() => read(...twice)).toThrow("either file or contentBase64");
});

test("what a form says of its file counts more than what the file says", async () => {
  const form = new FormData();
  form.append("file", new Blob(["y"], { type: "image/gif" }), "b.gif");
  form.append("fileName", "a.png");
  const sent = new Response(form);
  expect(read(new Uint8Array(await sent.arrayBuffer()), sent.headers).fields).toMatchObject({
    fileName: "a.png",
    contentType: "image/gif",
  });
});

test("property: base64 is read as the runtime reads it, or refused", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.base64String(),
        fc.string(),
        fc.uint8Array().map((bytes) => Buffer.from(bytes).toString("base64")),
      ),
      async (text) => {
        const read = await decodeBase64(Buffer.from(JSON.stringify(text).slice(1, -1)));
        const valid = /^[A-Za-z0-9+/_-]*={0,2}$/.test(text) && text.replace(/=+$/, "").length % 4 !== 1;
        expect(read === null ? null : Buffer.from(read).toString("hex")).toBe(valid ? Buffer.from(text, "base64").toString("hex") : null);
      },
    ),
  );
});
