/** @jsxImportSource preact */
import type { SegmentRule } from "@mailsvc/sdk/contract";
import { useState } from "preact/hooks";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { type SegmentFields, SegmentForm, toSegment } from "../parts/audience/segment-form.tsx";
import { Empty } from "../parts/empty.tsx";
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
  const back = { href: toHref("/segments"), name: "Segments" };
  if (!may("segments:write"))
    return (
      <Page title="New segment" back={back}>
        <Empty title="Your role may not create segments">
          <p>Ask an owner or a marketer of this workspace.</p>
        </Empty>
      </Page>
    );
  return (
    <Page title="New segment" back={back}>
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
