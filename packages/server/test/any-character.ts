import fc from "fast-check";

const SURROGATES = 0xd800;
const AFTER_SURROGATES = 0xe000;
const GAP = AFTER_SURROGATES - SURROGATES;

/**
 * Any character of Unicode, the same as the unit `binary` of fast-check's strings. That one makes a table of all million characters in
 * each process, in a second, to find out which characters a text consists of; this one computes it.
 */
export const anyCharacter = fc.nat({ max: 0x10ffff - GAP }).map(
  (n) => String.fromCodePoint(n < SURROGATES ? n : n + GAP),
  (text) => {
    const point = typeof text === "string" ? text.codePointAt(0) : undefined;
    if (point === undefined || String.fromCodePoint(point) !== text || (point >= SURROGATES && point < AFTER_SURROGATES))
      throw new Error("This is not one character.");
    return point < SURROGATES ? point : point - GAP;
  },
);
