import { execFile } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { TIMER_LABELS } from "@mailsvc/sdk/contract/timer-labels";
import { describe, expect, test } from "vitest";
import { drawRecording, transcriptOf } from "../scripts/recording/draw.mjs";
import { COMMANDS, recordCommands } from "../scripts/recording/record.mjs";
import { COLUMNS, Screen, textOf } from "../scripts/recording/screen.mjs";
import { blocksOf } from "./markdown.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const FILE = "docs/pictures/terminal.svg";
const svg = readFileSync(join(root, FILE), "utf8");
const README = join(root, "README.md");

/** The text that the picture shows, line by line. */
const shown = (/<desc>([^<]*)<\/desc>/.exec(svg)?.[1] ?? "")
  .replaceAll("&lt;", "<")
  .replaceAll("&gt;", ">")
  .replaceAll("&amp;", "&")
  .split("\n");

/** The service's own jobs, which depend on the hour, as people read them. */
const OWN = Object.entries(TIMER_LABELS).flatMap(([kind, label]) => (/^(?:idempotency|senders)\./.test(kind) ? [label] : []));

/** Removes the parts that differ each time: ids, times, and the service's own jobs. */
const shapeOf = (lines: readonly string[]): string[] =>
  lines
    .filter((line) => !OWN.some((label) => line.endsWith(label)))
    .map((line) => line.replaceAll(/\b(em|mail)_\w{26}\b/g, "$1_…").replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, "TIME"));

describe("the recording of the terminal", () => {
  test("shows what its commands print today", async () => {
    await promisify(execFile)(process.execPath, [join(root, "scripts/build.mjs")], { cwd: root });
    const recorded = await recordCommands();
    expect(shapeOf(transcriptOf(recorded)), `npm run recording draws ${FILE} anew`).toEqual(shapeOf(shown));
    // The claim of the README: two days of attempts within one command.
    expect(shown.filter((line) => / Attempt \d was not accepted| Given up/.test(line))).toHaveLength(10);
    const styleOf = (text: string): string =>
      (/<style>.*?@media \(prefers-reduced-motion/s.exec(text)?.[0] ?? "").replaceAll(/-\d+px/g, "");
    expect(styleOf(drawRecording(recorded)), "the colors are those of the dashboard").toBe(styleOf(svg));
  });

  test("shows commands that the README has word by word", () => {
    const lines = blocksOf(README).flatMap(({ text }) => text.split("\n"));
    const typed = COMMANDS.filter((command) => !command.includes("$ID"));
    expect(lines).toEqual(expect.arrayContaining(typed));
    expect(typed.length).toBeGreaterThan(4);
    expect(shown.filter((line) => line.startsWith("$ npx ")).map((line) => line.replace(/em_\w{26}/, "$ID").slice(2))).toEqual(COMMANDS);
  });

  test("is on the README's first screen with words for it, and a picture of the dashboard is further below", () => {
    const [first = "", ...rest] = readFileSync(README, "utf8").split("\n## ");
    const listPictures = (text: string) => [...text.matchAll(/!\[([^\]]{20,})\]\(([^)]+)\)/g)].map(([, , link]) => link);
    expect([listPictures(first), listPictures(rest.join())]).toEqual([[FILE], ["docs/pictures/email.webp"]]);
  });

  test("is small and needs nothing: no script, font or other file; and stands still for those who have asked for it", () => {
    expect(statSync(join(root, FILE)).size).toBeLessThan(150_000);
    expect(svg).not.toMatch(/<script|<foreignObject|<image|href=|url\(|@import|@font-face| on\w+=/);
    expect(svg.match(/https?:\/\/\S+?(?=")/g)).toEqual(["http://www.w3.org/2000/svg"]);
    const [always = "", moving = ""] = svg.split("@media (prefers-reduced-motion:no-preference){");
    expect(always).not.toMatch(/animation|@keyframes/);
    expect(moving).toContain("@keyframes");
    expect(svg).toContain("@media (prefers-color-scheme:dark)");
  });
});

describe("its screen", () => {
  const linesOf = (...texts: string[]): string[] => {
    const screen = new Screen();
    for (const text of texts) screen.write(text);
    return screen.read().map(textOf);
  };

  test("writes a line again, as progress does", () => {
    expect(linesOf("\r\u001b[2K\u001b[36m⠋\u001b[39m Waiting", "\r\u001b[2Kdone\r\n$ ")).toEqual(["done", "$"]);
    expect(linesOf("12345\u001b[1G\u001b[0Kab")).toEqual(["ab"]);
  });

  test("keeps the columns of a table apart, so that they stay in place in any font", () => {
    const screen = new Screen();
    screen.write("ID    TO   \u001b[2mSUBJECT\u001b[22m");
    expect(screen.read()[0]).toEqual([
      { column: 0, text: "ID", color: "", bold: false },
      { column: 6, text: "TO", color: "", bold: false },
      { column: 11, text: "SUBJECT", color: "soft", bold: false },
    ]);
  });

  test("refuses what it would show wrongly", () => {
    expect(() => linesOf("\u001b[3A")).toThrow("cannot show the code");
    expect(() => linesOf("\u001b[45m")).toThrow("cannot show the color 45");
    expect(() => linesOf("x".repeat(COLUMNS + 1))).toThrow("A line is longer than");
  });
});
