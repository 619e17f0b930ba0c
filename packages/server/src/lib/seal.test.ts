import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { seededRandom } from "./random.ts";
import { makeSeal, SealBroken } from "./seal.ts";

const seal = makeSeal(new Uint8Array(32).fill(7), seededRandom(1));

describe("a sealed text", () => {
  test("opens to what it was, whatever it holds, and never shows it", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), fc.string({ maxLength: 40 }), (text, place) => {
        const sealed = seal.seal(text, place);
        expect(seal.open(sealed, place)).toBe(text);
        if (text.length > 7) expect(Buffer.from(sealed).toString("utf8")).not.toContain(text);
      }),
    );
  });

  test("is other bytes each time", () => {
    expect(seal.seal("a", "p")).not.toEqual(seal.seal("a", "p"));
  });

  test("does not open elsewhere, under another key, or with a single bit changed", () => {
    const sealed = seal.seal("whsec_secret", "listing:a");
    expect(() => seal.open(sealed, "listing:b")).toThrow(SealBroken);
    expect(() => makeSeal(new Uint8Array(32).fill(8), seededRandom(1)).open(sealed, "listing:a")).toThrow(SealBroken);
    for (let i = 0; i < sealed.length; i += 1) {
      const changed = Uint8Array.from(sealed);
      changed[i] = (changed[i] as number) ^ 1;
      expect(() => seal.open(changed, "listing:a")).toThrow(SealBroken);
    }
    expect(() => seal.open(new Uint8Array(0), "listing:a")).toThrow(SealBroken);
    expect(() => seal.open(sealed.subarray(0, 20), "listing:a")).toThrow(SealBroken);
  });
});

test("sealSame gives the same bytes for one text and place, and others for everything else", () => {
  const seal = makeSeal(new Uint8Array(32).fill(1), seededRandom(1));
  const sealed = seal.sealSame("ada@example.com", "link");
  expect(seal.sealSame("ada@example.com", "link")).toEqual(sealed);
  expect(seal.open(sealed, "link")).toBe("ada@example.com");
  expect(() => seal.open(sealed, "other")).toThrow(SealBroken);
  const others = [
    seal.sealSame("ada@example.org", "link"),
    seal.sealSame("ada@example.com", "other"),
    makeSeal(new Uint8Array(32).fill(2), seededRandom(1)).sealSame("ada@example.com", "link"),
  ];
  for (const other of others) expect(Buffer.from(other).subarray(1, 13)).not.toEqual(Buffer.from(sealed).subarray(1, 13));
});

test("links that were sent stay what they are: sealed bytes never change", () => {
  const sealed = makeSeal(new Uint8Array(32).fill(7), seededRandom(1)).sealSame("ada@example.com", "link");
  expect(Buffer.from(sealed).toString("base64url")).toBe("AWs06XzoeWDRDrBTGEaMyz6WLUMdApdN0EFSW4ydxsnPpZjW1djWxeAEgr0");
});
