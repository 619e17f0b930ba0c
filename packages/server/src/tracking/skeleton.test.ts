import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { addUtm, assemble, cutHtml, toAttribute } from "./skeleton.ts";

const linksOf = async (html: string): Promise<string[]> =>
  (await cutHtml(html)).cuts.flatMap((cut) => (cut.kind === "link" ? [cut.url] : []));

/** The HTML with its links replaced, and the place of the pixel. */
const rewrite = async (html: string, url = "https://t/1"): Promise<string> =>
  assemble(await cutHtml(html), (cut) => (cut.kind === "pixel" ? "<PIXEL>" : toAttribute(url, cut.bare)));

test("an unchanged mail is put together as it was", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.oneof(
          fc.constantFrom(
            '<a href="https://a/?x=1&amp;y=2">',
            "<a href='http://b'>",
            "<a href=https://c>",
            "</body>",
            "</html>",
            "<!--",
            "-->",
            "<!--[if mso]>",
            "<![endif]-->",
            "<style>",
            "</style>",
            "<",
            "</",
            '"',
            "'",
            "=",
            ">",
            "text",
            "<a href>",
            '<area HREF = "https://d" ',
          ),
          fc.string(),
        ),
        { maxLength: 12 },
      ),
      async (parts) => {
        const html = parts.join("");
        expect(await assemble(await cutHtml(html), (cut) => (cut.kind === "pixel" ? "" : cut.source))).toBe(html);
      },
    ),
  );
});

test.each([
  ['<a href="https://a.example/x?b=1&amp;c=2#d">go</a>', "https://a.example/x?b=1&c=2#d"],
  ["<a class=x href='http://a.example'>go</a>", "http://a.example"],
  ["<a href=https://a.example/x>go</a>", "https://a.example/x"],
  ['<A TITLE=">" HREF = "https://a.example">', "https://a.example"],
  ['<map><area href="https://a.example"></map>', "https://a.example"],
  ['<!--[if mso]><v:roundrect href="https://a.example"></v:roundrect><![endif]-->', "https://a.example"],
  ['<a href=" https://a.example/é ">go</a>', "https://a.example/é"],
  ['<a href="https://a.example" href="https://second.example">', "https://a.example"],
])("a link is found: %s", async (html, url) => {
  expect(await linksOf(html)).toEqual([url]);
});

test.each([
  '<a href="mailto:a@b.example">',
  '<a href="tel:+123">',
  '<a href="#top">',
  '<a href="/relative">',
  '<a href="">',
  "<a href>",
  '<a href="javascript:alert(1)">',
  '<a href="https://">',
  '<a href="https://a.example" data-no-track>',
  '<a data-no-track="" href="https://a.example">',
  '<img src="https://a.example/x.png">',
  '<link href="https://a.example/x.css">',
  '<!-- <a href="https://a.example"> -->',
  '<style><a href="https://a.example"></style>',
  '<textarea><a href="https://a.example"></textarea>',
  `<a href="https://a.example/${"x".repeat(8000)}">`,
  '<a href="https://a.example"',
])("this is left as it is: %#", async (html) => {
  expect(await linksOf(html)).toEqual([]);
});

test("only the value of the attribute is replaced", async () => {
  expect(await rewrite('<p>A &amp; b <a  HREF="https://a"  class=x>go</a><!-- c --></p>')).toBe(
    '<p>A &amp; b <a  HREF="https://t/1"  class=x>go</a><!-- c --></p><PIXEL>',
  );
  expect(await rewrite("<a href=https://a>go</a>", "https://t/?a=1&b='2'")).toBe(
    '<a href="https://t/?a=1&amp;b=&#39;2&#39;">go</a><PIXEL>',
  );
  expect(await rewrite("<a href='https://a'>go</a>", "https://t/'")).toBe("<a href='https://t/&#39;'>go</a><PIXEL>");
});

test.each([
  ["<html><body><p>x</p></body></html>", "<html><body><p>x</p><PIXEL></body></html>"],
  ["<html><p>x</p></html>\n", "<html><p>x</p><PIXEL></html>\n"],
  ["x", "x<PIXEL>"],
  ["<!-- </body> --><p>x</p>", "<!-- </body> --><p>x</p><PIXEL>"],
  ["<p>x</p><!-- y", "<p>x</p><PIXEL><!-- y"],
  ["<p>x</p><!-- y --><!-- > - ->", "<p>x</p><!-- y --><PIXEL><!-- > - ->"],
  ["<p>x</p><style>p{color:red}</body>", "<p>x</p><PIXEL><style>p{color:red}</body>"],
  ["<p>x</p><!--[if mso]><p>y</p></body>", "<p>x</p><PIXEL><!--[if mso]><p>y</p></body>"],
  ["<p>x</p><!--[if mso]></body><![endif]-->", "<p>x</p><!--[if mso]></body><![endif]--><PIXEL>"],
  ["<!doctype html><p>a < b</p><!-->x<p title='", "<!doctype html><p>a < b</p><!-->x<PIXEL><p title='"],
  ["<p>x</p><? y", "<p>x</p><PIXEL><? y"],
])("the pixel comes last in the body: %s", async (html, expected) => {
  expect(await rewrite(html)).toBe(expected);
});

describe("UTM parameters", () => {
  const utm = { source: "news letter", campaign: "a&b" };
  test.each([
    ["https://a/", "https://a/?utm_source=news%20letter&utm_campaign=a%26b"],
    ["https://a/?", "https://a/?utm_source=news%20letter&utm_campaign=a%26b"],
    ["https://a/?x=%20+y#z", "https://a/?x=%20+y&utm_source=news%20letter&utm_campaign=a%26b#z"],
    ["https://a/?utm_source=own", "https://a/?utm_source=own&utm_campaign=a%26b"],
    ["https://a/?utm_source=1&utm_campaign=2", "https://a/?utm_source=1&utm_campaign=2"],
    ["https://a/#/?x", "https://a/?utm_source=news%20letter&utm_campaign=a%26b#/?x"],
  ])("%s", (url, expected) => {
    expect(addUtm(url, utm)).toBe(expected);
  });
});
