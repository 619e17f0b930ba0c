import { LineTooLongError } from "@mailsvc/sdk/contact-files";
import { expect, test } from "vitest";
import { toFailure } from "./errors.ts";
import { EXIT } from "./exit.ts";

test("a file that is no table is input that is refused, with what may be wrong", () => {
  expect(toFailure(new LineTooLongError(3))).toMatchObject({
    code: "line_too_long",
    message: "Line 3 is longer than 1 MiB.",
    exit: EXIT.validation,
    hint: "Is this a text file with one contact on each line?",
  });
});
