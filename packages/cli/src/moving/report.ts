import { safeText } from "../text/safe-text.ts";
import { renderDetails, renderTable } from "../text/table.ts";
import { formatNumber } from "../text/units.ts";
import type { Style } from "../types.ts";
import { OUTCOMES, PARTS, type Part, type Tally } from "./tally.ts";

/** Facts of a move, besides its numbers. */
interface MoveFacts {
  readonly source: string;
  readonly dryRun: boolean;
  readonly complete: boolean;
  readonly remarks: readonly string[];
  readonly errorsFile: string | null;
}

/** The report as data. In each part, `read` is the sum of the others; of one that was stopped, `open` is what is missing. */
export function reportToJson(tally: Tally, facts: MoveFacts) {
  return { ...facts, ...tally.sums, open: tally.open(), reasons: tally.reasons() };
}

/** The report as a table, with the reasons for what was not moved. */
export function formatReport(tally: Tally, facts: MoveFacts, style: Style, columns: number): string {
  const rows = PARTS.filter((part) => tally.sums[part].read > 0).map((part) => ({ part, ...tally.sums[part] }));
  const title = facts.dryRun ? "Checked" : facts.complete ? "Moved" : "Stopped";
  const paint = facts.complete ? style.green : style.yellow;
  const numbers = ["read", ...OUTCOMES] as const;
  const table = renderTable(
    rows,
    [
      { title: "", value: ({ part }) => part },
      ...numbers.map((name) => ({
        title: name === "leftOut" ? "left out" : name,
        value: (row: (typeof rows)[number]) => (row[name] === 0 ? "" : formatNumber(row[name])),
      })),
    ],
    style,
    columns,
  );
  const reasons = tally
    .reasons()
    .map(({ part, outcome, reason, count, examples }): [string, string] => [
      `${formatNumber(count)} ${name(part, count)}`,
      `${outcome === "failed" ? "failed" : "left out"}: ${safeText(reason)} (${examples.map((one) => safeText(one)).join("; ")}${count > examples.length ? "; …" : ""})`,
    ]);
  return [
    `${paint(title)} ${safeText(facts.source)}${facts.dryRun ? "; nothing was stored" : ""}`,
    ...(rows.length > 0 ? [table] : ["It has nothing to move."]),
    ...(reasons.length > 0 ? ["", renderDetails(reasons, style, columns)] : []),
    ...facts.remarks.map((remark) => `\n${safeText(remark)}`),
    ...(facts.errorsFile === null ? [] : [`\nRows that were not moved: ${safeText(facts.errorsFile)}`]),
    ...(facts.complete || facts.dryRun ? [] : ["\nRun the same command again: what is here already stays as it is."]),
  ].join("\n");
}

const ONE: Readonly<Record<Part, string>> = {
  lists: "list",
  suppressions: "suppression",
  people: "person",
  memberships: "membership",
  templates: "template",
};

function name(part: Part, count: number): string {
  return count === 1 ? ONE[part] : part;
}
