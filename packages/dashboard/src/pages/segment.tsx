/** @jsxImportSource preact */

import type { Segment } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { ContactTable } from "../parts/audience/contact-table.tsx";
import { NamedBy } from "../parts/audience/named-by.tsx";
import { SegmentEditor } from "../parts/audience/segment-editor.tsx";
import { CodeBlock } from "../parts/code-block.tsx";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { Empty } from "../parts/empty.tsx";
import { Filters, readFilters } from "../parts/filters.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { PAGE_SIZE, usePageWindow } from "../parts/page-window.ts";
import { count } from "../parts/plural.ts";
import { useEvents, useResource } from "../parts/resource.ts";
import { Status } from "../parts/status.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { toast } from "../parts/toast.tsx";
import { go, type PageProps, query, setQuery, toHref } from "../router.tsx";

const TABS = [
  { name: "people", label: "People" },
  { name: "rules", label: "Rules" },
];

/** One segment: who is in it, and by which rule. */
export default function SegmentPage({ params }: PageProps) {
  const id = params["id"] ?? "";
  const segment = useResource((signal) => api.segments.get(id, { signal }), [id]);
  const { data, reload } = segment;
  useEvents(({ type, data: about }) => type.startsWith("segment.") && "segmentId" in about && about.segmentId === id, reload);
  const chosen = query.value.get("tab") ?? "people";
  return (
    <Page
      title={data?.name ?? "Segment"}
      back={{ href: toHref("/segments"), name: "Segments" }}
      about={data === null ? null : <About segment={data} />}
      actions={data !== null && may("segments:write") ? <Remove segment={data} /> : null}
    >
      <Loaded from={segment}>
        {(shown) => (
          <Tabs
            label="The segment"
            tabs={TABS}
            chosen={chosen}
            choose={(tab) => setQuery({ tab: tab === "people" ? "" : tab, search: "" })}
          >
            {chosen === "people" ? <People id={id} /> : <Rules segment={shown} reload={reload} />}
          </Tabs>
        )}
      </Loaded>
    </Page>
  );
}

function About({ segment: { state, memberCount, description } }: { readonly segment: Segment }) {
  return (
    <>
      {state === "BUILDING" ? <Status status="processing" text="counting" /> : count(memberCount, "person", "people")}
      {description === null ? "" : ` · ${description}`}
    </>
  );
}

function People({ id }: { readonly id: string }) {
  const filters = readFilters(["search"]);
  const key = JSON.stringify([id, filters]);
  const list = usePageWindow((page, signal) => api.contacts.list({ ...filters, segment: id, page, limit: PAGE_SIZE }, { signal }), [key]);
  useEvents(
    ({ type }) => /^(?:contact|segment)\./.test(type),
    () => list.refresh(),
  );
  return (
    <>
      <Filters fields={[{ name: "search", label: "Search", example: "Search people" }]} />
      <ContactTable
        list={list}
        name={key}
        empty={<Empty title={filters["search"] ? "Nobody is found" : "Nobody matches at the moment"} />}
      />
    </>
  );
}

function Rules({ segment, reload }: { readonly segment: Segment; readonly reload: () => void }) {
  if (!may("segments:write")) return <CodeBlock label="The rule" code={JSON.stringify(segment.rules, null, 2)} />;
  return (
    <div class="wide-form">
      <SegmentEditor key={segment.id} segment={segment} done={reload} />
    </div>
  );
}

function Remove({ segment: { id, name } }: { readonly segment: Segment }) {
  const act = async (): Promise<void> => {
    await api.segments.delete(id);
    toast("Deleted");
    go("/segments");
  };
  return (
    <ConfirmButton label="Delete" question={`Delete the segment ${name}?`} danger act={act}>
      <p>The people stay contacts.</p>
      <NamedBy id={id} />
    </ConfirmButton>
  );
}
