import { expect, test } from "vitest";
import { findBodyStarts } from "./body.ts";

const mark = (html: string) => findBodyStarts(html).reduceRight((all, at) => `${all.slice(0, at)}|${all.slice(at)}`, html);

test.each([
  ["<html><body class='a>b'><p>Body</p></body></html>", "<html><body class='a>b'>|<p>Body</p></body></html>"],
  [
    '<html><!--[if mso]><body class="mso"><![endif]--><!--[if !mso]><!--><body class="full"><!--<![endif]--><p>Body</p></body></html>',
    '<html><!--[if mso]><body class="mso">|<![endif]--><!--[if !mso]><!--><body class="full">|<!--<![endif]--><p>Body</p></body></html>',
  ],
  ["<!-- <body> goes here --><body><p>x</p>", "<!-- <body> goes here --><body>|<p>x</p>"],
  ["<style>/* <body> */</style><body>x", "<style>/* <body> */</style><body>|x"],
  ["<!doctype html><html><head><title>t</title></head><p>x</p>", "<!doctype html><html><head><title>t</title></head>|<p>x</p>"],
  ["<!doctype html><p>x</p>", "<!doctype html>|<p>x</p>"],
  ["<p>x</p>", "|<p>x</p>"],
])("the first content of %s is found", (html, wanted) => {
  expect(mark(html)).toBe(wanted);
});
