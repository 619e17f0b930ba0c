/** @jsxImportSource preact */
import type { ListingActivation } from "@mailsvc/sdk/contract";
import { api } from "../../api/client.ts";
import { may } from "../../api/session.ts";
import { ActionButton } from "../action-button.tsx";
import { Empty } from "../empty.tsx";
import { ListStates } from "../list-states.tsx";
import { useList, useRegularly } from "../resource.ts";
import { ActivationState } from "../states.tsx";
import { Time } from "../time.tsx";
import { toast } from "../toast.tsx";
import { LastError, PAUSE_WORDS } from "./pause-note.tsx";

/** The brands that have an agent on, and what stopped its events. */
export function ListingActivations({ slug }: { readonly slug: string }) {
  const list = useList((cursor, signal) => api.listings.activations(slug, { limit: 50, ...(cursor && { cursor }) }, { signal }), [slug]);
  useRegularly(list.refresh);
  return (
    <ListStates
      list={list}
      empty={
        <Empty title="No brand has it on">
          <p>Each brand that turns the agent on is listed here, with the reason if it is paused.</p>
        </Empty>
      }
    >
      <ul class="items card">
        {list.items.map((activation) => (
          <Row key={activation.id} slug={slug} activation={activation} done={list.refresh} />
        ))}
      </ul>
    </ListStates>
  );
}

interface RowProps {
  readonly slug: string;
  readonly activation: ListingActivation;
  readonly done: () => void;
}

function Row({ slug, activation, done }: RowProps) {
  const { id, organizationName, pauseReasons, webhookLastError: error, keyDeliveredAt, createdAt } = activation;
  const resume = async (): Promise<void> => {
    await api.listings.resume(slug, id);
    toast("Its events are tried again");
    done();
  };
  return (
    <li>
      <div class="what">
        <span>
          <strong>{organizationName}</strong> <ActivationState activation={activation} />
        </span>
        {pauseReasons.includes("webhook_failure") && may("listings:write") ? <ActionButton label="Resume" act={resume} /> : null}
      </div>
      <p class="soft">
        {pauseReasons.map((reason) => `${PAUSE_WORDS[reason]} · `)}on since <Time at={createdAt} exactly /> ·{" "}
        {keyDeliveredAt === null ? "key not received yet" : "key received"} · <code>{id}</code>
      </p>
      {error !== null && error.clearedAt === null ? <LastError error={error} /> : null}
    </li>
  );
}
