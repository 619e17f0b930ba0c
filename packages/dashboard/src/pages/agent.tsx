/** @jsxImportSource preact */
import type { Activation } from "@mailsvc/sdk/contract";
import { useState } from "preact/hooks";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { ActionButton } from "../parts/action-button.tsx";
import { AskedScopes } from "../parts/agents/asked-scopes.tsx";
import { Conversation } from "../parts/agents/conversation.tsx";
import { Ledger } from "../parts/agents/ledger.tsx";
import { LastError, PauseNote } from "../parts/agents/pause-note.tsx";
import { Runs } from "../parts/agents/runs.tsx";
import { readSettings, SettingFields } from "../parts/agents/setting-fields.tsx";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { Facts } from "../parts/facts.tsx";
import { Field } from "../parts/field.tsx";
import { FormButton, type FormValues } from "../parts/form-button.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { formatCount } from "../parts/plural.ts";
import { useList, useRegularly, useResource } from "../parts/resource.ts";
import { ActivationState, waitsForServer } from "../parts/states.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { Time } from "../parts/time.tsx";
import { toast } from "../parts/toast.tsx";
import { type PageProps, toHref } from "../router.tsx";

const TABS = [
  { name: "conversation", label: "Conversation" },
  { name: "runs", label: "Runs" },
  { name: "credits", label: "Credits" },
];

/** One agent that is on: its state, the conversation with it, its runs and what it spends. */
export default function AgentPage({ params }: PageProps) {
  const id = params["id"] ?? "";
  const agent = useResource((signal) => api.activations.get(id, { signal }), [id]);
  const [chosen, choose] = useState("conversation");
  useRegularly(agent.reload);
  const { data } = agent;
  return (
    <Page
      title={data?.agentName ?? "Agent"}
      back={{ href: toHref("/agents"), name: "My agents" }}
      about={data && <ActivationState activation={data} />}
      actions={data && data.status !== "deactivated" && may("marketplace:write") ? <Actions agent={data} done={agent.reload} /> : null}
    >
      <Loaded from={agent}>
        {(activation) => (
          <div class="columns">
            <div class="column">
              <Tabs label="The agent's work" tabs={TABS} chosen={chosen} choose={choose}>
                {chosen === "conversation" ? <Conversation activation={activation} /> : null}
                {chosen === "runs" ? <Runs activationId={id} /> : null}
                {chosen === "credits" ? <Spent activationId={id} /> : null}
              </Tabs>
            </div>
            <aside class="column" aria-label="State">
              <PauseNote activation={activation} />
              {activation.update === null ? null : <AskedScopes agent={activation} update={activation.update} done={agent.reload} />}
              {waitsForServer(activation) ? <WaitsForServer activation={activation} /> : null}
              <Details agent={activation} done={agent.reload} />
            </aside>
          </div>
        )}
      </Loaded>
    </Page>
  );
}

/** Says that an agent is on, but does nothing yet. */
function WaitsForServer({ activation: { webhookLastError: error } }: { readonly activation: Activation }) {
  return (
    <section class="card summary warn pause-note">
      <h2>Waits for its server</h2>
      <p class="soft">
        The agent works once its builder’s server has taken its key. That is tried again and again for a day; until then nothing happens.
      </p>
      {error !== null && error.clearedAt === null ? <LastError error={error} /> : null}
    </section>
  );
}

interface Part {
  readonly agent: Activation;
  readonly done: () => void;
}

function Actions({ agent: { id, agentName, status }, done }: Part) {
  const act = (verb: "pause" | "resume" | "deactivate", said: string) => async (): Promise<void> => {
    const { status: now } = await api.activations[verb](id);
    toast(verb === "resume" && now === "paused" ? "Still paused: another reason remains, which cannot be cleared here" : said);
    done();
  };
  return (
    <>
      {status !== "active" ? null : <ActionButton label="Pause" act={act("pause", "Paused")} />}
      {status === "paused" ? <ActionButton label="Resume" primary act={act("resume", "Resumed")} /> : null}
      <ConfirmButton label="Turn it off" question={`Turn ${agentName} off for good?`} danger act={act("deactivate", "Turned off")}>
        <p>Its key is revoked and its runs are cancelled. Turning it on again gives it a new key. To stop it for a while, pause it.</p>
      </ConfirmButton>
    </>
  );
}

function Details({ agent, done }: Part) {
  const { id, scopes, creditLimit, settingsSchema, status, webhookLastError: last } = agent;
  const limit = async (values: FormValues): Promise<void> => {
    const text = values.text("creditLimit");
    await api.activations.update(id, { creditLimit: text === "" ? null : Number(text) });
    toast("Saved");
    done();
  };
  const set =
    (schema: NonNullable<Activation["settingsSchema"]>) =>
    async (values: FormValues): Promise<void> => {
      await api.activations.update(id, { settings: readSettings(schema, values) });
      toast("Saved");
      done();
    };
  return (
    <>
      <section class="card">
        <h2>Details</h2>
        <Facts
          facts={[
            ["Credits", creditLimit === null ? "no limit of its own" : `at most ${formatCount(creditLimit)} a month`],
            ...Object.entries(agent.settings).map(([name, value]): [string, string] => [
              agent.settingsSchema?.properties[name]?.title ?? name,
              String(value),
            ]),
            ["On since", <Time key="created" at={agent.createdAt} exactly />],
            ["Paused", agent.pausedAt && <Time key="paused" at={agent.pausedAt} exactly />],
            ["Turned off", agent.deactivatedAt && <Time key="off" at={agent.deactivatedAt} exactly />],
            ["Why", agent.deactivationReason?.replaceAll("_", " ")],
            ["Key", <code key="key">{agent.keyPreview}</code>],
            ["Key received", agent.keyDeliveredAt === null ? "not yet" : <Time key="received" at={agent.keyDeliveredAt} exactly />],
            ["May use", <Granted key="scopes" scopes={scopes} />],
            ["Activation", <code key="id">{id}</code>],
          ]}
        />
        {status !== "deactivated" && may("marketplace:write") ? (
          <div class="buttons after">
            <FormButton label="Limit its credits" title="Limit its credits" submit="Save" act={limit}>
              <Field label="Credits a month, at most" hint="Empty for no limit of its own.">
                <input name="creditLimit" type="number" min={0} max={1_000_000_000} step={1} defaultValue={creditLimit?.toString() ?? ""} />
              </Field>
            </FormButton>
            {settingsSchema === null ? null : (
              <FormButton label="Settings" title="Settings" submit="Save" act={set(settingsSchema)}>
                <SettingFields schema={settingsSchema} values={agent.settings} />
              </FormButton>
            )}
          </div>
        ) : null}
      </section>
      {last !== null && last.clearedAt !== null ? (
        <section class="card">
          <h2>Its last failure, cleared</h2>
          <LastError error={last} />
        </section>
      ) : null}
    </>
  );
}

function Granted({ scopes }: Pick<Activation, "scopes">) {
  return (
    <details>
      <summary>{scopes.length === 1 ? "1 permission" : `${scopes.length} permissions`}</summary>
      {scopes.map((scope) => (
        <code key={scope} class="tag">
          {scope}
        </code>
      ))}
    </details>
  );
}

function Spent({ activationId }: { readonly activationId: string }) {
  const list = useList(
    (cursor, signal) => api.credits.list({ activationId, limit: 100, ...(cursor && { cursor }) }, { signal }),
    [activationId],
  );
  useRegularly(list.refresh);
  return (
    <div class="framed">
      <Ledger list={list} />
    </div>
  );
}
