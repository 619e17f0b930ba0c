import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decode, type Encoding } from "./decode.ts";

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const read = async (bytes: Uint8Array, size = 3, given?: Encoding): Promise<string> => {
  let text = "";
  for await (const part of decode("people.csv", pieces(bytes, size), given)) text += part;
  return text;
};

const utf16le = (text: string, mark = true): Buffer => Buffer.from(`${mark ? "\ufeff" : ""}${text}`, "utf16le");
const utf32le = (text: string, mark = true): Buffer =>
  Buffer.concat(
    [...`${mark ? "\ufeff" : ""}${text}`].map((c) => {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32LE(c.codePointAt(0) ?? 0);
      return bytes;
    }),
  );
const TEXT = `email,Name\nada@example.com,Ädä 😀 ${"x".repeat(300)}\n`;

describe("the encoding is found out", () => {
  const cases: [string, Buffer][] = [
    ["UTF-8", Buffer.from(TEXT)],
    ["UTF-8 with its mark", Buffer.from(`\ufeff${TEXT}`)],
    ["UTF-16 LE with its mark, as Excel saves it", utf16le(TEXT)],
    ["UTF-16 BE with its mark", utf16le(TEXT).swap16()],
    ["UTF-16 LE without a mark", utf16le(TEXT, false)],
    ["UTF-16 BE without a mark", utf16le(TEXT, false).swap16()],
    ["UTF-32 LE with its mark", utf32le(TEXT)],
    ["UTF-32 BE with its mark", utf32le(TEXT).swap32()],
    ["UTF-32 LE without a mark", utf32le(TEXT, false)],
    ["UTF-32 BE without a mark", utf32le(TEXT, false).swap32()],
  ];
  test.each(cases)("%s", async (_name, bytes) => {
    for (const size of [1, 2, 5, 255, 256, 257, 10_000]) expect(await read(bytes, size), `in pieces of ${size}`).toBe(TEXT);
  });

  test("Windows-1252 when it is said, with the characters of its upper half", async () => {
    const bytes = Buffer.from([0x80, 0x93, 0xe9, 0x94, 0x99, 0xff]);
    expect(await read(bytes, 1, "windows-1252")).toBe("€“é”™ÿ");
  });

  test("a mark of the encoding that was said is taken off, too", async () => {
    expect(await read(utf16le("a,b"), 1, "utf-16le")).toBe("a,b");
  });
});

describe("what cannot be read", () => {
  const refused = async (bytes: Uint8Array, size = 5) =>
    read(bytes, size).then(
      () => null,
      (error) => error.failure,
    );

  test("UTF-32 that is cut off or holds no character is refused with its line", async () => {
    expect(await refused(utf32le("a,b\n1,2\n").subarray(0, -1))).toMatchObject({ code: "not_utf32" });
    const wrong = Buffer.concat([utf32le("a,b\n"), Buffer.from([0, 0, 0x11, 0xff])]);
    expect(await refused(wrong)).toMatchObject({ code: "not_utf32", message: expect.stringContaining("near line 2") });
  });

  test("bytes that are no UTF-8 are named with their line, and shown as what they may be", async () => {
    const bytes = Buffer.from("email,name\na@x.com,A\nb@x.com,M\xfcller;x\n", "latin1");
    for (const size of [1, 4, 1000])
      expect(await refused(bytes, size)).toMatchObject({
        exit: 3,
        message: "people.csv, line 3: this is not UTF-8.",
        hint: expect.stringContaining("--encoding windows-1252"),
      });
    expect((await refused(bytes, 1000)).details[0].message).toBe("In windows-1252 it would read: Müller");
  });

  test.each([
    ["windows-1250", "Łukasz Żółć", "\xa3ukasz \xaf\xf3\xb3\xe6"],
    ["windows-1251", "Иван Петров", "\xc8\xe2\xe0\xed \xcf\xe5\xf2\xf0\xee\xe2"],
    ["windows-1254", "Şahin Doğan Işık", "\xdeahin Do\xf0an I\xfe\xfdk"],
    ["shift_jis", "山田太郎", "\x8e\x52\x93\x63\x91\xbe\x98\x59"],
    ["euc-kr", "김철수", "\xb1\xe8\xc3\xb6\xbc\xf6"],
    ["koi8-r", "Иван Петров", "\xe9\xd7\xc1\xce \xf0\xc5\xd4\xd2\xcf\xd7"],
  ] as const)("%s is among the guesses with a sample, and is read when it is said", async (encoding, text, bytes) => {
    const file = Buffer.from(`email,name\na@x.com,${bytes}\n`, "latin1");
    expect(await read(file, 1, encoding)).toBe(`email,name\na@x.com,${text}\n`);
    const shown = (await refused(file, 1000)).details.map(({ message }: { message: string }) => message);
    expect(shown).toContain(
      `In ${encoding} it would read: ${text
        .split(" ")
        .filter((word) => /[^ -~]/.test(word))
        .join(", ")}`,
    );
  });

  test("a line that is no UTF-8 after one that is gets no advice that would garble the other one", async () => {
    const bytes = Buffer.concat([Buffer.from("email,name\na@x.com,Ä\n"), Buffer.from("b@x.com,M\xfcller;x\n", "latin1")]);
    for (const size of [1, 4, 1000])
      expect(await refused(bytes, size)).toMatchObject({
        message: "people.csv, line 3: this is not UTF-8.",
        hint: expect.stringContaining("mixes encodings"),
      });
  });

  test("lines that end in CR are counted as well", async () => {
    expect((await refused(Buffer.from("a\rb\rM\xfcller\r", "latin1"), 1000)).message).toContain("line 3");
  });

  test("UTF-8 cut off within a character", async () => {
    expect((await refused(Buffer.from("a\nä").subarray(0, 3))).message).toBe("people.csv, line 2: this is not UTF-8.");
  });

  test("half a pair in UTF-16", async () => {
    const bytes = Buffer.concat([utf16le("a\nb"), Buffer.from([0x00, 0xd8, 0x41, 0x00])]);
    expect((await refused(bytes)).code).toBe("not_utf16");
  });

  test.each([
    ["a workbook", [0x50, 0x4b, 0x03, 0x04, 0x14], "workbook"],
    ["an old workbook", [0xd0, 0xcf, 0x11, 0xe0, 0xa1], "Excel"],
    ["a compressed file", [0x1f, 0x8b, 0x08, 0x00], "compressed"],
    ["a PDF", [0x25, 0x50, 0x44, 0x46, 0x2d], "PDF"],
  ])("%s is called what it is", async (_name, bytes, said) => {
    expect(await refused(Uint8Array.from(bytes))).toMatchObject({ exit: 3, code: "not_text", message: expect.stringContaining(said) });
  });
});

test("any text comes through, in pieces of any size", async () => {
  const text = fc.string({ unit: "grapheme", minLength: 1 }).filter((s) => !/^[\ufeff\0]|\0/.test(s) && s.isWellFormed());
  await fc.assert(
    fc.asyncProperty(text, fc.integer({ min: 1, max: 9 }), async (value, size) => {
      expect(await read(Buffer.from(value), size, "utf-8")).toBe(value);
      expect(await read(utf16le(value), size)).toBe(value);
    }),
    { numRuns: 200 },
  );
});
