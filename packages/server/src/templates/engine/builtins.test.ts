import { describe, expect, test } from "vitest";
import { RenderError } from "./compile.ts";
import { compileSet, MissingVariables, render } from "./engine.ts";
import { loadParser } from "./parser.ts";

const parse = await loadParser();
const compile = (text: string) =>
  compileSet(parse, { slug: "x", subject: null, html: null, text, variables: [], isLayout: false, layout: null, partials: new Map() });
const out = (text: string, values: Record<string, unknown> = {}) => render(compile(text), values).text;

const AT = "2026-03-01T15:04:05Z";

describe("helpers", () => {
  test.each<[string, Record<string, unknown>, string]>([
    ["{{upper a}} {{lower a}} {{capitalize b}}", { a: "Ärger", b: "ä x" }, "ÄRGER ärger Ä x"],
    ["{{urlEncode a}}", { a: "a b&c=ä/?" }, "a%20b%26c%3D%C3%A4%2F%3F"],
    ["{{truncate a 5}} {{truncate b 5}} {{truncate a 5 end='..'}}", { a: "abcdefgh", b: "abc" }, "abcd… abc abc.."],
    ["{{truncate a 3}}", { a: "a\u{1f600}\u{1f600}" }, "a…"],
    ["{{default a 'friend'}} {{default b 'friend'}} {{default c 'x'}} {{default d.e 'y'}}", { a: "", b: "Ada", c: null }, "friend Ada x y"],
    [
      "{{date a}} | {{date a 'short'}} | {{date a style='full' locale='de'}} | {{date a 'iso'}}",
      { a: AT },
      "March 1, 2026 | 3/1/26 | Sonntag, 1. März 2026 | 2026-03-01",
    ],
    ["{{date a 'date-time' timeZone='Europe/Berlin' locale='de'}} {{date b 'iso'}}", { a: AT, b: 0 }, "1. März 2026 um 16:04 1970-01-01"],
    ["{{number a}} {{number a decimals=2}} {{number b locale='de'}}", { a: 1234.5, b: "9876.5" }, "1,234.5 1,234.50 9.876,5"],
    ["{{currency a}} {{currency a 'EUR' locale='de'}} {{currency a code=c}}", { a: 12.5, c: "JPY" }, "$12.50 12,50\u00a0€ ¥13"],
    ["{{join a}} {{join a ' / '}} {{count a}}", { a: ["x", 1, true] }, "x, 1, true x / 1 / true 3"],
    ["{{#if (eq a 'x')}}1{{/if}}{{#if (ne a 'x')}}2{{/if}}{{#if (eq b null)}}3{{/if}}", { a: "x" }, "13"],
    [
      "{{#if (gt a 5)}}1{{/if}}{{#if (gte a 6)}}2{{/if}}{{#if (lt a 6)}}3{{/if}}{{#if (lte a 6)}}4{{/if}}{{#if (lt b 'b')}}5{{/if}}",
      { a: 6, b: "a" },
      "1245",
    ],
    ["{{#if (and a (not b))}}1{{/if}}{{#if (or b c)}}2{{else}}3{{/if}}{{#unless (or b c)}}4{{/unless}}", { a: 1, b: 0, c: [] }, "134"],
    ["{{a}};{{b}};{{upper c}}", { a: ["vip", 7, null, true], b: [], c: ["x"] }, "vip, 7, , true;;X"],
    ["{{upper (default a 'x')}}{{#each (default l m)}}{{this}}{{/each}}", { m: [1, 2] }, "X12"],
  ])("%s", (source, values, expected) => expect((out(source, values) ?? "").replaceAll("\u202f", " ")).toBe(expected));

  test.each<[string, Record<string, unknown>, string]>([
    ["{{date a}}", { a: "soon" }, "a is not a date"],
    ["{{date a style='nice'}}", { a: AT }, "cannot have the style"],
    ["{{date a locale='not a locale'}}", { a: AT }, "cannot be formatted"],
    ["{{date a timeZone='Mars/Olympus'}}", { a: AT }, "cannot be formatted"],
    ["{{date a locale=b}}", { a: AT, b: {} }, "locale must be a short text"],
    ["{{number a}}", { a: "many" }, "a is not a number"],
    ["{{number a decimals=99}}", { a: 1 }, "decimals must be a whole number"],
    ["{{currency a 'EURO'}}", { a: 1 }, "cannot be formatted"],
    ["{{join a}}", { a: "x" }, "a is not a list"],
    ["{{join a}}", { a: [{}] }, "is an object"],
    ["{{upper a}}", { a: [[]] }, "is a list"],
    ["{{a}}", { a: ["x", {}] }, "is a list"],
    ["{{truncate a -1}}", { a: "x" }, "the length must be"],
    ["{{#each a}}{{/each}}", { a: "text" }, "a is not a list"],
  ])("%s explains itself", (source, values, message) => {
    expect(() => out(source, values)).toThrow(RenderError);
    expect(() => out(source, values)).toThrow(message);
  });

  test("an absent value is a missing variable, under its whole name, and no fault of the helper", () => {
    expect(() => out("{{upper a.b}} {{date c}} {{#each l}}{{number n}}{{/each}} {{currency x y}}", { l: [{}] })).toThrow(MissingVariables);
    try {
      out("{{upper a.b}} {{date c}} {{#each l}}{{number n}}{{/each}} {{currency x y}}", { l: [{}] });
    } catch (error) {
      expect((error as MissingVariables).names).toEqual(["a.b", "c", "l[0].n", "x", "y"]);
    }
  });

  test("formats do not pile up in memory, whatever locales are asked for", () => {
    for (let i = 0; i < 500; i += 1)
      expect(out("{{number a locale=l}}", { a: 1, l: `en-u-nu-latn-x-${i.toString(36).padStart(3, "a")}` })).toBe("1");
  });
});
