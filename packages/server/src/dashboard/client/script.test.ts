import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Script } from "node:vm";
import { expect, test } from "vitest";
import { script } from "./script.ts";

const folder = import.meta.dirname;
const parts = readdirSync(folder).filter((file) => !/^script\b|\.test\.ts$/.test(file));
const toName = (file: string): string => file.replace(".ts", "").replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

test("the program of the page is one text that a browser can read", () => {
  expect(() => new Script(script())).not.toThrow();
  expect(script()).not.toMatch(/<\/script|<!--/i);
});

// A part goes to the browser as its own text: what is next to it in its file stays behind.
test.each(parts)("%s holds one part, and takes nothing but types from elsewhere", (file) => {
  const source = readFileSync(join(folder, file), "utf8");
  const top = source.split("\n").filter((line) => /^[a-z]/.test(line));
  const values = top.filter((line) => !/^(?:import type|export type|export interface|interface|type) /.test(line));
  expect(values).toEqual([expect.stringMatching(new RegExp(`^export function ${toName(file)}[(<]`))]);
  expect(script()).toContain(`${toName(file)}: `);
});
