import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { fuzz } from "./fuzz.ts";
import { type Entry, Journal } from "./journal.ts";
import type { Part } from "./part.ts";
import { about } from "./proof.ts";
import { summarize, toHtml, toMarkdown } from "./report.ts";

test.each([
  ["SQLite", 0],
  ["Postgres", 1],
])("%s: random requests get the answers that openapi.json describes, and none of 5xx", async (_name, step) => {
  // The same requests each time; `npm run proof -- fuzz` makes others.
  const { counts, failures } = await fuzz.run(step, { seed: 7, share: 0.01, folder: tmpdir() });
  expect(failures).toEqual([]);
  expect(counts).toMatchObject({ requests: 500, serverErrors: 0, unexpected: 0 });
  expect(counts["2xx"]).toBeGreaterThan(25);
  expect(counts["4xx"]).toBeGreaterThan(25);
});

const entry = (step: number, more: Partial<Entry> = {}): Entry => ({
  part: "kills",
  step,
  commit: "abc",
  startedAt: "2026-01-01T00:00:00Z",
  seconds: 60,
  counts: { kills: 20 },
  rows: [{ suite: "sends", database: "SQLite", seed: step, kills: 20, acknowledged: 100, missing: 0, repeated: 1, unlisted: 0 }],
  failures: [],
  ...more,
});

test("a run that was stopped in the middle of a line goes on behind the last whole one", () => {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-journal-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "proof", "journal.jsonl");
  const first = new Journal(file);
  first.add(entry(0));
  first.add(entry(1));
  const text = readFileSync(file, "utf8");
  const second = new Journal(cutOff(file, text.slice(0, -30)));
  expect([second.has("kills", 0), second.has("kills", 1)]).toEqual([true, false]);
  second.add(entry(1));
  expect(new Journal(file).entries.map(({ step }) => step)).toEqual([0, 1]);
});

test("the report adds up the steps, shows what failed as text, and says what is not finished", () => {
  const part: Part = { name: "kills", title: "Kills", meaning: "Servers are killed.", steps: () => 3, run: () => Promise.reject() };
  const bad = entry(1, { failures: ["seed 7: <b>gone</b>"] });
  const tried = { commit: "abc", startedAt: "2026-01-01T00:00:00Z", endedAt: "2026-01-01T01:00:00Z" };
  const good = summarize(part, 3, [entry(0), entry(1)]);
  expect(good.rows).toEqual([{ suite: "sends", database: "SQLite", kills: 40, acknowledged: 200, missing: 0, repeated: 2, unlisted: 0 }]);
  expect(toMarkdown([good], tried)).toContain("| sends | SQLite | 40 | 200 | 0 | 2 | 0 |");
  expect(toHtml([good], tried)).toContain("Not finished · 2 of 3 steps");
  expect(toHtml([summarize(part, 2, [entry(0), entry(1)])], tried)).toContain("All held");
  const html = toHtml([summarize(part, 3, [entry(0), bad])], tried);
  expect(html).toContain("1 failed");
  expect(html).toContain("&#60;b&#62;gone");
  expect(html).not.toContain("<b>gone");
});

test("a report names each version that was tried, with its steps if there are several", () => {
  expect(about({ entries: [entry(0), entry(1)] }).commit).toBe("abc");
  expect(about({ entries: [entry(0), entry(1, { commit: "def" }), entry(2, { commit: "def" })] }).commit).toBe(
    "abc (1 step), def (2 steps)",
  );
});

function cutOff(file: string, text: string): string {
  writeFileSync(file, text);
  return file;
}
