/** @jsxImportSource preact */
import type { TemplateDetail } from "@mailsvc/sdk/contract";
import { Conflict, type Differing } from "../conflict.tsx";
import { type Draft, listChanges, nameField, toDraft } from "./draft.ts";
import type { Editing } from "./editing.ts";

/** Somebody else has stored another version of the template meanwhile. */
export function TemplateConflict({
  editing: { draft, keepMine, takeTheirs },
  theirs,
}: {
  readonly editing: Editing;
  readonly theirs: TemplateDetail;
}) {
  return (
    <Conflict
      what="template"
      at={theirs.updatedAt}
      differing={listDiffering(toDraft(theirs), draft)}
      takeTheirs={takeTheirs}
      keepMine={keepMine}
    />
  );
}

function listDiffering(theirs: Draft, mine: Draft): Differing[] {
  const names = Object.keys(listChanges(mine, theirs)) as (keyof Draft)[];
  return names.map((name) => ({ name: nameField(name), theirs: format(theirs[name]), mine: format(mine[name]) }));
}

function format(value: Draft[keyof Draft]): string {
  return typeof value === "string" ? value : value === null ? "" : JSON.stringify(value, null, 2);
}
