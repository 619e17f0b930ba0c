/** @jsxImportSource preact */
import type { AutomationDetail, AutomationEntry } from "@mailsvc/sdk/contract";
import { useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import { may } from "../../api/session.ts";
import { toHref } from "../../router.tsx";
import { findContact } from "../audience/find-contact.ts";
import { ContactPicker } from "../contact-picker.tsx";
import { type Column, DataTable } from "../data-table.tsx";
import { Empty } from "../empty.tsx";
import { Filters, readFilters } from "../filters.tsx";
import { NUMBERS_MS, useEvents, useList, useResource } from "../resource.ts";
import { Status } from "../status.tsx";
import { Time } from "../time.tsx";
import { describeReason, type Names, nameEntryStatus, sayStep } from "./words.ts";

interface Props {
  readonly automation: AutomationDetail;
  readonly names: Names;
}

/** Contacts who entered, their current step, and the reason they left. */
export function AutomationEntries({ automation, names }: Props) {
  const { id } = automation;
  const filters = readFilters(["status"]);
  const [email, setEmail] = useState("");
  const contact = useContactId(email);
  const list = useList(
    (cursor, signal) => {
      const page = { ...filters, limit: 100, ...(contact !== null && { contact }), ...(cursor && { cursor }) };
      return api.automations.entries(id, page as Parameters<typeof api.automations.entries>[1], { signal });
    },
    [id, contact, JSON.stringify(filters)],
  );
  useEvents(({ automationId }) => automationId === id, list.refresh, NUMBERS_MS);
  const isFiltered = email !== "" || Object.keys(filters).length > 0;
  return (
    <>
      <div class="filters">
        <ContactPicker label="Entries of a contact" hint="Contact: ada@example.com" choose={setEmail} />
        <Filters
          fields={[
            {
              name: "status",
              label: "State",
              options: (["ACTIVE", "COMPLETED", "EXITED", "FAILED"] as const).map((value) => ({ value, text: nameEntryStatus(value) })),
            },
          ]}
        />
      </div>
      <DataTable
        label="Entries"
        list={list}
        columns={listColumns(automation, names)}
        href={(entry) => toHref(`/automations/${id}/entries/${entry.contactId}?entry=${entry.id}`)}
        empty={
          <Empty title={isFiltered ? "No contacts match" : "No contacts yet"}>
            <p>
              {isFiltered
                ? null
                : automation.status === "ACTIVE"
                  ? "Contacts enter from its activation on."
                  : "Nobody enters until you activate it."}
            </p>
          </Empty>
        }
      />
    </>
  );
}

function listColumns({ steps }: AutomationDetail, names: Names): readonly Column<AutomationEntry>[] {
  return [
    { head: "Contact", width: "2 1 0", cell: ({ contactId }) => <ContactName id={contactId} /> },
    {
      head: "State",
      width: "0 0 6.5rem",
      cell: ({ status }) => <Status status={status === "EXITED" ? "plain" : status} text={nameEntryStatus(status)} />,
    },
    { head: "Where", width: "3 1 0", second: true, cell: (entry) => <span class="soft">{describePlace(entry, steps, names)}</span> },
    {
      head: "Goal",
      width: "0 0 5.5rem",
      wide: true,
      cell: ({ goalReachedAt }) => (goalReachedAt === null ? "" : <Status status="ok" text="reached" />),
    },
    { head: "Due", width: "0 0 6.5rem", wide: true, cell: ({ dueAt }) => (dueAt === null ? "" : <Time at={dueAt} />) },
    { head: "Entered", width: "0 0 6.5rem", cell: ({ enteredAt }) => <Time at={enteredAt} /> },
  ];
}

function describePlace({ status, stepId, reason }: AutomationEntry, steps: AutomationDetail["steps"], names: Names): string {
  if (status !== "ACTIVE") return reason === null ? "" : describeReason(reason);
  const step = steps.find(({ id }) => id === stepId);
  return step ? `next: ${sayStep(step, names)}` : (stepId ?? "");
}

/** The id of the contact with an address, or the address itself where there is none, which no entry has; null for all contacts. */
function useContactId(email: string): string | null {
  const { data } = useResource(
    async (signal) => {
      if (email === "") return null;
      return (await findContact(email, signal))?.id ?? email.slice(0, 100);
    },
    [email],
  );
  return email === "" ? null : data;
}

/** The address of a contact, which entries name by its id. */
function ContactName({ id }: { readonly id: string }) {
  const { data, error } = useResource(async (signal) => (may("contacts:read") ? (await api.contacts.get(id, { signal })).email : id), [id]);
  if (error !== null) return <span class="soft">{error.status === 404 ? "deleted contact" : id}</span>;
  return <>{data ?? <span class="soft">…</span>}</>;
}
