import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BROWSER, type Dialect, readOn, startOfHtml, type Token, tokenize } from "./tokenizer.ts";

const MAIL: Dialect = { raw: new Set(["script", "style"]), conditionalComments: true };

/** Tokens with adjacent texts joined: where a text is cut is of no meaning. */
const joined = (tokens: Iterable<Token>): Token[] => {
  const out: Token[] = [];
  for (const token of tokens) {
    const last = out.at(-1);
    if (token.kind === "text" && last?.kind === "text") out[out.length - 1] = { kind: "text", text: last.text + token.text };
    else out.push(token);
  }
  return out;
};

const open = (name: string, ...attributes: [string, string][]): Token => ({ kind: "open", name, attributes });
const close = (name: string): Token => ({ kind: "close", name });
const text = (value: string): Token => ({ kind: "text", text: value });

describe("HTML is cut as browsers cut it", () => {
  test.each<[string, Token[]]>([
    ["a<b>c</b>d", [text("a"), open("b"), text("c"), close("b"), text("d")]],
    ["<A HREF=x Title='y>' data-z=\"&amp;\">", [open("a", ["href", "x"], ["title", "y>"], ["data-z", "&amp;"])]],
    ["<br/><img src=a/>", [open("br"), open("img", ["src", "a/"])]],
    ["<p a a=1 b = 2 c=>", [open("p", ["a", ""], ["b", "2"], ["c", ""])]],
    ['<p =x=1 "y>', [open("p", ["=x", "1"], ['"y', ""])]],
    ["<p\vclass=x>", [open("p\vclass=x")]],
    ["</p x='>'>y", [close("p"), text("y")]],
    ["1 < 2 <3 </", [text("1 < 2 <3 </")]],
    ["</>a</ b>c<!x>d<?y>e", [text("acde")]],
    ["a<!-->b<!--->c<!-- -- > -->d<!----!>e<!--!>f-->g", [text("abcdeg")]],
    ["<!--[if mso]><p>x</p><![endif]-->", []],
    ["<script>a</b></scripty></SCRIPT >b", [open("script"), text("a</b></scripty>"), close("script"), text("b")]],
    ["<title>&lt;b><b></title>", [open("title"), text("&lt;b><b>"), close("title")]],
    ["<plaintext></plaintext>", [open("plaintext"), text("</plaintext>")]],
    ["a<p title='b", [text("a")]],
  ])("%s", (html, tokens) => expect(joined(tokenize(html))).toEqual(tokens));

  test("Outlook reads conditional comments", () => {
    const state = startOfHtml();
    expect(joined(readOn(state, "<!--[if mso]><p>x</p><![endif]--><!--[if !mso]><!-->y<!--<![endif]-->", MAIL))).toEqual([
      open("p"),
      text("x"),
      close("p"),
      text("y"),
    ]);
  });
});

test("reading can be interrupted anywhere", () => {
  const pieces = fc.array(
    fc.constantFrom(
      ..."< > / = ! - -- --> --!> <!-- <!--[ ]> ? ' \" & a b script </script style </style> title plaintext x= x=' href=\" \t \n".split(
        " ",
      ),
      " ",
    ),
    { maxLength: 30 },
  );
  fc.assert(
    fc.property(pieces, fc.array(fc.nat(80), { maxLength: 8 }), fc.constantFrom(BROWSER, MAIL), (parts, cuts, dialect) => {
      const html = parts.join("");
      const [whole, cut] = [startOfHtml(), startOfHtml()];
      const expected = joined(readOn(whole, html, dialect));
      const at = [0, ...cuts.map((n) => Math.min(n, html.length)).sort((a, b) => a - b), html.length];
      const found = joined(at.slice(1).flatMap((end, i) => [...readOn(cut, html.slice(at[i], end), dialect)]));
      expect(found).toEqual(expected);
      expect({ ...cut, tail: "" }).toEqual({ ...whole, tail: "" });
    }),
    { numRuns: 3000, seed: 7 },
  );
});
