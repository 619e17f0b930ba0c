/** @jsxImportSource preact */
import type { List } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { ListFields, readList } from "../parts/audience/list-form.tsx";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Empty } from "../parts/empty.tsx";
import { Filters, readFilters } from "../parts/filters.tsx";
import { FormButton, type FormValues } from "../parts/form-button.tsx";
import { Page } from "../parts/page.tsx";
import { formatCount } from "../parts/plural.ts";
import { useEvents, useList } from "../parts/resource.ts";
import { Status } from "../parts/status.tsx";
import { Time } from "../parts/time.tsx";
import { go, toHref } from "../router.tsx";

const COLUMNS: readonly Column<List>[] = [
  { head: "List", width: "3 1 0", cell: ({ name }) => name },
  {
    head: "Opt-in",
    width: "0 0 7rem",
    wide: true,
    cell: ({ doubleOptIn }) => <span class="soft">{doubleOptIn ? "double" : "single"}</span>,
  },
  {
    head: "Not confirmed",
    width: "0 0 7rem",
    wide: true,
    cell: ({ doubleOptIn, pendingCount }) =>
      doubleOptIn || pendingCount > 0 ? <span class="number">{formatCount(pendingCount)}</span> : null,
  },
  { head: "Members", width: "0 0 5.5rem", cell: ({ memberCount }) => <span class="number">{formatCount(memberCount)}</span> },
  {
    head: "Preference page",
    width: "0 0 8rem",
    wide: true,
    cell: ({ public: isPublic }) => (isPublic ? <Status status="public" text="shown" /> : <span class="soft">hidden</span>),
  },
  { head: "Added", width: "0 0 6.5rem", wide: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
];

/** The lists that people are on. */
export default function Lists() {
  const filters = readFilters(["search"]);
  const list = useList(
    (cursor, signal) => api.lists.list({ ...filters, limit: 100, ...(cursor && { cursor }) }, { signal }),
    [JSON.stringify(filters)],
  );
  useEvents(({ type }) => type.startsWith("list."), list.refresh);
  const create = async (values: FormValues): Promise<void> => {
    const { id } = await api.lists.create(readList(values));
    go(`/lists/${id}`);
  };
  return (
    <Page
      title="Lists"
      about="People join and leave lists, and campaigns are sent to them."
      actions={
        may("lists:write") ? (
          <FormButton label="Add a list" title="Add a list" submit="Add" primary act={create}>
            <ListFields />
          </FormButton>
        ) : null
      }
    >
      <Filters fields={[{ name: "search", label: "Search", example: "Search lists" }]} />
      <DataTable
        label="Lists"
        list={list}
        columns={COLUMNS}
        href={({ id }) => toHref(`/lists/${id}`)}
        empty={
          <Empty title={filters["search"] ? "No list has this in its name" : "No lists yet"}>
            {filters["search"] ? null : <p>A list holds the people who asked for something: a newsletter, news of a product.</p>}
          </Empty>
        }
      />
    </Page>
  );
}
