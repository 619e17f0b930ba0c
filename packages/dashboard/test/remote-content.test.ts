import { expect, test } from "vitest";
import { hasRemoteContent } from "../src/parts/remote-content.ts";

const OWN = "https://mail.acme.example";

test.each([
  '<img width="1" src="https://acme.example/a">',
  '<img alt="a" src=//acme.example/a.png>',
  '<img src="https://mail.acme.example.evil.example/a/ast_01jc3v2m9k8q4w6x0y5z7a1b2c">',
  '<td background="http://acme.example/a.jpg">',
  "<style>body { background: url( 'https://acme.example/a' ) }</style>",
  '<link rel="stylesheet" href="https://acme.example/a">',
])("%s loads from another server", (html) => {
  expect(hasRemoteContent(html, OWN)).toBe(true);
});

test.each([
  '<p>Read <a href="https://acme.example/news">the news</a></p>',
  '<img src="cid:logo@acme.example">',
  '<img src="data:image/png;base64,AAAA">',
  '<img alt="" src="https://mail.acme.example/a/ast_01jc3v2m9k8q4w6x0y5z7a1b2c">',
])("%s loads nothing", (html) => {
  expect(hasRemoteContent(html, OWN)).toBe(false);
});

test.each(["<img ", "src=//", "url(   ", `src=${" ".repeat(1000)}`, "<link\n"])(
  "a mail of a megabyte of %j is looked at in one go",
  (part) => {
    // This would take minutes if each search ran to the end of the mail.
    hasRemoteContent(part.repeat(Math.ceil(1_000_000 / part.length)), OWN);
  },
);
