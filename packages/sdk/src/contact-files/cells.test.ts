import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { convertCell, DETECTABLE_TYPES, detectType, escapeFormula, joinTags, splitTags, unescapeFormula } from "./cells.ts";

const text = fc.oneof(fc.string({ unit: "grapheme" }), fc.stringMatching(/^['=+\-@\t\r\n;,"a ]{0,8}$/));

describe("formula-safe cells", () => {
  test.each(["=1+1", "+44 20", "-5", "@cmd", "\tx", "\rx", "\nx", "＝1", "'=1", "''@"])("%j is defused", (cell) => {
    expect(escapeFormula(cell)).toBe(`'${cell}`);
  });

  test.each(["'t Hooft", "'", "''", "a=b", "1-2", "", " =1"])("%j stays as it is, both ways", (cell) => {
    expect([escapeFormula(cell), unescapeFormula(cell)]).toEqual([cell, cell]);
  });

  test("no guarded cell begins like a formula, and each comes back as it was", () => {
    fc.assert(
      fc.property(text, (cell) => {
        expect(escapeFormula(cell)).not.toMatch(/^[=+\-@\t\r\n]/);
        expect(unescapeFormula(escapeFormula(cell))).toBe(cell);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("tags", () => {
  test.each([
    ["vip", ["vip"]],
    ["vip;beta", ["vip", "beta"]],
    [" vip , beta ,", ["vip", "beta"]],
    ["a, b; c", ["a", "b", "c"]],
    ['"a;b", c', ["a;b", "c"]],
    ['"say ""hi"""', ['say "hi"']],
    ['5" disk; x', ['5" disk', "x"]],
    ['"open; x', ['"open', "x"]],
    [";;,", []],
    ["", []],
  ])("%j are %j", (cell, tags) => {
    expect(splitTags(cell)).toEqual(tags);
  });

  test("any tags come back as they were", () => {
    const tag = text.map((t) => t.trim()).filter((t) => t !== "");
    fc.assert(
      fc.property(fc.array(tag, { maxLength: 5 }), (tags) => {
        expect(splitTags(joinTags(tags))).toEqual(tags);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("types", () => {
  const all = new Set(DETECTABLE_TYPES);
  test.each([
    ["5", 5],
    ["-0.50", -0.5],
    ["1e3", 1000],
    ["007", "007"],
    ["+5", "+5"],
    ["1,5", "1,5"],
    ["12345678901234567890", "12345678901234567890"],
    ["0x10", "0x10"],
    ["Infinity", "Infinity"],
    ["TRUE", true],
    ["false", false],
    ["yes", "yes"],
    ["2030-01-31", "2030-01-31"],
    ["2030-01-31 09:30", "2030-01-31T09:30:00.000Z"],
    ["2030-01-31T09:30:00+02:00", "2030-01-31T07:30:00.000Z"],
    ["2030-06-31", "2030-06-31"],
    ["31.01.2030", "31.01.2030"],
    [" x ", " x "],
  ])("%j is recognised as %j", (cell, value) => {
    expect(detectType(cell, all)).toBe(value);
  });

  test("nothing is recognised unless it is asked for", () => {
    expect(["5", "true", "2030-01-31 09:30"].map((cell) => detectType(cell, new Set()))).toEqual(["5", "true", "2030-01-31 09:30"]);
    expect(detectType("5", new Set(["booleans"]))).toBe("5");
  });

  test("a column with a type takes nothing else", () => {
    expect(convertCell("12", "number")).toEqual({ value: 12 });
    expect(convertCell("a dozen", "number")).toEqual({ fault: '"a dozen" is not a number such as 12 or 0.5.' });
    expect(convertCell("2030-06-31", "date")).toEqual({ fault: "There is no 2030-06-31: that month has 30 days." });
    expect(convertCell("2030-06-30T25:00", "date")).toEqual({ fault: "There is no hour 25; the last one is 23." });
    expect(convertCell("soon", "date")).toEqual({ fault: '"soon" is not a date such as 2030-01-31 or 2030-01-31T09:30:00Z.' });
    expect(convertCell("0", "boolean")).toHaveProperty("fault");
    expect(convertCell('{"a":1}', "json")).toEqual({ value: { a: 1 } });
    expect(convertCell("{", "json")).toHaveProperty("fault");
    expect(convertCell('{"id":12345678901234567890}', "json")).toEqual({
      fault: '12345678901234567890 would be changed. Write it as a text: "12345678901234567890".',
    });
    expect(convertCell("5", "text")).toEqual({ value: "5" });
  });
});
