/** @jsxImportSource preact */
import { useRef, useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import { ConfirmButton } from "../confirm-button.tsx";
import { Field } from "../field.tsx";
import { useResource } from "../resource.ts";
import { toast } from "../toast.tsx";

/** Passes a mail on to one of the agents that may read messages; nothing while there is none. */
export function PassOn({ id, text }: { readonly id: string; readonly text: string }) {
  const { data } = useResource((signal) => api.activations.list({ limit: 100 }, { signal }), []);
  const [chosen, setChosen] = useState("");
  const select = useRef<HTMLSelectElement>(null);
  const agents = (data?.data ?? []).filter(({ status, scopes }) => status !== "deactivated" && scopes.includes("agent:read_messages"));
  const [first] = agents;
  if (!first || text.trim() === "") return null;
  const act = async (): Promise<void> => {
    const agent = select.current?.value ?? first.agentSlug;
    await api.received.passOn(id, { agent });
    toast(`Passed on to ${agents.find(({ agentSlug }) => agentSlug === agent)?.agentName ?? agent}`);
  };
  return (
    <ConfirmButton label="Pass on to an agent" question="Pass this mail on to an agent?" act={act}>
      <Field label="Agent" hint="It gets this text as your message, without addresses and names of the sender and recipients.">
        <select ref={select} value={chosen || first.agentSlug} onChange={({ currentTarget }) => setChosen(currentTarget.value)}>
          {agents.map(({ id: activation, agentSlug, agentName }) => (
            <option key={activation} value={agentSlug}>
              {agentName}
            </option>
          ))}
        </select>
      </Field>
      <p class="said quoted">{text}</p>
    </ConfirmButton>
  );
}
