import { expect, test } from "vitest";
import { StorageUnavailable, storageError } from "./errors.ts";

const translate = (code: string) => storageError(Object.assign(new Error("select secret"), { code })) as StorageUnavailable;

test.each([
  ["SQLITE_FULL", "The database cannot work at the moment: its disk is full (SQLITE_FULL)."],
  ["53100", "The database cannot work at the moment: its disk is full (53100)."],
  ["25006", "The database cannot work at the moment: it is read-only (25006)."],
  ["53300", "The database cannot work at the moment: it has no connection left for mailsvc (53300)."],
  ["42501", "The database cannot work at the moment: its user lacks rights on tables of mailsvc, which it must own (42501)."],
  ["58030", "The database cannot work at the moment (58030)."],
])("%s is said in words, and is no fault of the query", (code, message) => {
  const error = translate(code);
  expect(error).toBeInstanceOf(StorageUnavailable);
  expect(error).toMatchObject({ message, isAway: true });
});

test.each(["57014", "55P03", "40001", "SQLITE_BUSY"])("%s, a limit of time or a conflict, concerns the query", (code) => {
  expect(translate(code)).toMatchObject({ message: `The database cannot work at the moment (${code}).`, isAway: false });
});

test("a missing right refuses writes, so that one small write that succeeds does not make the server ready", () => {
  expect([translate("42501").refusesWrites, translate("53300").refusesWrites]).toEqual([true, false]);
});
