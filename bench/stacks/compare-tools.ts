import { type Chosen, choose, printTable } from "./page.ts";
import type { TestTool } from "./test-tool.ts";
import { type ToolReport, tryTool } from "./test-tool-trial.ts";
import { TEST_TOOLS } from "./test-tools.ts";

const COLUMNS = [
  ["Tool", "text"],
  ["Takes", "text"],
  ["Ready", "number"],
  ["Sent and found", "number"],
  ["Memory", "number"],
  ["Kept after a kill", "number"],
  ["A bounce", "text"],
  ["A mail of an hour later", "text"],
] as const;

/** Tries what people test their mail with, and prints the table of docs/comparison.md. */
export async function compareTools(chosen: Chosen): Promise<void> {
  const rows: string[] = [];
  for (const tool of choose(TEST_TOOLS, chosen)) {
    console.error(`${tool.name} …`);
    rows.push(toRow(tool, await tryTool(tool)));
    console.error(rows.at(-1));
  }
  printTable({ flag: "--tools", columns: COLUMNS, rows }, chosen);
}

function toRow({ name, takes }: TestTool, report: ToolReport): string {
  const { ready, found, memory, kept, sent, bounce, scheduled } = report;
  return (
    `| ${name} | ${takes} | ${Math.round(ready)} ms | ${found.toFixed(1)} ms | ${Math.round(memory)} MB | ${kept} of ${sent} | ` +
    `${bounce ?? "no way to ask for one"} | ${scheduled ?? "no schedules"} |`
  );
}
