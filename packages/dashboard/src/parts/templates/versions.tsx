/** @jsxImportSource preact */
import type { TemplateVersion } from "@mailsvc/sdk/contract";
import { api } from "../../api/client.ts";
import { toHref } from "../../router.tsx";
import { type Column, DataTable } from "../data-table.tsx";
import { Empty } from "../empty.tsx";
import { useList } from "../resource.ts";
import { Status } from "../status.tsx";
import { Subject } from "../subject.tsx";
import { Time } from "../time.tsx";

const COLUMNS: readonly Column<TemplateVersion>[] = [
  { head: "Version", width: "0 0 6rem", cell: ({ version }) => `Version ${version}` },
  {
    head: "Subject",
    width: "3 1 0",
    wide: true,
    cell: ({ subject }) => (subject === null ? <span class="soft">(no subject)</span> : <Subject text={subject} />),
  },
  {
    head: "State",
    width: "0 0 11rem",
    cell: ({ current, restoredFrom }) => (
      <>
        {current ? <Status status="published" /> : null}{" "}
        {restoredFrom === null ? null : <span class="soft">as version {restoredFrom}</span>}
      </>
    ),
  },
  { head: "Published", width: "0 0 6.5rem", cell: ({ createdAt }) => <Time at={createdAt} /> },
];

/** Published versions of a template, newest first. */
export function TemplateVersions({ id, version }: { readonly id: string; readonly version: number | null }) {
  const list = useList(
    (cursor, signal) => api.templates.versions(id, { limit: 100, ...(cursor && { cursor }) }, { signal }),
    [id, version],
  );
  return (
    <DataTable
      label="Versions"
      list={list}
      columns={COLUMNS}
      href={({ version: one }) => toHref(`/templates/${id}/versions/${one}`)}
      empty={
        <Empty title="Not published yet">
          <p>Each publication becomes a version; the newest hundred are kept.</p>
        </Empty>
      }
    />
  );
}
