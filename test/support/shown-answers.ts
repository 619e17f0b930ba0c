import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { formatJson } from "../../scripts/format-json.mjs";
import type { Ids } from "./example-server.ts";

/*
 * The answers that the reference shows: recorded from the calls that it shows, in scripts/answers.json. RECORD_ANSWERS=1 in the
 * environment of reference.test.ts records them anew; `npm run generate` then puts them into the pages.
 */

const file = fileURLToPath(new URL("../../scripts/answers.json", import.meta.url));

const TEXT = 160;
const ITEMS = 2;

/** The answers by the ids of their endpoints. */
export function readAnswers(): Record<string, unknown> {
  return JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
}

export function writeAnswers(answers: Readonly<Record<string, unknown>>): void {
  writeFileSync(file, formatJson(Object.fromEntries(Object.entries(answers).sort(([a], [b]) => (a < b ? -1 : 1)))));
}

/** An answer as a page shows it: with the ids of the examples, without secrets and ports, and with long lists and texts cut. */
export function showAnswer(answer: unknown, ids: Ids): unknown {
  if (Array.isArray(answer)) return answer.slice(0, ITEMS).map((item) => showAnswer(item, ids));
  if (typeof answer === "object" && answer !== null)
    return Object.fromEntries(Object.entries(answer).map(([name, value]) => [showText(name, ids), showAnswer(value, ids)]));
  return typeof answer === "string" ? showText(answer, ids) : answer;
}

function showText(text: string, ids: Ids): string {
  const named = Object.entries(ids).reduce((said, [there, here]) => (here === "" ? said : said.replaceAll(here, there)), text);
  const shown = named
    .replace(/\bhttp:\/\/127\.0\.0\.1:\d+\/?/g, "https://shop.example.com/")
    .replace(/\b(whsec_|ms_(?:[a-z]+_)?)[\w+/=-]{12,}/g, "$1…")
    .replace(/\b([a-z]{2,5})_[0-9a-hjkmnp-tv-z]{26}\b/g, "$1_01jc3v2m9k8q4w6x0y5z7a1b2c");
  return shown.length > TEXT ? `${shown.slice(0, TEXT)}…` : shown;
}

/** True if two answers have the same fields with values of the same types. Null and empty lists match any. */
export function isAlike(a: unknown, b: unknown): boolean {
  if (a === null || b === null) return true;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === 0 || b.length === 0 || isAlike(a[0], b[0]);
  if (typeof a !== "object" || typeof b !== "object") return typeof a === typeof b;
  const [left, right] = [a, b] as Record<string, unknown>[];
  const names = new Set([...Object.keys(left ?? {}), ...Object.keys(right ?? {})]);
  return [...names].every((name) => Object.hasOwn(a, name) && Object.hasOwn(b, name) && isAlike(left?.[name], right?.[name]));
}
