import { expect, test } from "vitest";
import { listCodes, listLinks } from "./links.ts";

test("links of the HTML come before those of the text, each once and decoded", () => {
  const html =
    '<a href="https://acme.test/in?a=1&amp;b=2">Sign in</a><a href=" https://acme.test/in?a=1&amp;b=2 ">again</a><a name="x">no</a>';
  expect(listLinks(html, "Or (https://acme.test/in?token=1) and https://acme.test/in?a=1&b=2")).toEqual([
    "https://acme.test/in?a=1&b=2",
    "https://acme.test/in?token=1",
  ]);
  expect(listLinks("", "")).toEqual([]);
});

test("codes are numbers of 4 to 8 digits outside of links", () => {
  expect(listCodes("471123 or https://acme.test/12345678 until 2030", "471123", "123 123456789 0042")).toEqual(["471123", "2030", "0042"]);
});
