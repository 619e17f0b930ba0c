import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { seededRandom } from "../../lib/random.ts";
import { parseJson, parseLongJson } from "./json.ts";

const random = seededRandom(1);
const LONG = "QUJD".repeat(20_000);
const file = (content: unknown) => ({ filename: "a.bin", content });

/** What a parser gives, or says. */
const outcome = async (parse: () => unknown): Promise<unknown> => {
  try {
    return { value: await parse() };
  } catch (error) {
    return { says: (error as Error).message };
  }
};

const expectSame = async (json: string): Promise<void> => {
  const bytes = Buffer.from(json);
  expect(await outcome(() => parseLongJson(bytes, random))).toEqual(await outcome(() => parseJson(bytes)));
};

describe("a body with long files is parsed as any other", () => {
  test.each<[name: string, json: string]>([
    ["one file", JSON.stringify({ subject: "ä", attachments: [file(LONG)] })],
    ["several files, long and short", JSON.stringify({ attachments: [file(LONG), file("QQ=="), file(LONG.slice(4)), file(LONG)] })],
    ["blanks around it", `{"attachments" : [ { "content"\n:\t"${LONG}" } ] }`],
    ["escaped slashes", `{"attachments":[{"content":"${LONG}\\/"}]}`],
    ["a content beyond ASCII", JSON.stringify({ attachments: [file(`${LONG}é`)] })],
    ["a long content that is none of an attachment", JSON.stringify({ content: LONG, attachments: [file("QQ==")] })],
    ["one of each", JSON.stringify({ content: LONG, attachments: [file(LONG)] })],
    ["attachments twice", `{"attachments":[{"content":"${LONG}"}],"attachments":[{"content":"${LONG}"}]}`],
    ["content twice", `{"attachments":[{"content":"${LONG}","content":"${LONG}AAAA"}]}`],
    ["attachments that are no list", JSON.stringify({ attachments: file(LONG) })],
    ["attachments that are no objects", JSON.stringify({ attachments: [null, 1, "x", [file(LONG)], file(LONG)] })],
    ["a key that ends like it", `{"attachments":[{"x\\"content":"${LONG}"}]}`],
    ["a text that speaks of it", JSON.stringify({ html: `"content":"${LONG}"`, attachments: [file(LONG)] })],
    ["a string that does not end", `{"attachments":[{"content":"${LONG}`],
    ["a fault behind it", `{"attachments":[{"content":"${LONG}"}],}`],
    ["a list at the top", `[{"content":"${LONG}"}]`],
    ["the key at the very end", `{"text":"${LONG}","content"`],
  ])("%s", async (_name, json) => expectSame(json));

  test("property: any body", async () => {
    const value = fc.letrec((tie) => ({
      any: fc.oneof({ maxDepth: 3 }, fc.constantFrom(LONG, "QQ==", '"content":"', null, 7), tie("list"), tie("object")),
      list: fc.array(tie("any"), { maxLength: 3 }),
      object: fc.dictionary(fc.constantFrom("content", "attachments", 'a"content', "x"), tie("any"), { maxKeys: 3 }),
    }));
    const body = fc.record({ attachments: fc.array(value.object, { maxLength: 3 }), other: value.any }, { requiredKeys: [] });
    await fc.assert(fc.asyncProperty(body, (one) => expectSame(JSON.stringify(one))));
  });
});
