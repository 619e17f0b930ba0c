import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toPlainText, toPlainTextInTurns } from "./plain-text.ts";

describe("the text of an HTML mail", () => {
  test.each([
    ["paragraphs", "<p>One</p><p>Two\n  three</p>", "One\n\nTwo three"],
    ["line breaks", "One<br>Two<br/>Three<br><br>Four", "One\nTwo\nThree\n\nFour"],
    ["headings", "<h1>Title</h1>Body<h2>More</h2>", "Title\n\nBody\n\nMore"],
    ["words that tags run through", "un<b>believ</b>able, <i>so</i> <u>so</u>", "unbelievable, so so"],
    ["a link", '<a href="https://acme.test/a?b=1&amp;c=2">Track</a> it', "Track (https://acme.test/a?b=1&c=2) it"],
    [
      "a link that shows its address",
      '<a href="https://acme.test/">https://acme.test</a> <a href="https://acme.test">acme.test</a>',
      "https://acme.test acme.test",
    ],
    ["a mail link", '<a href="mailto:a@b.test">a@b.test</a> <a href="mailto:a@b.test">Write</a>', "a@b.test Write (mailto:a@b.test)"],
    ["a link without a target for readers", '<a href="#top">Top</a> <a href="javascript:x">Run</a> <a name="x">Here</a>', "Top Run Here"],
    ["a button of an image", '<a href="https://acme.test/x"><img src="b.png" alt="Buy"></a>', "Buy (https://acme.test/x)"],
    ["a linked image without words", '<a href="https://acme.test/x"><img src="b.png"></a>', "https://acme.test/x"],
    ["a list", "<ul><li>One</li><li>Two <b>b</b></li></ul>after", "- One\n- Two b\n\nafter"],
    ["a list with numbers", '<ol><li>One<li>Two</ol><ol start="7"><li>Seven</ol>', "1. One\n2. Two\n\n7. Seven"],
    ["lists in lists", "<ul><li>One<ul><li>Deep</li></ul></li><li>Two</li></ul>", "- One\n  - Deep\n- Two"],
    ["a table", "<table><tr><th>Item</th><th>Price</th></tr><tr><td>Gear</td><td>5 &euro;</td></tr></table>", "Item  Price\nGear  5 €"],
    ["tables for layout", "<table><tr><td><table><tr><td><p>Hi</p></td></tr></table></td></tr></table>", "Hi"],
    ["a quote", "<blockquote>One<br>Two</blockquote>three", "> One\n> Two\n\nthree"],
    ["a rule", "a<hr>b", "a\n\n---\n\nb"],
    ["preformatted text", "<pre>a\n  b</pre>", "a\n  b"],
    ["entities", "&lt;b&gt; &amp;amp; &#8364;&#x41; &nbsp;x&hellip; &unknown; &copy 1", "<b> &amp; €A x… &unknown; &copy 1"],
    ["what is no text", "<head><title>T</title><style>p{}</style></head><script>x<p>y</script><p>Body</p><!-- no <p>no</p> -->", "Body"],
    ["what is hidden", '<div style="display:none;max-height:0">Preview</div><span hidden>x</span><p>Body</p>', "Body"],
    ["padding of a preview line", "<div>Sale&zwnj;&nbsp;&zwnj;&nbsp;&zwnj;&nbsp;&zwnj;&nbsp;</div><p>Body</p>", "Sale\n\nBody"],
    ["conditional comments", "<!--[if mso]><p>Outlook</p><![endif]--><p>All</p>", "All"],
    ["signs that are no tags", "1 < 2 and 3 > 2, a<3", "1 < 2 and 3 > 2, a<3"],
    ["quotes within tags", "<p title=\"a > b\">x</p><p title='>'>y</p>", "x\n\ny"],
    ["nothing", "", ""],
    ["only an image", '<img src="x.png">', ""],
  ])("%s", (_what, html, text) => expect(toPlainText(html)).toBe(text));

  test("every run of white space becomes one space", () => {
    const text = fc.array(fc.constantFrom(" ", "  ", "\n", "\t", "\r\n", "\u00a0", "\u3000", "a", "é", "b,"), { maxLength: 20 });
    fc.assert(
      fc.property(text, (parts) => {
        expect(toPlainText(parts.join(""))).toBe(parts.join("").replace(/\s+/g, " ").trim());
      }),
    );
  });

  test.each([
    ["tags that are never closed", "<p>".repeat(300_000)],
    ["a tag that never ends", `<a href="${"x".repeat(1_000_000)}`],
    ["many tags that never end", "<a ".repeat(300_000)],
    ["links", '<a href="https://x.test/">x</a>'.repeat(30_000)],
    ["open links", '<a href="https://x.test/">x'.repeat(30_000)],
    ["lists in lists in lists", "<ul><li>".repeat(100_000)],
    ["quotes in quotes", "<blockquote>x".repeat(80_000)],
    ["comments that are never closed", "<!--".repeat(250_000)],
    ["styles that are never closed", "<style>".repeat(140_000)],
    ["attributes", `<p ${"a ".repeat(500_000)}>`],
    ["ampersands", "&".repeat(1_000_000)],
    ["spaces in pre", `<pre>${" ".repeat(1_000_000)}x</pre>`],
    ["invisible signs", "\u200c ".repeat(500_000)],
    ["brackets", "<".repeat(1_000_000)],
    ["quote signs in tags", `<p ${'="'.repeat(400_000)}>`],
  ])("takes no longer for a megabyte of %s", (_what, html) => {
    const from = process.cpuUsage();
    toPlainText(html);
    expect(process.cpuUsage(from).user / 1000).toBeLessThan(3000);
  });

  test("keeps every word, whatever is around it", () => {
    const tag = fc.constantFrom(
      "<p>",
      "</p>",
      "<div>",
      "</div>",
      "<b>",
      "</b>",
      "<ul>",
      "<li>",
      "</ul>",
      "<br>",
      "<table><tr><td>",
      "</td></tr></table>",
      "<blockquote>",
      "</blockquote>",
      "<!-- x -->",
      "<pre>",
      "</pre>",
    );
    const word = fc.stringMatching(/^[a-z]{1,6}$/).map((w) => ` ${w} `);
    fc.assert(
      fc.property(fc.array(fc.oneof(tag, word), { maxLength: 40 }), (parts) => {
        const words = parts.filter((p) => p.startsWith(" ")).map((p) => p.trim());
        expect(
          toPlainText(parts.join(""))
            .split(/[\s>-]+/)
            .filter(Boolean),
        ).toEqual(words);
      }),
      { numRuns: 500, seed: 3 },
    );
  });

  test("never fails, and never leaves a tag it knows", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.constantFrom("<", ">", "</", "<p", "<a href=", '"', "'", "=", "<!--", "-->", "&", "&#", "<ul>", "</ul>", "<li"),
            fc.string({ maxLength: 4 }),
          ),
          { maxLength: 30 },
        ),
        (parts) => {
          const text = toPlainText(parts.join(""));
          expect(text).toBe(text.trim());
          expect(text).not.toMatch(/<(?:p|ul|li)>/);
        },
      ),
      { numRuns: 1000, seed: 5 },
    );
  });
});

test("a long text is made in turns, between which others run, and is the same", async () => {
  let turns = 0;
  let over = false;
  const count = (): void => {
    turns += 1;
    if (!over) setImmediate(count);
  };
  setImmediate(count);
  // Tokens: 150,000.
  const html = "<p>word</p>".repeat(50_000);
  expect(await toPlainTextInTurns(html)).toBe(toPlainText(html));
  over = true;
  expect(turns).toBeGreaterThan(10);
});
