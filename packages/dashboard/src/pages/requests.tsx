/** @jsxImportSource preact */
import type { RequestRecord } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { session } from "../api/session.ts";
import { CodeBlock } from "../parts/code-block.tsx";
import type { Column } from "../parts/data-table.tsx";
import { Empty } from "../parts/empty.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { ObjectLink } from "../parts/object-link.tsx";
import { Time } from "../parts/time.tsx";

// The latest that the server gives at once.
const SHOWN = 1000;
const METHODS = ["GET", "POST", "PATCH", "PUT", "DELETE"];

const COLUMNS: readonly Column<RequestRecord>[] = [
  {
    head: "Request",
    width: "3 1 0",
    cell: ({ method, path }) => (
      <code>
        {method} {path}
      </code>
    ),
  },
  { head: "Answer", width: "0 0 5rem", cell: ({ status, error }) => <span class={`status ${toneOf(status, error)}`}>{status}</span> },
  { head: "Error", width: "1 1 0", second: true, cell: ({ error }) => <span class="soft">{error?.replaceAll("_", " ")}</span> },
  { head: "Key", width: "1 1 0", wide: true, cell: ({ key }) => <KeyOf request={key} /> },
  { head: "Took", width: "0 0 5.5rem", wide: true, cell: ({ ms }) => <span class="number soft">{`${ms} ms`}</span> },
  { head: "At", width: "0 0 8.5rem", cell: ({ at }) => <Time at={at} exactly /> },
];

/** The latest requests of programs to the API, as they come. */
export default function Requests() {
  return (
    <ListPage
      title="Requests"
      about={
        session.value?.dev
          ? `The last ${SHOWN.toLocaleString("en-US")} requests of your programs, as they come. Bodies are never kept.`
          : "Requests of your programs, as they come. Bodies are never kept."
      }
      filters={[
        {
          name: "failed",
          label: "Answer",
          options: [
            { value: "true", text: "failed" },
            { value: "false", text: "succeeded" },
          ],
        },
        { name: "method", label: "Method", options: METHODS },
        { name: "path", label: "Path", example: "Path: /api/v1/send", pattern: /^\/[\w\-/:*.]*$/ },
        { name: "key", label: "Key", example: "Key: its name or id" },
      ]}
      load={listRequests}
      live="regularly"
      columns={COLUMNS}
      empty="No requests yet"
      start={
        <>
          <p>Each API request is listed here with its response. Send an email to see one.</p>
          <CodeBlock
            label="A command that sends an email"
            code="npx mailsvc send --from hello@acme.example --to ada@example.com --subject Hello --text Hi"
          />
        </>
      }
      none="No request fits these filters"
      instead={(error) => (error.code === "invalid_state" ? <KeepsNone /> : null)}
    />
  );
}

async function listRequests(query: NonNullable<Parameters<typeof api.requests.list>[0]>, options: { readonly signal: AbortSignal }) {
  const { data } = await api.requests.list({ ...query, limit: SHOWN }, options);
  return { data, pagination: { page: 1, limit: SHOWN, total: data.length, totalPages: 1, hasMore: false, nextCursor: null } };
}

function KeepsNone() {
  return (
    <Empty title="This server keeps no requests">
      <p>Start it with this flag, and the requests of the last 30 days are listed here.</p>
      <CodeBlock label="A command that keeps requests" code="mailsvc serve --keep requests=30" />
    </Empty>
  );
}

function toneOf(status: number, error: RequestRecord["error"]): string {
  return error === null ? "good" : status >= 500 ? "bad" : "warn";
}

function KeyOf({ request: key }: { readonly request: RequestRecord["key"] }) {
  if (key === null) return <span class="soft">no key</span>;
  return key.id === null ? <code class="soft">{key.preview}</code> : <ObjectLink id={key.id} name={key.name ?? key.preview ?? undefined} />;
}
