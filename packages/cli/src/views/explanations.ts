import type { Explanation } from "@mailsvc/sdk/contract";
import { safeText } from "../text/safe-text.ts";
import { wrapText } from "../text/table.ts";
import { formatInstant, formatTimestamp } from "../text/units.ts";
import type { Session, Style } from "../types.ts";
import { paintStatus } from "./status.ts";
import type { View } from "./view.ts";

export const explanationViews: Readonly<Record<string, View>> = {
  "explanations.get": { object: formatExplanation },
  "agent.explanations.get": { object: formatExplanation },
};

// The width of an instant and the gap after it, and that of the words in front of the last lines.
const TIME = 21;
const WORD = 6;

function formatExplanation({ title, status, summary, timeline, next, actions, related }: Explanation, { term }: Session): string {
  const { out: style, columns } = term;
  const blocks = [
    `${paintStatus(style, status)}  ${style.bold(safeText(title))}`,
    wrapText(safeText(summary), columns),
    timeline
      .flatMap(({ at, what, why }) => [
        `${style.dim(formatTimestamp(at))}  ${indent(what, TIME, columns)}`,
        ...(why === null ? [] : [`${" ".repeat(TIME)}${style.dim(indent(why, TIME, columns))}`]),
      ])
      .join("\n"),
    [
      ...(next === null ? [] : [labelled("next", `${next.at === null ? "" : `${formatInstant(next.at)}: `}${next.what}`, style, columns)]),
      ...actions.map(({ what, command }) =>
        [
          labelled("do", `${what}${command === null ? "" : ":"}`, style, columns),
          ...(command === null ? [] : [`${" ".repeat(WORD)}${style.cyan(safeText(command))}`]),
        ].join("\n"),
      ),
      ...(related.length === 0 ? [] : [labelled("see", related.join(", "), style, columns)]),
    ].join("\n"),
  ];
  return blocks.filter((block) => block !== "").join("\n\n");
}

function labelled(word: string, text: string, style: Style, columns: number): string {
  return `${style.dim(word.padEnd(WORD))}${indent(text, WORD, columns)}`;
}

/** Text whose further lines begin below its first one. */
function indent(text: string, by: number, columns: number): string {
  return wrapText(safeText(text), Math.max(20, columns - by)).replaceAll("\n", `\n${" ".repeat(by)}`);
}
