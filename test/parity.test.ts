import { readFileSync } from "node:fs";
import { served } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { buildOpenApi } from "../packages/server/src/http/openapi.ts";
import { findReason, listIdleReasons, listParity, WAYS } from "../scripts/parity.mjs";

interface Row {
  readonly id: string;
  readonly noun: string;
  readonly refusal: string | null;
  readonly isStateless: boolean;
  readonly ways: Readonly<Record<string, string | null>>;
}

const answers: unknown = JSON.parse(readFileSync(new URL("../scripts/answers.json", import.meta.url), "utf8"));
const rows = listParity(buildOpenApi(served), { served, answers }) as Row[];

test("the matrix has every operation that is served, and every way", () => {
  const operations = Object.entries(served).flatMap(([noun, verbs]) => Object.keys(verbs).map((verb) => `${noun}.${verb}`));
  expect(rows.map(({ id }) => id)).toEqual(operations);
  for (const { ways } of rows) expect(Object.keys(ways)).toEqual(Object.keys(WAYS));
});

/** The way to give an operation what it lacks. */
const ADVICE: Readonly<Record<string, string>> = {
  docs: "Show it on a page of docs",
  example: "Record its answer: RECORD_ANSWERS=1 npm run vitest -- test/reference.test.ts -t NOUN.VERB",
  explain: "Explain objects of the noun to `why`, in packages/server/src/explainers.ts",
};

test.each(Object.entries(WAYS))("every operation has the way %s, or a reason in scripts/parity-reasons.mjs", (way) => {
  const missing = rows.filter((row) => row.ways[way] === null && !findReason(way, row));
  const advice = `${ADVICE[way] ?? "Give it that way"}, or say in scripts/parity-reasons.mjs under ${way} why it has none.`;
  expect(
    missing.map(({ id }) => id),
    advice,
  ).toEqual([]);
});

test("a noun needs no explanation if its objects have no state", () => {
  const stateless = new Set(rows.filter(({ isStateless }) => isStateless).map(({ noun }) => noun));
  for (const noun of ["lists", "members", "audit", "credits"]) expect.soft([noun, stateless.has(noun)]).toEqual([noun, true]);
  for (const noun of ["emails", "keys", "jobs", "webhooks", "agent.runs"]) expect.soft([noun, stateless.has(noun)]).toEqual([noun, false]);
});

test("no reason is left of something that is there now", () => {
  expect(listIdleReasons(rows)).toEqual([]);
});

test("nearly all operations can be called by SDK, command line and MCP clients", () => {
  const having = (way: string): number => rows.filter(({ ways }) => ways[way] !== null).length / rows.length;
  expect(having("sdk")).toBeGreaterThan(0.98);
  expect(having("cli")).toBeGreaterThan(0.95);
  expect(having("openapi")).toBe(1);
  expect(having("mcp")).toBeGreaterThan(0.6);
});
