import fc from "fast-check";
import { expect, test } from "vitest";
import { anyCharacter } from "../../../test/any-character.ts";
import { isSafeUrl } from "../../html/urls.ts";
import { compileSet, render } from "./engine.ts";
import { loadParser } from "./parser.ts";

const parse = await loadParser();
const bundle = { slug: "x", subject: null, text: null, variables: [], isLayout: false, layout: null, partials: new Map() };

/** The tags, attributes, comments and text runs of HTML, by a separate reader, so that a mistake is not made twice. */
const shapeOf = (html: string): string[] => {
  const shape: string[] = [];
  let rest = html;
  while (rest !== "") {
    const comment = /^<!--[\s\S]*?-->/.exec(rest);
    const tag = /^<(\/?)([a-z]+)((?:\s+[a-z-]+="[^"]*"|\s+[a-z-]+='[^']*')*)\s*>/.exec(rest);
    const text = /^[^<]+/.exec(rest);
    const [whole] = comment ?? tag ?? text ?? [rest[0] as string];
    if (comment) shape.push("comment");
    else if (tag) shape.push(`${tag[1]}${tag[2]}[${[...(tag[3] as string).matchAll(/([a-z-]+)=/g)].map((m) => m[1]).join()}]`);
    else if (!text) shape.push("broken");
    rest = rest.slice(whole.length);
  }
  return shape;
};

const PAGE =
  '<!-- {{a}} --><p title="{{a}}" class=\'{{b}} x\'>{{a}}</p><a href="https://acme.test/?q={{b}}">{{upper a}}</a>{{#each list}}<li data-x="{{this}}">{{this}}</li>{{/each}}<style>p { color: {{b}} }</style>';
const compiled = compileSet(parse, { ...bundle, html: PAGE });

// Texts that break out of unescaped markup, among everything else.
const nasty = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "<",
        ">",
        '"',
        "'",
        "`",
        "=",
        "&",
        "-->",
        "--!>",
        "</style>",
        "</p>",
        "<script>",
        " onclick=",
        "/>",
        "{{a}}",
        "{{{a}}}",
        "\\",
        "\u2028",
        "&#60;",
        "&lt",
      ),
      fc.string({ unit: anyCharacter, maxLength: 5 }),
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join(""));

test("no value changes the shape of the page it is put into", () => {
  const plain = { a: "a", b: "b", list: ["x", "y"] };
  const expected = shapeOf(render(compiled, plain).html ?? "");
  expect(expected).toContain("li[data-x]");
  fc.assert(
    fc.property(nasty, nasty, nasty, (a, b, c) => {
      expect(shapeOf(render(compiled, { a, b, list: [a, c] }).html ?? "")).toEqual(expected);
    }),
    { numRuns: 2000, seed: 7 },
  );
});

test("every value can be read back from the page as it was", () => {
  const decode = (html: string): string =>
    html.replace(
      /&(amp|lt|gt|quot|#x27|#x60|#x3D);/g,
      (_all, name) => ({ amp: "&", lt: "<", gt: ">", quot: '"', "#x27": "'", "#x60": "`", "#x3D": "=" })[name as string] ?? "",
    );
  const one = compileSet(parse, { ...bundle, html: "<p>{{a}}</p>" });
  fc.assert(
    fc.property(nasty, (a) => {
      expect(decode((render(one, { a }).html ?? "").slice(3, -4))).toBe(a);
    }),
    { seed: 7 },
  );
});

test("text and subject are not escaped", () => {
  const both = compileSet(parse, { ...bundle, html: "<p>{{a}}</p>", text: "{{a}} {{{a}}}", subject: "{{a}}" });
  expect(render(both, { a: "<&>\"'`=" })).toMatchObject({
    text: "<&>\"'`= <&>\"'`=",
    subject: "<&>\"'`=",
    html: "<p>&lt;&amp;&gt;&quot;&#x27;&#x60;&#x3D;</p>",
  });
});

test("a variable declared as HTML is put in as it is, and only between tags", () => {
  const raw = compileSet(parse, { ...bundle, html: "<p>{{{a}}} {{a}}</p>", variables: [{ name: "a", type: "html" }] });
  expect(render(raw, { a: "<b>x</b>" }).html).toBe("<p><b>x</b> &lt;b&gt;x&lt;/b&gt;</p>");
});

test("what a browser takes for a scheme that runs code is never safe", () => {
  fc.assert(
    fc.property(
      fc.constantFrom("javascript:", "JAVASCRIPT:", "vbscript:", "data:text/html,"),
      fc.array(fc.constantFrom("\t", "\n", "\r", "\0", " ", "\u0001", "\u001f"), { maxLength: 5 }),
      fc.nat(8),
      (scheme, marks, at) => {
        // Browsers strip these in front, and tabs and line breaks anywhere.
        const inside = marks.filter((m) => /[\t\n\r]/.test(m)).join("");
        expect(isSafeUrl(`${marks.join("")}${scheme.slice(0, at)}${inside}${scheme.slice(at)}x`)).toBe(false);
      },
    ),
    { seed: 7 },
  );
});
