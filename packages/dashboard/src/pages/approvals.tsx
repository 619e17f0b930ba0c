/** @jsxImportSource preact */
import { useState } from "preact/hooks";
import { api } from "../api/client.ts";
import { ApprovalCard } from "../parts/agents/approval-card.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { Tabs } from "../parts/tabs.tsx";

const TABS = [
  { name: "PENDING", label: "Open" },
  { name: "ANY", label: "All" },
] as const;

/** The requests of all agents, to be answered. */
export default function Approvals() {
  const [status, setStatus] = useState<(typeof TABS)[number]["name"]>("PENDING");
  const choose = (name: string): void => setStatus(TABS.find((tab) => tab.name === name)?.name ?? "PENDING");
  return (
    <ListPage
      title="Approvals"
      about="Questions that your agents wait for you to answer."
      load={(query: object, options: { readonly signal: AbortSignal }) => api.approvals.list({ ...query, status }, options)}
      inputs={[status]}
      live="regularly"
      entries={(messages, refresh) => (
        <div class="stack">
          {messages.map((message) => (
            <ApprovalCard key={message.id} message={message} agent={message.agentName} done={refresh} />
          ))}
        </div>
      )}
      around={(list) => (
        <div class="scroll">
          <Tabs label="Requests" tabs={TABS} chosen={status} choose={choose}>
            {list}
          </Tabs>
        </div>
      )}
      empty={status === "PENDING" ? "Nothing to approve" : "No agent has asked yet"}
      start={<p>When an agent needs your approval, it asks here and waits for your answer.</p>}
    />
  );
}
