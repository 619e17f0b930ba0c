import { describe, expect, test } from "vitest";
import { RenderError } from "./compile.ts";
import { compileSet, type Part, render, TemplateFaults, type TemplateSet } from "./engine.ts";
import { loadParser, MAX_TAGS } from "./parser.ts";

const parse = await loadParser();

const bundle = (html: string, more: Partial<TemplateSet> = {}): TemplateSet => ({
  slug: "x",
  subject: null,
  html,
  text: null,
  variables: [],
  isLayout: false,
  layout: null,
  partials: new Map(),
  ...more,
});
const part = (slug: string, html: string): [string, Part] => [slug, { slug, html, text: null, variables: [] }];

const faultsOf = (html: string, more: Partial<TemplateSet> = {}) => {
  try {
    compileSet(parse, bundle(html, more));
  } catch (error) {
    if (error instanceof TemplateFaults) return error.faults;
    throw error;
  }
  return [];
};
const codes = (html: string, more: Partial<TemplateSet> = {}): string[] => faultsOf(html, more).map((f) => f.code);
const out = (html: string, values: Record<string, unknown> = {}, more: Partial<TemplateSet> = {}) =>
  render(compileSet(parse, bundle(html, more)), values, { lenient: true }).html;
const failure = (html: string, values: Record<string, unknown>, more: Partial<TemplateSet> = {}): string => {
  const compiled = compileSet(parse, bundle(html, more));
  try {
    render(compiled, values);
  } catch (error) {
    return error instanceof RenderError ? error.code : (error as Error).name;
  }
  return "";
};

