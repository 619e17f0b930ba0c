/** @jsxImportSource preact */
import type { List } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { ListFields, readList } from "../parts/audience/list-form.tsx";
import type { Column } from "../parts/data-table.tsx";
import { FormButton, type FormValues } from "../parts/form-button.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { formatCount } from "../parts/plural.ts";
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
  const create = async (values: FormValues): Promise<void> => {
    const { id } = await api.lists.create(readList(values));
    go(`/lists/${id}`);
  };
  return (
    <ListPage
      title="Lists"
      about="People join and leave lists, and you send campaigns to them."
      actions={
        may("lists:write") ? (
          <FormButton label="Add a list" title="Add a list" submit="Add" primary act={create}>
            <ListFields />
          </FormButton>
        ) : null
      }
      filters={[{ name: "search", label: "Search", example: "Search lists" }]}
      load={api.lists.list}
      live={({ type }) => type.startsWith("list.")}
      columns={COLUMNS}
      href={({ id }) => toHref(`/lists/${id}`)}
      empty="No lists yet"
      start={<p>A list holds the people who asked for something, such as a newsletter.</p>}
      none="No lists match this search"
    />
  );
}
