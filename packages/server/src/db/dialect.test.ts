import { type SQL, sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { describeDb } from "../../test/describe-db.ts";
import { fold } from "../lib/fold.ts";

describeDb("words", (t) => {
  const value = async (expression: SQL): Promise<unknown> => {
    const { read } = t.db;
    const [row] = await read.select({ value: sql<unknown>`${expression}` }).from(sql`(select 1) as one`);
    return row?.value;
  };
  const text = (s: string): SQL => sql`cast(${s} as text)`;
  const truth = async (expression: SQL): Promise<boolean> => Boolean(await value(expression));

  test("letters of all scripts fold as JavaScript folds them", async () => {
    // Capitals that Unicode has had for a few years only; a Postgres may be older than that.
    const recent = /[\u1c89-\u1cbf\u2c2f\ua7ae-\ua7ff]/u;
    const letters: string[] = [];
    for (let code = 0x20; code < 0x1fff; code += 1) {
      const letter = String.fromCodePoint(code);
      if (/\p{L}/u.test(letter) && !recent.test(fold(letter))) letters.push(letter);
    }
    for (let i = 0; i < letters.length; i += 100) {
      const some = letters.slice(i, i + 100).join(" ");
      expect(await value(t.db.read.sqlDialect.fold(text(some)))).toBe(fold(some));
    }
  });

  test.each([
    ["Ada", "ada"],
    ["STRASSE", "straße"],
    ["ΟΔΥΣΣΕΥΣ", "οδυσσευς"],
    ["cafe\u0301", "CAFÉ"],
    ["", ""],
    ["😀", "😀"],
  ])("%j and %j are the same once folded", async (a, b) => {
    expect(await value(t.db.read.sqlDialect.fold(text(a)))).toBe(fold(b));
  });

  test("a text is the same as itself, whatever capitals the database knows of", async () => {
    const { sqlDialect: words } = t.db.read;
    for (const name of ["ნინო", "ʂ", "ƛ"]) {
      expect(await truth(sql`${words.fold(text(`x${name}`))} = ${words.fold(words.text(`X${name}`))}`)).toBe(true);
      expect(await truth(words.ends(words.fold(text(`x${name}`)), words.fold(words.text(name))))).toBe(true);
    }
  });

  test.each(["%", "_", "\\", "*", "[a]", "'", '"', "😀", "a%b_c"])("%j stands for itself in a part", async (part) => {
    const { sqlDialect: words } = t.db.read;
    const p = words.text(part);
    for (const found of [words.holds(text(`x${part}y`), p), words.starts(text(`${part}y`), p), words.ends(text(`x${part}`), p)])
      expect(await truth(found)).toBe(true);
    const other = text("xyz");
    for (const missed of [words.holds(other, p), words.starts(other, p), words.ends(other, p), words.ends(text(""), p)])
      expect(await truth(missed)).toBe(false);
  });

  test.each([
    ["2026-01-31", "2026-01-31T00:00:00.000Z"],
    ["2026-01-31T09:30:00Z", "2026-01-31T09:30:00.000Z"],
    ["2026-01-31T09:30:00.123Z", "2026-01-31T09:30:00.123Z"],
    ["2026-01-31T09:30:00+01:00", null],
    ["2026-01-31\n", null],
    [" 2026-01-31", null],
    ["31.01.2026", null],
    ["", null],
  ])("as a date %j reads %j", async (given, read) => {
    expect(await value(t.db.read.sqlDialect.dateText(text(given)))).toBe(read);
  });
});
