/** @jsxImportSource preact */
import { api } from "../api/client.ts";
import { SegmentForm } from "../parts/audience/segment-form.tsx";
import { Page } from "../parts/page.tsx";
import { newCondition } from "../parts/rules/values.ts";
import { toast } from "../parts/toast.tsx";
import { go, toHref } from "../router.tsx";

/** A segment before it exists. */
export default function NewSegment() {
  return (
    <Page title="New segment" back={{ href: toHref("/segments"), name: "Segments" }}>
      <div class="scroll wide-form">
        <SegmentForm
          initial={{
            name: "",
            description: null,
            rules: { all: [newCondition() as { field: "tags"; operator: "contains"; value: string }] },
          }}
          label="Create the segment"
          save={async (fields) => {
            const { id } = await api.segments.create(fields);
            toast("Created");
            go(`/segments/${id}`);
          }}
        />
      </div>
    </Page>
  );
}
