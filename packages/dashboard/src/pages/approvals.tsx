/** @jsxImportSource preact */
import { useState } from "preact/hooks";
import { api } from "../api/client.ts";
import { ApprovalCard } from "../parts/agents/approval-card.tsx";
import { Empty, Loading } from "../parts/empty.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { Page } from "../parts/page.tsx";
import { useList, useRegularly } from "../parts/resource.ts";
import { Tabs } from "../parts/tabs.tsx";

const TABS = [
  { name: "PENDING", label: "Open" },
  { name: "ANY", label: "All" },
] as const;
type Status = (typeof TABS)[number]["name"];

/** The requests of all agents, to be answered. */
export default function Approvals() {
  const [status, setStatus] = useState<Status>("PENDING");
  const list = useList((cursor, signal) => api.approvals.list({ status, limit: 50, ...(cursor && { cursor }) }, { signal }), [status]);
  useRegularly(list.refresh);
  const choose = (name: string): void => setStatus(TABS.find((tab) => tab.name === name)?.name ?? "PENDING");
  return (
    <Page title="Approvals" about="What your agents ask you before they go on.">
      <div class="scroll">
        <Tabs label="Requests" tabs={TABS} chosen={status} choose={choose}>
          {list.error === null ? null : <ErrorNote error={list.error} retry={list.refresh} />}
          {list.loading && list.items.length === 0 ? <Loading /> : null}
          {!list.loading && list.items.length === 0 && list.error === null ? (
            <Empty title={status === "PENDING" ? "Nothing waits for you" : "No agent has asked yet"}>
              <p>An agent that needs your word asks here, and its run waits for the answer.</p>
            </Empty>
          ) : null}
          <div class="stack">
            {list.items.map((message) => (
              <ApprovalCard key={message.id} message={message} agent={message.agentName} done={list.refresh} />
            ))}
            {list.total !== null && list.items.length < list.total ? (
              <button type="button" onClick={list.more}>
                Show more
              </button>
            ) : null}
          </div>
        </Tabs>
      </div>
    </Page>
  );
}
