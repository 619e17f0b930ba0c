/** @jsxImportSource preact */
import { useState } from "preact/hooks";
import { api } from "../api/client.ts";
import { ApprovalCard } from "../parts/agents/approval-card.tsx";
import { Empty } from "../parts/empty.tsx";
import { ListStates } from "../parts/list-states.tsx";
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
          <ListStates
            list={list}
            empty={
              <Empty title={status === "PENDING" ? "Nothing waits for you" : "No agent has asked yet"}>
                <p>An agent that needs your word asks here, and its run waits for the answer.</p>
              </Empty>
            }
          >
            <div class="stack">
              {list.items.map((message) => (
                <ApprovalCard key={message.id} message={message} agent={message.agentName} done={list.refresh} />
              ))}
            </div>
          </ListStates>
        </Tabs>
      </div>
    </Page>
  );
}
