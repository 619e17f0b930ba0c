import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeKeyText, readOrCreateKeyFile } from "./key-file.ts";
import { parseKey } from "./master-keys.ts";
import { seededRandom } from "./random.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "mailsvc-key-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test("a key is made once, for its owner only, and read again", () => {
  const file = join(folder, "secret.key");
  const made = readOrCreateKeyFile(file, seededRandom(1), true);
  expect(made.current).toHaveLength(32);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readOrCreateKeyFile(file, seededRandom(2), true)).toEqual(made);
  expect(readdirSync(folder)).toEqual(["secret.key"]);
});

test("what a process that died left behind is not taken for a key", () => {
  const file = join(folder, "secret.key");
  writeFileSync(`${file}.tmp`, "half");
  expect(readOrCreateKeyFile(file, seededRandom(1), true).current).toHaveLength(32);
  expect(readFileSync(file, "utf8")).toMatch(/^[A-Za-z0-9+/]{43}=\n$/);
});

test("a file that holds something else is not replaced", () => {
  const file = join(folder, "secret.key");
  writeFileSync(file, "not a key");
  expect(() => readOrCreateKeyFile(file, seededRandom(1), true)).toThrow("does not hold a key");
  expect(readFileSync(file, "utf8")).toBe("not a key");
});

test.each([
  ["base64", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", true],
  ["base64 without its end", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8", true],
  ["base64 of addresses", "__79_Pv6-fj39vX08_Lx8O_u7ezr6uno5-bl5OPi4eA", true],
  ["hex", "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", true],
  ["a line end", " AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n", true],
  ["31 bytes", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHg==", false],
  ["33 bytes", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8g", false],
  ["a password", "correct horse battery staple", false],
  ["nothing", "", false],
])("%s is a key: %#", (_what, text, good) => {
  expect(parseKey(text)?.length ?? null).toBe(good ? 32 : null);
});

test("what is made is read", () => {
  expect(parseKey(makeKeyText(seededRandom(3)))).toHaveLength(32);
});
