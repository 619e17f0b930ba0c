/** @jsxImportSource preact */
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { BulkBar } from "../parts/audience/bulk-bar.tsx";
import { ContactFields, readContact } from "../parts/audience/contact-form.tsx";
import { ContactTable } from "../parts/audience/contact-table.tsx";
import { ExportButton } from "../parts/audience/export-button.tsx";
import { toOptions, useGroups } from "../parts/audience/groups.ts";
import { useSelection } from "../parts/audience/selection.ts";
import { STATUS_OPTIONS } from "../parts/audience/words.ts";
import { CodeBlock } from "../parts/code-block.tsx";
import { Empty } from "../parts/empty.tsx";
import { Filters, readFilters } from "../parts/filters.tsx";
import { FormButton, type FormValues } from "../parts/form-button.tsx";
import { Page } from "../parts/page.tsx";
import { PAGE_SIZE, usePageWindow } from "../parts/page-window.ts";
import { useEvents } from "../parts/resource.ts";
import { go, toHref } from "../router.tsx";

const FILTERS = ["search", "status", "tag", "list", "segment"];

/** Events after which the list may be another one. */
const CHANGES = /^(?:contact|list|segment)\./;

/** All contacts: search, filters, and what can be done with many of them. */
export default function Contacts() {
  const filters = readFilters(FILTERS);
  const key = JSON.stringify(filters);
  const groups = useGroups();
  const list = usePageWindow(
    (page, signal) =>
      api.contacts.list({ ...filters, page, limit: PAGE_SIZE } as Parameters<typeof api.contacts.list>[0], {
        signal,
      }),
    [key],
  );
  const selection = useSelection(key);
  useEvents(
    ({ type }) => CHANGES.test(type),
    () => list.refresh(),
  );
  const create = async (values: FormValues): Promise<void> => {
    const { id } = await api.contacts.create({ email: values.text("email"), ...readContact(values) });
    go(`/contacts/${id}`);
  };
  const { lists = [], segments = [] } = groups.data ?? {};
  const filtered = Object.keys(filters).length > 0;
  return (
    <Page
      title="Contacts"
      about="The people you write to."
      actions={
        <>
          <ExportButton filters={filters} filtered={filtered} />
          {may("contacts:write") ? (
            <>
              <a class="button" href={toHref("/contacts/import")}>
                Import
              </a>
              <FormButton label="Add a contact" title="Add a contact" submit="Add" primary act={create}>
                <ContactFields />
              </FormButton>
            </>
          ) : null}
        </>
      }
    >
      <Filters
        fields={[
          { name: "search", label: "Search", example: "Search people" },
          { name: "status", label: "Status", options: STATUS_OPTIONS },
          { name: "tag", label: "Tag", example: "Tag: vip" },
          ...(lists.length === 0 ? [] : [{ name: "list", label: "List", options: toOptions(lists) }]),
          ...(segments.length === 0 ? [] : [{ name: "segment", label: "Segment", options: toOptions(segments) }]),
        ]}
      />
      {may("contacts:write") ? (
        <BulkBar
          {...{ selection, filters, lists }}
          total={list.counted ?? 0}
          isMinimum={list.isMinimum}
          done={() => {
            list.refresh();
            groups.reload();
          }}
        />
      ) : null}
      <ContactTable
        list={list}
        name={key}
        selection={may("contacts:write") ? selection : undefined}
        empty={filtered ? <Empty title="No contact fits these filters" /> : <NoContacts />}
      />
    </Page>
  );
}

function NoContacts() {
  return (
    <Empty title="No contacts yet">
      <p>Import a file, add people by hand, or let your program create them.</p>
      {may("contacts:write") ? (
        <a class="button" href={toHref("/contacts/import")}>
          Import a file
        </a>
      ) : null}
      <CodeBlock
        label="A command that creates a contact"
        code="mailsvc contacts create --email ada@example.com --first-name Ada --tag vip"
      />
    </Empty>
  );
}
