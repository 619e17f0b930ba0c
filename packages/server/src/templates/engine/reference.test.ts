import fc from "fast-check";
import Handlebars from "handlebars";
import { expect, test } from "vitest";
import { anyCharacter } from "../../../test/any-character.ts";
import { compileSet, render } from "./engine.ts";
import { loadParser } from "./parser.ts";

const parse = await loadParser();

const ours = (html: string, values: Record<string, unknown>): string | null =>
  render(
    compileSet(parse, { slug: "x", subject: null, html, text: null, variables: [], isLayout: false, layout: null, partials: new Map() }),
    values,
  ).html;

const theirs = (html: string, values: Record<string, unknown>): string => Handlebars.compile(html)(values);

// Names that are always there, so that what is missing plays no part: that is where we differ on purpose.
const scalar = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 8 }),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.constantFrom("<&>\"'`=", ""),
);
const values = fc.record({
  a: scalar,
  b: scalar,
  o: fc.record({ a: scalar, b: scalar, list: fc.array(fc.record({ a: scalar, b: scalar }), { maxLength: 3 }) }),
  list: fc.array(fc.record({ a: scalar, b: scalar }), { maxLength: 3 }),
  map: fc.dictionary(fc.constantFrom("k", "l", "m"), scalar, { maxKeys: 3 }),
});

const text = fc.constantFrom("", "x", " ", "\n", "\n\n  ", "<p>", "</p>", "<br>\n", "é\u{1f600}", "\\n", "{ }", "a'b\"c");
const strip = fc.constantFrom("", "~");
const name = fc.constantFrom("a", "b", "this.a", "./b");

type Inner = fc.Arbitrary<string>;
const tagged = (open: string, inner: Inner, otherwise: Inner, close: string): Inner =>
  fc.tuple(strip, strip, inner, fc.option(otherwise), strip, fc.constantFrom("", "\n", "\n  ")).map(([l, r, body, other, l2, gap]) => {
    const inverse = other === null ? "" : `{{else}}${gap}${other}`;
    return `${gap}{{${l}#${open}${r}}}${gap}${body}${inverse}{{${l2}/${close}}}${gap}`;
  });

/** Templates of what both know; every block keeps a and b within reach. */
const template = fc.letrec<{ part: string; all: string }>((tie) => ({
  all: fc.array(tie("part"), { maxLength: 5 }).map((parts) => parts.join("")),
  part: fc.oneof(
    { depthSize: "small" },
    text,
    fc.tuple(strip, name, strip).map(([l, n, r]) => `{{${l}${n}${r}}}`),
    fc.constantFrom("{{!-- {{a}} --}}", "{{! note }}", "\\{{a}}", "{{@root.a}}", "{{@root.o.b}}"),
    name.chain((n) => tagged(`if ${n}`, tie("all"), tie("all"), "if")),
    name.chain((n) => tagged(`unless ${n}`, tie("all"), tie("all"), "unless")),
    fc.tuple(name, name, tie("all"), tie("all")).map(([n, m, x, y]) => `{{#if ${n}}}${x}{{else if ${m}}}${y}{{else}}-{{/if}}`),
    tagged(
      "each @root.list",
      fc.tuple(tie("all"), fc.constantFrom("", "{{@index}}{{@first}}{{@last}}")).map(([x, y]) => x + y),
      tie("all"),
      "each",
    ),
    tagged(
      "each @root.list as |it i|",
      tie("all").map((x) => `${x}{{i}}{{it.a}}`),
      tie("all"),
      "each",
    ),
    tagged("with @root.o", tie("all"), tie("all"), "with"),
    fc.constantFrom(
      "{{#each @root.map}}{{@key}}={{this}};{{/each}}",
      "{{#each @root.map as |v k|}}{{k}}{{v}}{{/each}}",
      "{{@root.list.length}}",
    ),
  ),
}));

test("what it renders is what Handlebars renders", () => {
  fc.assert(
    fc.property(template.all, values, (source, given) => {
      expect(ours(source, given)).toBe(theirs(source, given));
    }),
    { numRuns: 150, seed: 20260101 },
  );
});

test.each([
  ["a partial alone on its line", "<ul>\n  {{> item}}\n</ul>\n"],
  ["with a tab and values", "<ul>\n\t {{> item a=b}}\n</ul>"],
  ["in a block", "{{#if a}}\n    {{> item}}\n{{/if}}\n"],
  ["in a partial", "  {{> outer}}\nend"],
  ["empty", "a\n  {{> empty}}\nb"],
  ["that ends with an empty line", "a\n  {{> lines}}\nb"],
  ["next to something", "<li>  {{> item}}</li>\n"],
  ["that trims", "<ul>\n  {{~> item~}}\n</ul>"],
])("a partial keeps its indentation on every line: %s", (_name, source) => {
  const partials = { item: "<li>{{a}}</li>\n<li>{{b}}</li>", outer: "<ul>\n  {{> item}}\n</ul>\n", empty: "", lines: "x\n\ny\n\n" };
  const given = { a: "one\ntwo", b: "three" };
  const parts = new Map(Object.entries(partials).map(([slug, html]) => [slug, { slug, html, text: null, variables: [] }]));
  const set = { slug: "x", subject: null, html: source, text: null, variables: [], isLayout: false, layout: null, partials: parts };
  expect(render(compileSet(parse, set), given).html).toBe(Handlebars.compile(source)(given, { partials }));
});

test.each([
  ["{{#each list}}{{../a}}{{#with ../o}}{{b}}{{../../a}}{{/with}}{{/each}}"],
  ["{{#each o.list}}{{#if a}}{{../b}}{{/if}}{{/each}}"],
  ["{{#each list}}{{#each ../o.list}}{{@../index}}{{@index}}{{../a}}{{/each}}{{/each}}"],
  ["{{#with o as |x|}}{{x.a}}{{#each list as |y|}}{{x.b}}{{y.a}}{{/each}}{{/with}}"],
])("what leads out of a block leads where Handlebars leads: %s", (source) => {
  const given = { a: "A", b: "B", list: [{ a: 1 }, { a: 2 }], o: { a: "oa", b: "ob", list: [{ a: 3, b: "x" }, { a: 0 }] } };
  expect(ours(source, given)).toBe(theirs(source, given));
});
