import fc from "fast-check";
import { expect, test } from "vitest";
import { findBodyEnd } from "./body.ts";
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

test("the end of the body is that of the tags, and without them what is put there is seen", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }), async (pieces) => {
      const html = pieces.join("");
      const closing = [...locateTags(html)].filter(({ token }) => token.kind === "close");
      const body = closing.findLast(({ token }) => token.name === "body");
      const end = body ?? closing.find(({ token }) => token.name === "html");
      const found = await findBodyEnd(html);
      if (end !== undefined) expect(found).toBe(end.start);
      // A tag can be put there, unless an incomplete one begins before it.
      else if (!html.includes("<p a='")) {
        const put = [...locateTags(`${html.slice(0, found)}<hr>${html.slice(found)}`)].filter(({ token }) => token.name === "hr");
        expect(put).toMatchObject([{ start: found }]);
      }
    }),
  );
});
