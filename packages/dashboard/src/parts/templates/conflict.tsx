/** @jsxImportSource preact */
import type { TemplateDetail } from "@mailsvc/sdk/contract";
import { useState } from "preact/hooks";
import { Difference } from "../editor/difference.tsx";
import { Time } from "../time.tsx";
import { nameChanges, toDraft } from "./draft.ts";
import type { Editing } from "./editing.ts";

/** Somebody else has stored another version meanwhile: the person sees the difference and decides. */
export function Conflict({
  editing: { draft, keepMine, takeTheirs },
  theirs,
}: {
  readonly editing: Editing;
  readonly theirs: TemplateDetail;
}) {
  const [open, setOpen] = useState(false);
  const differing = nameChanges(draft, toDraft(theirs));
  return (
    <section class="note warn" role="alert" aria-label="Changed by somebody else">
      <strong>
        Somebody else changed this template <Time at={theirs.updatedAt} />.
      </strong>
      <p>Your changes are kept. {differing.length === 0 ? "Both say the same." : `They differ in: ${differing.join(", ")}.`}</p>
      <div class="buttons">
        <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? "Hide the difference" : "Show the difference"}
        </button>
        <button type="button" onClick={takeTheirs}>
          Take theirs
        </button>
        <button type="button" onClick={keepMine}>
          Keep mine
        </button>
      </div>
      {open ? (
        <div class="differences">
          {theirs.source.subject === draft.subject ? null : (
            <Difference
              label="Difference of the subject, from theirs to yours"
              before={theirs.source.subject ?? ""}
              after={draft.subject ?? ""}
            />
          )}
          <Difference label="Difference of the HTML, from theirs to yours" before={theirs.source.html ?? ""} after={draft.html ?? ""} />
        </div>
      ) : null}
    </section>
  );
}
