import { readFileSync } from "node:fs";
import { anchorOf } from "../scripts/anchor.mjs";

/** A fenced block of a page. */
export interface Block {
  readonly language: string;
  /** The name of its tab on the site, in brackets after the language. */
  readonly label: string;
  readonly text: string;
  /** The heading above it. */
  readonly heading: string;
  /** Line of its fence, from 1. */
  readonly line: number;
}

/** The fenced blocks of a page, in order. */
export function blocksOf(file: string): Block[] {
  const page = readFileSync(file, "utf8");
  return [...page.matchAll(/^```(\S*)(?: \[(.*)\])?\n([\s\S]*?)^```$/gm)].map(
    ({ 1: language = "", 2: label = "", 3: text = "", index }) => ({
      language,
      label,
      text,
      heading: /.*/.exec(page.slice(page.lastIndexOf("\n#", index)).replace(/^\n#+ /, ""))?.[0] ?? "",
      line: page.slice(0, index).split("\n").length,
    }),
  );
}

/** Returns the instructions for a script in its first line: the file to save it in, and the command to run then. */
export function usageOf({ text }: Block): { readonly file?: string | undefined; readonly command?: string | undefined } {
  const [, file, command] = /^\/\/ Save as (\S+?)(?:, run with: (.+))?\n/.exec(text) ?? [];
  return { file, command };
}

/** The rows of the table under a heading, each as its trimmed cells. */
export function tableUnder(file: string, heading: string): string[][] {
  const page = readFileSync(file, "utf8");
  const section = page.split(/^#{1,6} /m).find((part) => part.startsWith(`${heading}\n`)) ?? "";
  return section
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .slice(2)
    .map((line) =>
      line
        .slice(1, line.lastIndexOf("|"))
        // By the spaces around it, which an empty cell shares with its neighbours.
        .split(/(?<= )\|(?= )/)
        .map((cell) => cell.trim()),
    );
}

/** Lists the links of a page, without those that lead out of the repository. */
export function linksOf(file: string): string[] {
  return [...readFileSync(file, "utf8").matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target]) => target as string)
    .filter((t) => !/^[a-z]+:/.test(t));
}

/** The anchors of a page's headings, as GitHub makes them. */
export function anchorsOf(file: string): string[] {
  return [...readFileSync(file, "utf8").matchAll(/^#{1,6} (.+)$/gm)].map(([, title]) => anchorOf(title as string));
}
