/** @jsxImportSource preact */
import type { SegmentRule } from "@mailsvc/sdk/contract";
import { useState } from "preact/hooks";
import { api } from "../api/client.ts";
import { type SegmentFields, SegmentForm, toSegment } from "../parts/audience/segment-form.tsx";
import { Page } from "../parts/page.tsx";
import { newCondition } from "../parts/rules/values.ts";
import { useSending } from "../parts/sending.ts";
import { toast } from "../parts/toast.tsx";
import { go, toHref } from "../router.tsx";

/** A segment before it exists. */
export default function NewSegment() {
  const [rule] = useState<SegmentRule>(() => ({ all: [newCondition() as { field: "tags"; operator: "contains"; value: string }] }));
  const [fields, setFields] = useState<SegmentFields>({ name: "", description: "", rules: rule });
  const [isChanged, setChanged] = useState(false);
  const sending = useSending();
  const save = async (): Promise<void> => {
    const sent = toSegment(fields);
    if (sent === null) return;
    const { id } = await api.segments.create(sent);
    toast("Created");
    go(`/segments/${id}`);
  };
  return (
    <Page title="New segment" back={{ href: toHref("/segments"), name: "Segments" }}>
      <div class="scroll wide-form">
        <SegmentForm
          fields={fields}
          change={(change) => {
            setFields((now) => ({ ...now, ...change }));
            setChanged(true);
          }}
          rule={rule}
          isChanged={isChanged}
          sending={sending}
          label="Create the segment"
          save={() => void sending.send(save)}
        />
      </div>
    </Page>
  );
}
