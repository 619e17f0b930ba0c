import fc from "fast-check";
import { expect, test } from "vitest";
import { findBodyEnd, MAIL } from "./body-end.ts";
import { locateTags } from "./tokenizer.ts";

const PIECES = [
  "</body>",
  "</BODY\n>",
  "</html>",
  "</",
  "body>",
  "BODY",
  "html",
  "<body>",
  "<!-- ",
  " -->",
  "<style>",
  "</style>",
  "é",
  "<p a='",
];

test("the end of the body is that of the tags, with or without a look for them in the source", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }), async (pieces) => {
      const html = pieces.join("");
      const closing = [...locateTags(html, MAIL)].filter(({ token }) => token.kind === "close");
      const body = closing.findLast(({ token }) => token.name === "body");
      const end = body ?? closing.find(({ token }) => token.name === "html");
      expect(await findBodyEnd(html)).toBe(end?.start ?? html.length);
    }),
  );
});
