import { expect, test } from "vitest";
import { hasRemoteContent } from "../src/parts/remote-content.ts";

test.each([
  '<img width="1" src="https://acme.example/a">',
  '<img alt="a" src=//acme.example/a.png>',
  '<td background="http://acme.example/a.jpg">',
  "<style>body { background: url( 'https://acme.example/a' ) }</style>",
  '<link rel="stylesheet" href="https://acme.example/a">',
])("%s loads from another server", (html) => {
  expect(hasRemoteContent(html)).toBe(true);
});

test.each([
  '<p>Read <a href="https://acme.example/news">the news</a></p>',
  '<img src="cid:logo@acme.example">',
  '<img src="data:image/png;base64,AAAA">',
])("%s loads nothing", (html) => {
  expect(hasRemoteContent(html)).toBe(false);
});

test.each(["<img ", "src=//", "url(   ", `src=${" ".repeat(1000)}`, "<link\n"])(
  "a mail of a megabyte of %j is looked at in one go",
  (part) => {
    // This would take minutes if each search ran to the end of the mail.
    hasRemoteContent(part.repeat(Math.ceil(1_000_000 / part.length)));
  },
);
