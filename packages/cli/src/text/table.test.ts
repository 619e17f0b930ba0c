import { expect, test } from "vitest";
import { createStyle } from "../runtime/tty.ts";
import { type Column, renderDetails, renderTable, wrapText } from "./table.ts";
import { measureWidth } from "./width.ts";

interface Row {
  id: string;
  name: string;
  amount: number | null;
  key: string;
  at: string;
}

const columns: Column<Row>[] = [
  { title: "id", value: (r) => r.id },
  { title: "name", value: (r) => r.name, flexible: true },
  { title: "amount", value: (r) => r.amount },
  { title: "key", value: (r) => r.key, priority: 2 },
  { title: "at", value: (r) => r.at, priority: 1 },
];
const id = "pay_01m80473rv6m4v7ftmp46radv9";
const row: Row = { id, name: "Launch Writer 🚀 発射ライター", amount: 5, key: "ms_agent_ZD…N6yC", at: "2026-11-21 22:39:17" };
const plain = createStyle(false);
const shown = (width: number, rows = [row]): string[] => renderTable(rows, columns, plain, width).split("\n");

test("a table gives up spare columns, the greatest number first, before it cuts what is to be read", () => {
  expect(shown(120)[0]).toMatch(/^ID +NAME +AMOUNT +KEY +AT/);
  expect(shown(90)[0]).toMatch(/^ID +NAME +AMOUNT +AT/);
  expect(shown(64)[0]).toMatch(/^ID +NAME +AMOUNT$/);
  for (const width of [120, 90, 80, 64, 50, 40, 32]) {
    const lines = shown(width);
    for (const line of lines) expect(measureWidth(line), line).toBeLessThanOrEqual(width);
    expect(lines[1]).toContain(id);
  }
});

test("wide characters and emoji keep columns in line, and numbers stand below each other by their last digit", () => {
  const rows = [row, { ...row, name: "Plain", amount: 1234 }, { ...row, name: "日本語のとても長い名前がここにあります", amount: null }];
  const [head = "", ...lines] = shown(110, rows);
  const end = measureWidth(head.slice(0, head.indexOf("AMOUNT") + "AMOUNT".length));
  expect(lines.map((line) => measureWidth(line.slice(0, line.search(/ {2}ms_agent/))))).toEqual([end, end, end]);
  expect(lines[1]).toMatch(/ 1234 {2}ms_agent/);
  expect(lines[2]).toMatch(/ – {2}ms_agent/);
});

test("long values and texts go on under their beginning", () => {
  const long = "It writes launch pages for brands and asks before it publishes anything at all.";
  expect(renderDetails([["about", long]], plain, 40).split("\n")).toEqual([
    "about  It writes launch pages for brands",
    "       and asks before it publishes",
    "       anything at all.",
  ]);
  expect(wrapText(`Short.\n\n${long}`, 30).split("\n").slice(0, 3)).toEqual(["Short.", "", "It writes launch pages for"]);
});
