import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { explainAddress, explainVariables, parsePassages, parseSpans, type Span, splitVariables } from "./block-text.ts";
import { findUnfinished, MailBlocks } from "./blocks.ts";

/** Spans as a line that shows their kinds. */
const draw = (spans: readonly Span[]): string =>
  spans
    .map((span) => {
      if (span.kind === "words") return span.text;
      if (span.kind === "variable") return `<${span.source}>`;
      return span.kind === "link" ? `<a ${span.href}: ${draw(span.spans)}>` : `<${span.kind}: ${draw(span.spans)}>`;
    })
    .join("");

describe("a line", () => {
  test.each([
    ["plain", "plain"],
    ["a **bold** word", "a <strong: bold> word"],
    ["*it* and **bo*th*ld**", "<emphasis: it> and <strong: bo<emphasis: th>ld>"],
    ["2 * 3 * 4", "2 * 3 * 4"],
    ["**not closed", "**not closed"],
    ["** a **", "** a **"],
    ["\\*not\\* \\[x\\]", "*not* [x]"],
    ["[shop](https://a.example/x_(y))", "<a https://a.example/x_(y): shop>"],
    ["[a] and [b **c**](https://a.example)", "[a] and <a https://a.example: b <strong: c>>"],
    ["[a](no link", "[a](no link"],
    ["[](https://a.example)", "[](https://a.example)"],
    ["[{{name}}]({{url}})", "<a {{url}}: <{{name}}>>"],
    ['Hi {{default a "*x*"}}, *you*', 'Hi <{{default a "*x*"}}>, <emphasis: you>'],
    ["{{ open", "{{ open"],
  ])("%j is read as %j", (line, drawn) => {
    expect(draw(parseSpans(line))).toBe(drawn);
  });

  test("loses no word, whatever is written", () => {
    const piece = fc.constantFrom("*", "**", "[", "](", ")", "{{", "}}", "ü", " ", "\\");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const line = pieces.join("");
        const kept = draw(parseSpans(line)).replace(/[^ü]/g, "").length;
        expect(kept).toBe(line.replace(/[^ü]/g, "").length);
        expect(
          splitVariables(line)
            .map((span) => ("text" in span ? span.text : "source" in span ? span.source : ""))
            .join(""),
        ).toBe(line);
      }),
    );
  });

  test("of thousands of marks is read in a moment", () => {
    for (const mark of ["*", "**", "[", "[a](", "{{", "**a ", "*a*b"]) {
      const line = mark.repeat(10_000 / mark.length);
      const before = process.threadCpuUsage();
      parseSpans(line);
      splitVariables(line);
      const { user, system } = process.threadCpuUsage(before);
      expect((user + system) / 1000).toBeLessThan(1000);
    }
  });
});

test("lines make paragraphs and lists, which an empty line separates", () => {
  const passages = parsePassages("Hello\nyou\n\n- one\n- two\n1. first\n2) second\n\n\nBye\r\nbye");
  expect(passages.map(({ kind, lines }) => [kind, lines.map(draw)])).toEqual([
    ["paragraph", ["Hello", "you"]],
    ["bullets", ["one", "two"]],
    ["numbers", ["first", "second"]],
    ["paragraph", ["Bye", "bye"]],
  ]);
  expect(parsePassages(" \n\n")).toEqual([]);
});

describe("an address", () => {
  test.each([
    "https://a.example",
    "http://a.example/?q=1",
    "mailto:a@b.example",
    "{{url}}",
    "{{url}}/path",
    "https://{{host}}/a?b={{c}}",
    'https://a.example/{{default path "x y"}}',
  ])("can be %s", (href) => {
    expect(explainAddress(href)).toBeNull();
  });
  test.each([
    "javascript:alert(1)",
    " https://a.example",
    "www.a.example",
    "//a.example",
    "/path",
    "data:text/html,x",
    "https://bank.example@b.example",
    "https://",
    'https://a.example/"x',
    "https://a.example/a b",
    "tel:1",
  ])("cannot be %s", (href) => {
    expect(explainAddress(href)).not.toBeNull();
  });
  test("of a picture is one of the web", () => {
    expect(explainAddress("mailto:a@b.example", "image")).toContain("https://");
    expect(explainAddress("https://a.example/a.png", "image")).toBeNull();
  });
});

test.each(["{{{name}}}", "{{&name}}", "{{~{name}}}", "{{! note }}", "{{> footer}}", "{{#> x}}{{/x}}", '{{default a "<b>"}}'])(
  "%s cannot stand in a block",
  (text) => {
    expect(explainVariables(`a ${text}`)).not.toBeNull();
  },
);

test("in an attribute, a variable has one kind of quotes", () => {
  expect(explainVariables(`{{default a "it's"}}`)).toBeNull();
  expect(explainVariables(`{{default a "it's"}}`, "attribute")).toContain("quotes");
});

test("a fault names the block and its field", () => {
  const faults = MailBlocks.safeParse([
    { type: "columns", columns: [{ blocks: [] }, { blocks: [{ type: "divider" }, { type: "button", label: "x", href: "javascript:x" }] }] },
    { type: "text", text: "[a](ftp://x)" },
    { type: "columns", columns: [{ blocks: [{ type: "columns", columns: [] }] }, { blocks: [] }] },
  ]);
  expect(faults.error?.issues.map(({ path }) => path.join("."))).toEqual([
    "0.columns.1.blocks.1.href",
    "1.text",
    "2.columns.0.blocks.0.type",
  ]);
  const many = Array.from({ length: 120 }, () => ({ type: "divider" }));
  const columns = { type: "columns", columns: [{ blocks: many }, { blocks: many }] };
  expect(MailBlocks.safeParse([columns]).error?.issues[0]?.message).toContain("At most 200 blocks");
});

test("blocks tell what they still lack", () => {
  const blocks = MailBlocks.parse([
    { type: "image", src: "", alt: "" },
    { type: "columns", columns: [{ blocks: [{ type: "button", label: " ", href: "" }] }, { blocks: [] }] },
    { type: "text", text: "" },
  ]);
  expect(findUnfinished(blocks).map(({ path }) => path)).toEqual([
    "[0].src",
    "[1].columns[0].blocks[0].label",
    "[1].columns[0].blocks[0].href",
  ]);
});
