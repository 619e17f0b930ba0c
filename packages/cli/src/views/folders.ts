import type { Change, ChangeKind, FolderNoun, Outcome, Stored } from "../folders/folder.ts";
import { formatJson } from "../text/json-text.ts";
import { diffLines, selectHunks } from "../text/line-diff.ts";
import { safeText } from "../text/safe-text.ts";
import type { Style } from "../types.ts";

type Named = Pick<FolderNoun<unknown>, "identity" | "words">;

/** The planned changes as data. */
export function planToJson<F>(noun: Named, changes: readonly Change<F>[]) {
  return {
    changes: changes.map(({ key, kind, fields, conflict }) => ({
      [noun.identity]: key,
      change: wordOf(noun, kind),
      fields,
      ...(conflict && { conflict }),
    })),
  };
}

/** The outcomes as data. */
export function outcomesToJson(noun: Named, outcomes: readonly (Outcome & { key: string })[]) {
  return outcomes.map(({ key, id: _, ...outcome }) => ({ [noun.identity]: key, ...outcome }));
}

const CONFLICTS = { changed: "changed on the server since the pull", unseen: "never pulled from this server" } as const;

const SIGNS = { create: "+", update: "~", release: "^", remove: "-" } as const;

/** The planned changes for people; with `whole`, including the differing lines. */
export function formatPlan<F>(noun: Named, changes: readonly Change<F>[], style: Style, whole = false): string {
  const paint = { create: style.green, update: style.yellow, release: style.cyan, remove: style.red };
  if (changes.length === 0) return whole ? "" : style.dim("Nothing to do.");
  return changes
    .flatMap((change) => [
      `${paint[change.kind](`${SIGNS[change.kind]} ${wordOf(noun, change.kind)}`)} ${safeText(change.key)}${change.fields.length > 0 ? style.dim(`  ${change.fields.join(", ")}`) : ""}${change.conflict ? style.red(`  ${CONFLICTS[change.conflict]}`) : ""}`,
      ...(whole && change.kind === "update" ? change.fields.flatMap((field) => formatFieldDiff(change, field, style)) : []),
    ])
    .join("\n");
}

/** The applied changes for people. */
export function formatOutcomes(outcomes: readonly (Outcome & { key: string })[], unchanged: number, style: Style): string {
  return [
    ...outcomes.flatMap(({ key, action, version, error }) => [
      `${(action === "failed" ? style.red : style.green)(action)} ${safeText(key)}${version ? style.dim(`  v${version}`) : ""}${error ? `  ${safeText(error.message)}` : ""}`,
      ...(error?.next === undefined ? [] : [`  ${style.dim("next:")} ${safeText(error.next)}`]),
      ...(error?.details ?? []).map(({ path, message }) => `  ${style.bold(safeText(path))}  ${safeText(message)}`),
    ]),
    style.dim(`${unchanged} unchanged`),
  ].join("\n");
}

function wordOf({ words }: Named, kind: ChangeKind): string {
  return kind === "release" || kind === "remove" ? words[kind].verb : kind;
}

function toText(value: unknown): string {
  return value === null || value === undefined ? "" : typeof value === "string" ? value : formatJson(value);
}

function formatFieldDiff<F>({ local, stored }: Change<F, Stored<F>>, field: string, style: Style): string[] {
  const read = (from: F | null | undefined): string => toText((from as Record<string, unknown> | null | undefined)?.[field]);
  const lines = selectHunks(diffLines(read(stored?.files), read(local)));
  const shown = lines.map((line) => {
    if (line === null) return style.dim("      …");
    const text = `    ${line.sign} ${safeText(line.text)}`;
    return line.sign === "+" ? style.green(text) : line.sign === "-" ? style.red(text) : style.dim(text);
  });
  return [`  ${style.bold(field)}`, ...shown];
}
