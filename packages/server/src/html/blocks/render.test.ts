import type { MailBlock } from "@mailsvc/sdk/contract";
import { describe, expect, test } from "vitest";
import { toPlainText } from "../plain-text.ts";
import { tokenize } from "../tokenizer.ts";
import type { BlockBrand } from "./look.ts";
import { renderBlocks } from "./render.ts";

const NONE: BlockBrand = { colors: {}, fonts: {}, locale: null };

const SPRING: MailBlock[] = [
  { type: "heading", level: 1, text: 'Spring is here, {{default firstName "friend"}}' },
  {
    type: "text",
    text: "The **new** collection is *in*.\nCome & see:\n\n- light jackets\n- [rain coats](https://acme.example/rain?a=1&b=2)",
  },
  { type: "image", src: "https://acme.example/coat.png", alt: 'A "coat"', href: "https://acme.example/rain" },
  {
    type: "columns",
    columns: [
      {
        blocks: [
          { type: "heading", level: 3, text: "Jackets" },
          { type: "button", label: "Jackets", href: "{{shopUrl}}", color: "#0A7D32" },
        ],
      },
      {
        blocks: [
          { type: "image", src: "https://acme.example/hat.png", alt: "", width: 120, align: "end" },
          { type: "spacer", height: 12 },
        ],
      },
    ],
  },
  { type: "divider" },
  { type: "button", label: "All of it", href: "https://acme.example", align: "center" },
  { type: "text", size: "small", align: "center", text: "Acme Ltd, 1 Main Street" },
];

test("blocks become this HTML", async () => {
  await expect(renderBlocks(SPRING, NONE)).toMatchFileSnapshot("golden/spring.html.snap");
});

test("the brand gives colors, fonts, language and direction", async () => {
  const colors = { primary: "#ffd400", accent: "#b3261e", background: "#fff8e7", text: "#402e10" };
  const html = renderBlocks(SPRING, { colors, fonts: { heading: 'Fraunces"; color: red', body: "Inter" }, locale: "ar" });
  await expect(html).toMatchFileSnapshot("golden/brand.html.snap");
  expect(html).toContain('<html lang="ar" dir="rtl"');
  expect(html).not.toContain("color: red");
});

test("a brand with a dark background looks the same in both modes", () => {
  const html = renderBlocks(SPRING, { ...NONE, colors: { background: "#101418" } });
  expect(html).toContain('<meta name="color-scheme" content="dark">');
  expect(html).not.toContain("prefers-color-scheme");
});

test("empty blocks take no room, and a button without a link leads nowhere", () => {
  const html = renderBlocks(
    [
      { type: "heading", text: "  " },
      { type: "text", text: "\n" },
      { type: "image", src: "", alt: "x" },
      { type: "button", label: "", href: "https://a.example" },
      { type: "button", label: "Soon", href: "" },
    ],
    NONE,
  );
  expect(html.match(/<tr><td style="padding:8px 24px/g)).toHaveLength(1);
  expect(html).not.toContain("href");
});

test("the plain text reads as written", () => {
  expect(toPlainText(renderBlocks(SPRING, NONE))).toMatchInlineSnapshot(`
    "Spring is here, {{default firstName "friend"}}

    The new collection is in.
    Come & see:

    - light jackets
    - rain coats (https://acme.example/rain?a=1&b=2)

    A "coat" (https://acme.example/rain)

    Jackets

    Jackets

    All of it (https://acme.example)

    Acme Ltd, 1 Main Street"
  `);
});

describe("what is hostile", () => {
  const HOSTILE = `</td></table><script>x</script>"'\`><img src=x onerror=x>{{a}}\\{{b}}<!--[if mso]>&lt;`;
  /** Every text of every kind of block. */
  const everywhere = (text: string): MailBlock[] => [
    { type: "heading", text },
    { type: "text", text: `${text}\n\n- ${text}\n\n**${text}** [${text}](https://a.example)` },
    { type: "image", src: "https://a.example/{{x}}", alt: text, href: "mailto:{{y}}@a.example" },
    { type: "button", label: text, href: "https://a.example" },
    {
      type: "columns",
      columns: [{ blocks: [{ type: "heading", text }] }, { blocks: [{ type: "image", src: "https://a.example", alt: text }] }],
    },
  ];
  /** Tags and names of attributes: the structure of a page. */
  const outline = (html: string): string[] =>
    [...tokenize(html)].flatMap((token) =>
      token.kind === "open"
        ? [`${token.name} ${token.attributes.map(([name]) => name).join(" ")}`]
        : token.kind === "close"
          ? [`/${token.name}`]
          : [],
    );

  test("stays text in every field", () => {
    expect(outline(renderBlocks(everywhere(HOSTILE), NONE))).toEqual(outline(renderBlocks(everywhere("harmless"), NONE)));
  });

  test("keeps variables as they are written, but for the kind of quotes in attributes", () => {
    const html = renderBlocks(everywhere('a {{default name "x & y"}} \\{{b}}'), NONE);
    expect(html).toContain('a {{default name "x & y"}} &#92;{{b}}');
    expect(html).toContain(`alt="a {{default name 'x & y'}} &#92;{{b}}"`);
  });
});