describe("a template that reaches behind its values is refused", () => {
  test.each([
    "{{__proto__}}",
    "{{a.__proto__.b}}",
    "{{constructor.constructor}}",
    "{{a.constructor}}",
    "{{this.constructor}}",
    "{{this/constructor}}",
    "{{./constructor}}",
    "{{[constructor]}}",
    "{{a.[__proto__]}}",
    "{{a.[constructor].[constructor]}}",
    "{{@root.constructor}}",
    "{{@root.a.__proto__}}",
    "{{#with constructor}}{{/with}}",
    "{{#each __proto__}}{{/each}}",
    "{{#if a.prototype}}{{/if}}",
    "{{#with a as |constructor|}}{{/with}}",
    "{{upper constructor.name}}",
    "{{date d style=__proto__}}",
    "{{#if (eq a.constructor b)}}{{/if}}",
    "{{a.__defineGetter__}}",
    "{{a.__lookupGetter__}}",
    "{{> x constructor=a}}",
    "{{> x a=b.__proto__}}",
  ])("%s", (source) => {
    expect(codes(source, { partials: new Map([part("x", "x")]) })).toContain("prototype" satisfies string);
  });

  test.each([
    ["{{lookup a 'constructor'}}", "unknown_helper"],
    ["{{#if (lookup a 'b')}}{{/if}}", "unknown_helper"],
    ["{{log a}}", "unknown_helper"],
    ["{{helperMissing a}}", "unknown_helper"],
    ["{{blockHelperMissing a}}", "unknown_helper"],
    ["{{#blockHelperMissing a}}{{/blockHelperMissing}}", "unknown_helper"],
    ["{{a.b.c d}}", "unknown_helper"],
    ["{{toString x}}", "unknown_helper"],
    ["{{hasOwnProperty 'a'}}", "unknown_helper"],
    ["{{#a}}{{/a}}", "unknown_helper"],
    ["{{^a}}{{/a}}", "unknown_helper"],
    ["{{{{raw}}}}{{{{/raw}}}}", "unknown_helper"],
    ["{{@root}}", "not_allowed"],
    ["{{@level}}", "not_allowed"],
    ["{{@index}}", "not_allowed"],
    ["{{@partial-block}}", "not_allowed"],
    ["{{> @partial-block}}", "not_allowed"],
    ["{{> (lookup . 'a')}}", "not_allowed"],
    ["{{> ../x}}", "not_allowed"],
    ["{{> [../../etc/passwd]}}", "not_allowed"],
    ["{{#> x}}{{/x}}", "not_allowed"],
    ["{{* inline}}", "not_allowed"],
    ["{{#*inline 'a'}}{{/inline}}", "not_allowed"],
    ["{{../a}}", "leads_out"],
    ["{{#each a}}{{../../b}}{{/each}}", "leads_out"],
    ["{{{a}}}", "unescaped"],
    ["{{&a}}", "unescaped"],
    ["{{{upper a}}}", "unescaped"],
    ["{{#each a b}}{{/each}}", "wrong_arguments"],
    ["{{#if}}{{/if}}", "wrong_arguments"],
    ["{{upper a b}}", "wrong_arguments"],
    ["{{upper a x=1}}", "wrong_arguments"],
    ["{{'text'}}", "not_allowed"],
    ["{{5}}", "not_allowed"],
  ])("%s: %s", (source, code) => expect(codes(source, { partials: new Map([part("x", "x")]) })).toContain(code));

  test.each(["toString", "valueOf", "hasOwnProperty", "isPrototypeOf", "length", "push", "then"])(
    "what values inherit is not there: %s",
    (name) => {
      expect(out(`[{{${name}}}{{a.${name}}}{{#if b.${name}}}yes{{/if}}]`, { a: {}, b: [] })).toBe(`[{{${name}}}{{a.${name}}}]`);
    },
  );

  test("a value called like machinery is a value and nothing more", () => {
    const values = JSON.parse('{"a":{"__proto__":{"polluted":"yes"}},"__proto__":{"b":"yes"}}') as Record<string, unknown>;
    expect(out("[{{a.polluted}}{{b}}]", values)).toBe("[{{a.polluted}}{{b}}]");
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test("values passed to a partial under any name do not reach prototypes", () => {
    const values = JSON.parse('{"__proto__":{"b":"inherited"},"a":"x"}') as Record<string, unknown>;
    expect(out("{{> p c=a}}", values, { partials: new Map([part("p", "[{{b}}{{c}}]")]) })).toBe("[{{b}}x]");
  });
});

describe("values stay where they are put", () => {
  test.each([
    ["an attribute without quotes", "<a href={{a}}>"],
    ["part of one", "<a href=/x/{{a}}>"],
    ["a tag name", "<{{a}}>"],
    ["an end tag", "</{{a}}>"],
    ["an attribute name", "<p {{a}}>"],
    ["after an attribute", '<p class="x" {{a}}>'],
    ["a script", "<script>var a = '{{a}}'</script>"],
    ["a script in capitals", "<SCRIPT type='x'>{{a}}</SCRIPT>"],
    ["a handler", '<p onclick="f({{a}})">'],
    ["srcdoc", '<iframe srcdoc="{{a}}">'],
    ["an attribute, with three braces", '<p title="{{{h}}}">'],
    ["a comment, with three braces", "<!-- {{{h}}} -->"],
    ["a tag that opens in one branch", "{{#if a}}<p title={{/if}}{{b}}"],
    ["quotes opened in one branch", '<p {{#if a}}title="{{/if}}{{b}}">'],
    ["a loop that leaves a tag open", "{{#each a}}<p {{/each}}"],
    ["a tag opened in a partial", "{{> open}}{{a}}"],
    ["a conditional comment", "<!--[if mso]><a href={{a}}></a><![endif]-->"],
  ])("%s is no place for one", (_where, source) => {
    const more = { partials: new Map([part("open", "<p title=")]), variables: [{ name: "h", type: "html" as const }] };
    expect(codes(source, more)).toContain("unsafe_place");
  });

  test.each([
    ["a script", '<a href="javascript:{{a}}">'],
    ["a script by reference", '<a href="&#106;avascript:{{a}}">'],
    ["a script with a line break by reference", '<a href="java&#x0A;script:{{a}}">'],
    ["a script with a colon by name", '<a href="javascript&colon;{{a}}">'],
    ["a script with a tab in it", '<a href="java\tscript:{{a}}">'],
    ["a script after spaces", `<a href="${" ".repeat(500)}javascript:{{a}}">`],
    ["a script in single quotes and capitals", "<a HREF='JavaScript:{{a}}'>"],
    ["a script in a frame", '<iframe src="javascript:{{a}}"></iframe>'],
    ["a script a form is sent to", '<form action="vbscript:{{a}}">'],
    ["a document of data", '<a href="data:text/html,{{a}}">'],
    ["an image of data of unknown type", '<img src="data:{{a}};base64,{{b}}">'],
    ["a scheme that is a value", '<a href="{{a}}:alert(1)">'],
    ["a scheme that ends in a value", '<a href="{{#if a}}java{{else}}x{{/if}}script:{{b}}">'],
    ["a scheme in a partial", '<a href="{{> js}}{{a}}">'],
    ["a partial in a script", '<a href="javascript:{{> value}}">'],
    ["a character reference that a value completes", '<a href="javascript&col{{a}}on;alert(1)">'],
    ["a script in a conditional comment", '<!--[if mso]><a href="javascript:{{a}}"></a><![endif]-->'],
    ["a refresh", '<meta http-equiv="refresh" content="0;url={{a}}">'],
    ["a refresh whose address comes first", '<meta content="0;url={{a}}" HTTP-EQUIV=Refresh>'],
    ["a refresh by reference", '<meta http-equiv="&#114;efresh" content="{{a}}">'],
    ["a refresh that is a value", '<meta http-equiv="{{a}}" content="0;url=https://a.test">'],
    ["a refresh in one branch", '<meta {{#if a}}http-equiv="refresh"{{else}}name="x"{{/if}} content="{{b}}">'],
    ["an attribute that an animation sets", '<svg><a><set attributeName="href" to="{{a}}"/></a></svg>'],
    ["the end of a comment", "<!-- --{{a}}>"],
    ["the end tag of a style", "<style>p{}</sty{{a}}>"],
  ])("%s is no place for one", (_where, source) => {
    const partials = new Map([part("js", "javascript:"), part("value", "{{a}}")]);
    expect(codes(source, { partials })).toContain("unsafe_place");
  });

  test("a brace directly behind a placeholder is refused with the way out, which works", () => {
    const [fault] = faultsOf("<style>@media screen{p{color:{{c}}}}</style>");
    expect(fault).toMatchObject({ code: "syntax_error", message: expect.stringContaining("put a blank between }} and }.") });
    expect(faultsOf("<style>@media screen{p{color:{{c}} }}</style>")).toEqual([]);
  });

  test("a fault is named in the part it is in", () => {
    const partials = new Map([part("button", "<a href={{url}}>")]);
    const layout: Part = { slug: "frame", html: "<body class={{c}}>{{{body}}}</body>", text: null, variables: [] };
    expect(faultsOf("<p>{{> button}}</p>", { partials })).toMatchObject([{ part: "button", field: "html", line: 1, column: 9 }]);
    expect(faultsOf("<p {{a}}></p>", { layout })).toMatchObject([{ part: "frame" }, { part: null, column: 4 }]);
  });

  test.each([
    "<p title=\"{{a}}\" class='x {{b}}'>{{c}}</p>",
    '<a href="{{url}}">{{{h}}}</a>',
    "<style>p { color: {{a}} }</style>",
    "<!-- {{a}} -->",
    '<!--[if mso]><v:rect href="{{url}}"></v:rect><![endif]-->',
    "a < b {{c}} <3 {{d}}",
    '<p {{#if a}}class="b"{{/if}} {{#each l}}data-x="{{this}}"{{/each}}>x</p>',
    '<td width="{{#if a}}1{{else}}{{b}}{{/if}}">',
    "<title>{{a}}</title><textarea>{{b}}</textarea>",
    '<a href="https:{{a}}">',
    '<a href="{{a}}?at=12:30&next=https://x.test/{{b}}">',
    '<a href="{{a}}&amp;at=12:30">',
    '<a href="mailto:{{a}}?subject={{b}}">',
    '<img src="data:image/png;base64,{{a}}">',
    '<a href="{{a}}{{b}}/{{c}}">',
    '<meta name="description" content="{{a}}"><meta http-equiv="Content-Type" content="text/html">',
    '<p title="javascript:{{a}}">',
    "<!DOCTYPE html><html><body>{{a}}</body></html>",
  ])("%s is fine", (source) => expect(faultsOf(source, { variables: [{ name: "h", type: "html" }] })).toEqual([]));

  test.each([
    "javascript:alert(1)",
    " JaVaScRiPt:alert(1)",
    "java\tscript:alert(1)",
    "java\nscript:x",
    "\u0001javascript:x",
    "vbscript:x",
    "data:text/html,<script>",
    "data:image/svg+xml,<svg>",
    "file:///etc/passwd",
    "blob:x",
    "x-custom:y",
    "\u200bjavascript:x",
    `${" ".repeat(300)}javascript:x`,
  ])("a link to %j is refused", (url) => {
    expect(failure('<a href="{{url}}">x</a>', { url })).toBe("unsafe_url");
    expect(failure("<img src='{{#if on}}{{url}}{{/if}}'>", { url, on: true })).toBe("unsafe_url");
    expect(failure('<a href="{{> p}}">x</a>', { url }, { partials: new Map([part("p", "{{url}}")]) })).toBe("unsafe_url");
    for (const at of [1, 4, 11]) {
      const [a, b] = [url.slice(0, at), url.slice(at)];
      expect(failure('<a href="{{a}}{{b}}">x</a>', { a, b })).toBe("unsafe_url");
      expect(failure("<a title=\"'\" href='{{#each l}}{{this}}{{/each}}'>x</a>", { l: [a, b] })).toBe("unsafe_url");
    }
    expect(failure(`<a href="${url.trim().slice(0, 3)}{{rest}}">x</a>`, { rest: url.trim().slice(3) })).toBe("unsafe_url");
  });

  test("an address of two values is put together before it is judged", () => {
    const partials = new Map([part("p", "{{a}}{{b}}")]);
    const values = { a: "https://acme.test", b: "/x:y" };
    expect(out("<a href=\"{{> p}}\">x</a><a href='{{> p}}'>y</a>", values, { partials })).toBe(
      "<a href=\"https://acme.test/x:y\">x</a><a href='https://acme.test/x:y'>y</a>",
    );
  });

  test.each([
    "https://acme.test/a?b=c:d",
    "http://x",
    "mailto:a@b.c",
    "tel:+49",
    "cid:logo",
    "/path:x",
    "#top",
    "?a=b:c",
    "page",
    "data:image/png;base64,AA",
  ])("a link to %j is followed", (url) => expect(failure('<a href="{{url}}">x</a>', { url })).toBe(""));

  test("an address behind a fixed beginning may be anything", () => {
    expect(failure('<a href="https://acme.test/?next={{urlEncode url}}">x</a>', { url: "javascript:x" })).toBe("");
  });
});

describe("nothing keeps the server busy", () => {
  // Time of the processor, which is the same during other work.
  const under = (ms: number, work: () => void): void => {
    const from = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(from);
    expect((user + system) / 1000).toBeLessThan(ms);
  };

  test.each<[string, string, Record<string, unknown>]>([
    ["a list of a million", "{{#each a}}x{{/each}}", { a: new Array(1_000_000).fill(0) }],
    ["loops in loops in loops", "{{#each a}}{{#each ../a}}{{#each ../../a}}{{/each}}{{/each}}{{/each}}", { a: new Array(2000).fill(0) }],
    ["a loop of empty values", `{{#each a}}${"{{b}}".repeat(500)}{{/each}}`, { a: new Array(100_000).fill({ b: "" }) }],
    ["helpers over a long text", "{{#if (eq (upper a) 'x')}}{{/if}}".repeat(2000), { a: "a".repeat(5_000_000) }],
    ["comparing long texts", "{{#if (eq a b)}}{{/if}}".repeat(5000), { a: "a".repeat(5_000_000), b: `${"a".repeat(4_999_999)}b` }],
    ["joining a long list", "{{#if (eq (join a) 'x')}}{{/if}}".repeat(2000), { a: new Array(500_000).fill("abc") }],
  ])("%s fails soon and clearly", (_what, source, values) => under(2000, () => expect(failure(source, values)).toBe("too_much_work")));

  test.each<[string, string, Record<string, unknown>]>([
    ["a long value many times", "{{a}}".repeat(5000), { a: "a".repeat(1_000_000) }],
    ["long text in a loop", `{{#each a}}${"x".repeat(100_000)}{{/each}}`, { a: new Array(1000).fill(0) }],
    ["values that grow by escaping", "{{a}}", { a: '"'.repeat(1_000_000) }],
  ])("%s is too long", (_what, source, values) => under(3000, () => expect(failure(source, values)).toBe("output_too_large")));

  test("partials that multiply", () => {
    const partials = new Map(Array.from({ length: 9 }, (_, i) => part(`p${i}`, i === 8 ? "ha" : `{{> p${i + 1}}}`.repeat(10))));
    under(3000, () =>
      expect(["too_large", "too_much_work", "output_too_large"]).toContain(
        faultsOf("{{> p0}}", { partials })[0]?.code ?? failure("{{> p0}}", {}, { partials }),
      ),
    );
  });

  test("partials in a circle, or too deep", () => {
    const circle = new Map([part("a", "{{> b}}"), part("b", "{{> c}}"), part("c", "{{> a}}")]);
    expect(faultsOf("{{> a}}", { partials: circle })).toMatchObject([
      { code: "cycle", message: expect.stringContaining("a > b > c > a"), part: "c" },
    ]);
    expect(codes("{{> a}}", { partials: new Map([part("a", "{{> a}}")]) })).toEqual(["cycle"]);
    const deep = new Map(Array.from({ length: 20 }, (_, i) => part(`p${i}`, `{{> p${i + 1}}}`)));
    expect(codes("{{> p0}}", { partials: deep })).toEqual(["too_deep"]);
  });

  test.each([
    ["blocks 10,000 deep", "{{#if a}}".repeat(10_000) + "{{/if}}".repeat(10_000), "too_deep"],
    ["blocks that are never closed", "{{#if a}}".repeat(100_000), "too_deep"],
    ["a thousand parentheses", `{{upper ${"(lower ".repeat(5000)}a${")".repeat(5000)}}}`, "too_deep"],
    ["helpers nested nine deep", `{{upper ${"(lower ".repeat(9)}a${")".repeat(9)}}}`, "too_deep"],
    ["a path of a hundred parts", `{{${"a.".repeat(100)}a}}`, "too_deep"],
    ["too many placeholders", "{{a}}".repeat(MAX_TAGS + 1), "too_many_tags"],
    ["a placeholder of a megabyte", `{{default a ${'""'.repeat(500_000)}}}`, "tag_too_long"],
    ["a placeholder without an end", `{{default a ${'""'.repeat(500_000)}`, "tag_too_long"],
    ["placeholders of a megabyte in all", `{{default a "${"x".repeat(4000)}"}}`.repeat(250), "too_many_tags"],
    ["a megabyte of opening braces", "{".repeat(1_000_000), "tag_too_long"],
    ["comments that are never closed", "{{!--".repeat(200_000), "syntax_error"],
    ["strings that are never closed", `{{upper "${'\\"'.repeat(400_000)}`, "tag_too_long"],
    ["segments that are never closed", "{{[".repeat(9000), "tag_too_long"],
    ["else after else", `{{#if a}}${"{{else}}".repeat(5000)}{{/if}}`, "syntax_error"],
    ["thousands of blocks side by side, then a fault", `${"{{#if a}}{{/if}}".repeat(4999)}{{`, "syntax_error"],
    ["a long chain of else if", `{{#if a}}${"{{else if a}}".repeat(9000)}{{/if}}`, "too_deep"],
  ])("%s", (_what, source, code) => under(5000, () => expect(codes(source)[0]).toBe(code)));

  test("many megabytes put together are refused unread", () => {
    const partials = new Map(Array.from({ length: 5 }, (_, i) => part(`p${i}`, "{{a}}".repeat(200_000))));
    under(1000, () => expect(codes("{{> p0}}", { partials })).toEqual(["too_large"]));
  });

  test("a megabyte without a single placeholder is a template like any other", () => {
    const html = "<p>x</p>".repeat(125_000);
    under(3000, () => expect(out(html)).toBe(html));
  });
});
