/** @jsxImportSource preact */

import type { List, ListMember } from "@mailsvc/sdk/contract";
import { formatContactName } from "@mailsvc/sdk/contract/facts";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { ListFields, readList } from "../parts/audience/list-form.tsx";
import { NamedBy } from "../parts/audience/named-by.tsx";
import { STATUS_WORDS } from "../parts/audience/words.ts";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Empty } from "../parts/empty.tsx";
import { Field } from "../parts/field.tsx";
import { Filters, readFilters } from "../parts/filters.tsx";
import { FormButton, type FormValues } from "../parts/form-button.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { count } from "../parts/plural.ts";
import { useEvents, useList, useResource } from "../parts/resource.ts";
import { RowMenu } from "../parts/row-menu.tsx";
import { splitList } from "../parts/split-list.ts";
import { Status } from "../parts/status.tsx";
import { Time } from "../parts/time.tsx";
import { toast } from "../parts/toast.tsx";
import { go, type PageProps, toHref } from "../router.tsx";

const FILTERS = ["search", "status"];

/** A member as a row: the contact's id is that of the row. */
type Member = ListMember & { readonly id: string };

/** One list: its members, and how people join it. */
export default function ListPage({ params }: PageProps) {
  const id = params["id"] ?? "";
  const filters = readFilters(FILTERS);
  const list = useResource((signal) => api.lists.get(id, { signal }), [id]);
  const members = useList<Member>(
    async (cursor, signal) => {
      const query = { ...filters, limit: 100, ...(cursor && { cursor }) } as Parameters<typeof api.lists.contacts>[1];
      const { data, pagination } = await api.lists.contacts(id, query, { signal });
      return { data: data.map((member) => ({ ...member, id: member.contact.id })), pagination };
    },
    [id, JSON.stringify(filters)],
  );
  const reload = (): void => {
    list.reload();
    members.refresh();
  };
  useEvents(
    ({ type, data }) => (type.startsWith("list.") && "listId" in data && data.listId === id) || type.startsWith("contact."),
    reload,
  );
  const filtered = Object.keys(filters).length > 0;
  return (
    <Page
      title={list.data?.name ?? "List"}
      back={{ href: toHref("/lists"), name: "Lists" }}
      about={list.data === null ? null : <About list={list.data} />}
      actions={list.data !== null && may("lists:write") ? <Actions list={list.data} reload={reload} /> : null}
    >
      <Loaded from={list}>
        {(data) => (
          <>
            {data.doubleOptIn ? <OptIn list={data} /> : null}
            <Filters
              fields={[
                { name: "search", label: "Search", example: "Search people" },
                ...(data.doubleOptIn || data.pendingCount > 0
                  ? [
                      {
                        name: "status",
                        label: "Membership",
                        options: [
                          { value: "MEMBER", text: "Members" },
                          { value: "PENDING", text: "Not confirmed" },
                        ],
                      },
                    ]
                  : []),
              ]}
            />
            <DataTable
              label="Members"
              list={members}
              columns={toColumns(data, reload)}
              href={({ contact }) => toHref(`/contacts/${contact.id}`)}
              empty={
                <Empty title={filtered ? "Nobody fits these filters" : "Nobody is on this list yet"}>
                  {filtered ? null : (
                    <p>Add people here by their addresses, choose them among the contacts, or let a sign-up form add them.</p>
                  )}
                </Empty>
              }
            />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function About({ list: { memberCount, pendingCount, description } }: { readonly list: List }) {
  return (
    <>
      {count(memberCount, "member")}
      {pendingCount > 0 ? `, ${count(pendingCount, "has", "have")} not confirmed yet` : ""}
      {description === null ? "" : ` · ${description}`}
    </>
  );
}

function OptIn({ list: { confirmationFrom, confirmationSubject } }: { readonly list: List }) {
  return (
    <p class="soft">
      <Status status="active" text="double opt-in" /> New people get an email from {confirmationFrom}
      {confirmationSubject === null ? "" : ` (“${confirmationSubject}”)`} that links to a page at{" "}
      <code>{`${location.origin}/lists/confirm/…`}</code>, and become members once they confirm there, within 7 days.
    </p>
  );
}

interface ActionProps {
  readonly list: List;
  readonly reload: () => void;
}

function Actions({ list, reload }: ActionProps) {
  const { id, name, doubleOptIn } = list;
  const add = async (values: FormValues): Promise<void> => {
    const contacts = splitList(values.text("contacts"));
    const { added, pending, unchanged, failed } = await api.lists.add(id, { contacts });
    reload();
    const parts = [
      added > 0 ? `${count(added, "person", "people")} added` : "",
      pending > 0 ? `${count(pending, "person", "people")} asked to confirm` : "",
      unchanged > 0 ? `${count(unchanged, "person", "people")} already there` : "",
    ].filter((part) => part !== "");
    if (failed.length === 0) toast(parts.join(", "));
    else
      throw new Error(
        [...parts, ...failed.slice(0, 5).map(({ contact, message }) => `${contact}: ${message}`)].join(" · ") +
          (failed.length > 5 ? ` · and ${failed.length - 5} more` : ""),
      );
  };
  const change = async (values: FormValues): Promise<void> => {
    await api.lists.update(id, values.changes(readList));
    toast("Saved");
    reload();
  };
  const remove = async (): Promise<void> => {
    await api.lists.delete(id);
    toast("Deleted");
    go("/lists");
  };
  return (
    <>
      <FormButton label="Add people" title={`Add people to ${name}`} submit="Add" primary act={add}>
        <Field
          label="Addresses of contacts"
          hint={
            doubleOptIn
              ? "One on each line, 1,000 at most. Each gets an email that asks to confirm."
              : "One on each line, 1,000 at most. Import people who are not contacts yet."
          }
        >
          <textarea name="contacts" rows={5} required placeholder={"ada@example.com\ngrace@example.com"} spellcheck={false} />
        </Field>
      </FormButton>
      <FormButton label="Settings" title="Settings of the list" submit="Save" act={change}>
        <ListFields list={list} />
      </FormButton>
      <ConfirmButton label="Delete" question={`Delete the list ${name}?`} danger act={remove}>
        <p>The people stay contacts.</p>
        <NamedBy id={id} />
      </ConfirmButton>
    </>
  );
}

function toColumns(list: List, reload: () => void): readonly Column<Member>[] {
  const remove =
    ({ contact }: Member) =>
    async (): Promise<void> => {
      await api.lists.removeOne(list.id, contact.id);
      toast(`${contact.email} removed`);
      reload();
    };
  const resend =
    ({ contact }: Member) =>
    async (): Promise<void> => {
      await api.lists.resend(list.id, contact.id);
      toast("Another email is on its way; the link of the one before stops working");
      reload();
    };
  return [
    { head: "Address", width: "3 1 0", cell: ({ contact }) => contact.email },
    { head: "Name", width: "2 1 0", wide: true, cell: ({ contact }) => formatContactName(contact) },
    { head: "Membership", width: "0 0 7rem", cell: (member) => <Membership member={member} /> },
    { head: "Added", width: "0 0 6.5rem", wide: true, cell: ({ addedAt }) => <Time at={addedAt} /> },
    ...(may("lists:write")
      ? [
          {
            head: "More",
            width: "0 0 3rem",
            cell: (member: Member) => (
              <RowMenu
                label={`More for ${member.contact.email}`}
                entries={[
                  ...(member.status === "PENDING" ? [{ label: "Send the confirmation again", act: resend(member) }] : []),
                  { label: "Remove from the list", act: remove(member) },
                ]}
              />
            ),
          },
        ]
      : []),
  ];
}

function Membership({ member: { status, contact } }: { readonly member: Member }) {
  if (status === "PENDING") return <Status status="pending" text="not confirmed" />;
  return <Status status={contact.status} text={STATUS_WORDS[contact.status]} />;
}
