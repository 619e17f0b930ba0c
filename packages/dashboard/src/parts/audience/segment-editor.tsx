/** @jsxImportSource preact */
import type { Segment } from "@mailsvc/sdk/contract";
import { useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import { Conflict, type Differing } from "../conflict.tsx";
import { useSending } from "../sending.ts";
import { toast } from "../toast.tsx";
import { useVersions } from "../versions.ts";
import { type SegmentFields, SegmentForm, toSegment } from "./segment-form.tsx";

interface Props {
  readonly segment: Segment;
  /** Called when it is saved. */
  readonly done: () => void;
}

/** Changes a segment. If a colleague has changed it since the page was loaded, the person sees that change before they may overwrite it. */
export function SegmentEditor({ segment, done }: Props) {
  const { id } = segment;
  const [fields, setFields] = useState(() => toFields(segment));
  // Rises when the rule is replaced: its editor begins with it.
  const [edition, setEdition] = useState(0);
  const sending = useSending();
  const versions = useVersions({
    newest: segment,
    mine: fields,
    pick: toFields,
    load: () => api.segments.get(id),
    show: (stored) => {
      setFields(toFields(stored));
      setEdition((n) => n + 1);
    },
  });
  const { base, theirs } = versions;
  const save = async (): Promise<void> => {
    const sent = toSegment(fields);
    if (sent === null) return;
    const isSaved = await versions.save(async (revision) => {
      const stored = await api.segments.update(id, { ...sent, revision });
      // Unless something was typed meanwhile.
      setFields((now) => (now === fields ? { ...toFields(stored), rules: now.rules } : now));
      return stored;
    });
    if (!isSaved) return;
    toast("Saved");
    done();
  };
  return (
    <>
      {theirs === null ? null : (
        <Conflict
          what="segment"
          at={theirs.updatedAt}
          differing={listDiffering(toFields(theirs), fields)}
          takeTheirs={versions.takeTheirs}
          keepMine={versions.keepMine}
        />
      )}
      <SegmentForm
        key={edition}
        fields={fields}
        change={(change) => setFields((now) => ({ ...now, ...change }))}
        rule={base.rules}
        isChanged={versions.isChanged}
        sending={sending}
        label="Save"
        save={() => void sending.send(save)}
      />
    </>
  );
}

function toFields({ name, description, rules }: Segment): SegmentFields {
  return { name, description: description ?? "", rules };
}

function listDiffering(theirs: SegmentFields, mine: SegmentFields): Differing[] {
  const format = ({ rules }: SegmentFields): string => (rules === null ? "" : JSON.stringify(rules, null, 2));
  return [
    { name: "name", theirs: theirs.name, mine: mine.name },
    { name: "description", theirs: theirs.description, mine: mine.description },
    { name: "rule", theirs: format(theirs), mine: format(mine) },
  ].filter((one) => one.theirs !== one.mine);
}
