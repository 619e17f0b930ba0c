import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type CsvRecord, formatLine, MAX_RECORD, parseCsv } from "./csv.ts";

async function* pieces(text: string, size: number): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
}

const read = async (text: string, separator = ",", size = 7): Promise<CsvRecord[]> => {
  const records: CsvRecord[][] = [];
  for await (const some of parseCsv(pieces(text, size), separator)) records.push(some);
  return records.flat();
};
const shown = (records: readonly CsvRecord[]) =>
  records.map(({ line, cells, fault }) => (fault ? [line, ...cells, "!"] : [line, ...cells]));

describe("records", () => {
  const traps: [name: string, text: string, records: (string | number)[][], separator?: string][] = [
    [
      "LF",
      "a,b\nc,d\n",
      [
        [1, "a", "b"],
        [2, "c", "d"],
      ],
    ],
    [
      "CRLF",
      "a,b\r\nc,d\r\n",
      [
        [1, "a", "b"],
        [2, "c", "d"],
      ],
    ],
    [
      "CR alone",
      "a,b\rc,d\r",
      [
        [1, "a", "b"],
        [2, "c", "d"],
      ],
    ],
    [
      "all three in one file",
      "a\r\nb\nc\rd",
      [
        [1, "a"],
        [2, "b"],
        [3, "c"],
        [4, "d"],
      ],
    ],
    ["no line break at the end", "a,b", [[1, "a", "b"]]],
    [
      "empty lines, and lines of separators alone, are left out and counted",
      "a\n\n \n,,\n\nb\n",
      [
        [1, "a"],
        [6, "b"],
      ],
    ],
    [
      "an empty cell at the end",
      "a,\n,b\n",
      [
        [1, "a", ""],
        [2, "", "b"],
      ],
    ],
    ["blanks around cells", " a ,\tb\t, c d \n", [[1, "a", "b", "c d"]]],
    ["blanks in quotes stay", '" a "," b "\n', [[1, " a ", " b "]]],
    ["blanks around quotes", ' "a" , "b"  \n', [[1, "a", "b"]]],
    ["doubled quotes", '"say ""hi""",""""\n', [[1, 'say "hi"', '"']]],
    [
      "quoted separators and line breaks",
      '"a,b","c\nd\r\ne\rf"\nx,y\n',
      [
        [1, "a,b", "c\nd\r\ne\rf"],
        [5, "x", "y"],
      ],
    ],
    ["an empty quoted cell", '"",a\n', [[1, "", "a"]]],
    ["quotes within an unquoted cell are quotes", 'Dwayne "The Rock",J"o\n', [[1, 'Dwayne "The Rock"', 'J"o']]],
    ["semicolons", "a;b,c\n", [[1, "a", "b,c"]], ";"],
    ["tabs, and empty cells between them", "a\t\tb\t\n", [[1, "a", "", "b", ""]], "\t"],
    ["blanks next to tabs", " a \t b \n", [[1, "a", "b"]], "\t"],
    [
      "text behind a closing quote spoils its own line only",
      'a,"b"c,d\ne,f\n',
      [
        [1, "a", '"b"c,d', "!"],
        [2, "e", "f"],
      ],
    ],
    [
      "a quote that closes in another row spoils its own line only",
      'a,"b,c\nd,"e",f\n',
      [
        [1, "a", '"b,c', "!"],
        [2, "d", "e", "f"],
      ],
    ],
    [
      "a quote that never closes spoils its own line only",
      'a,"b\nc,d\ne,f',
      [
        [1, "a", '"b', "!"],
        [2, "c", "d"],
        [3, "e", "f"],
      ],
    ],
    ["characters of two code units, cut anywhere", '"😀",😀\n', [[1, "😀", "😀"]]],
    ["nothing", "", []],
  ];
  test.each(traps)("%s", async (_name, text, records, separator) => {
    for (const size of [1, 2, 3, 1000]) expect(shown(await read(text, separator, size)), `in pieces of ${size}`).toEqual(records);
  });

  test("a fault names its column and says what to do", async () => {
    const [record] = await read('a,"b"c\n');
    expect(record?.fault).toEqual({
      column: 2,
      message: "Unexpected c after the closing quote. A quote inside a quoted value is written twice.",
    });
  });

  test("a quote that never closes is given up after 1 MiB, and what follows is read", async () => {
    const rows = "x,y\n".repeat(MAX_RECORD / 2);
    const records = await read(`"open,1\n${rows}`, ",", 64 * 1024);
    expect(records[0]?.fault?.message).toContain("never closed");
    expect(records.length).toBe(1 + MAX_RECORD / 2);
  });

  test("a line without an end is refused with its number, before it fills the memory", async () => {
    await expect(read(`a,b\n${"x".repeat(4 * MAX_RECORD)}`, ",", 64 * 1024)).rejects.toThrow("Line 2 is longer than 1 MiB.");
  });
});

describe("by chance", () => {
  const cell = fc.oneof(fc.string({ unit: "grapheme" }), fc.stringMatching(/^[a",;\t\r\n =']{0,12}$/));
  const rows = fc.array(fc.array(cell, { minLength: 1, maxLength: 5 }), { maxLength: 8 });
  // Records without content are dropped.
  const filled = (table: string[][]): string[][] => table.filter((cells) => cells.some((c) => c !== ""));

  test("what is written is read as it was, with any separator, in pieces of any size", async () => {
    await fc.assert(
      fc.asyncProperty(rows, fc.constantFrom(",", ";", "\t", "|"), fc.integer({ min: 1, max: 50 }), async (table, separator, size) => {
        const text = table.map((cells) => formatLine(cells, separator)).join("");
        const records = await read(text, separator, size);
        expect(records.map((r) => r.cells)).toEqual(filled(table));
        expect(records.every((r) => r.fault === null)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test("text without blanks at the ends of cells is read as by csv-parse, line by line", async () => {
    const plain = fc.stringMatching(/^(?:[ab]|"(?:[ab,\n]|"")*"){0,3}$/).filter((s) => /^(?:[ab]*|"(?:[^"]|"")*")$/.test(s));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(plain, { minLength: 1, maxLength: 4 }), { maxLength: 6 }), async (table) => {
        const text = table.map((cells) => `${cells.join(",")}\n`).join("");
        const expected = parse(text, { relax_column_count: true, record_delimiter: ["\r\n", "\n", "\r"] }) as string[][];
        expect((await read(text)).map((r) => r.cells)).toEqual(filled(expected));
      }),
      { numRuns: 300 },
    );
  });
});
