/** @jsxImportSource preact */
import type { CatalogAgent } from "@mailsvc/sdk/contract";
import { useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import { may, session } from "../../api/session.ts";
import { toHref } from "../../router.tsx";
import { ErrorNote } from "../error-note.tsx";
import { Field } from "../field.tsx";
import { FormValues } from "../form-button.tsx";
import { useSending } from "../sending.ts";
import { toast } from "../toast.tsx";
import { readSettings, SettingFields } from "./setting-fields.tsx";

/** The permissions in words, and the button that grants it. */
export function Consent({ agent, done }: { readonly agent: CatalogAgent; readonly done: (activationId: string) => void }) {
  const [agreed, setAgreed] = useState(false);
  const [limit, setLimit] = useState("");
  const sending = useSending();
  const { busy, error } = sending;
  const spends = agent.permissions.some(({ scope }) => scope === "agent:consume_credits");
  const { settingsSchema } = agent;
  const turnOn = (form: FormValues) =>
    sending.send(async () => {
      const { id } = await api.activations.create({
        agentSlug: agent.slug,
        acceptedPermissions: agent.permissions.map(({ scope }) => scope),
        ...(limit !== "" && { creditLimit: Number(limit) }),
        ...(settingsSchema !== null && { settings: readSettings(settingsSchema, form) }),
      });
      toast(`${agent.name} is on`);
      done(id);
    });
  return (
    <section class="card">
      <h2>What it may do</h2>
      <ul class="grants">
        {agent.permissions.map(({ scope, grants }) => (
          <li key={scope}>
            <span>{grants}</span>
            <code class="soft">{scope}</code>
          </li>
        ))}
      </ul>
      <p class="soft">Nothing else: it never sees your contacts, emails or campaigns.</p>
      {agent.activationId !== null ? (
        <p>
          It is on. <a href={toHref(`/agents/${agent.activationId}`)}>Open it</a>
        </p>
      ) : may("marketplace:write") ? (
        <form
          class="form consent"
          onSubmit={(event) => {
            event.preventDefault();
            void turnOn(new FormValues(new FormData(event.currentTarget)));
          }}
        >
          {spends ? (
            <Field label="Credits a month, at most" hint="Empty for no limit of its own.">
              <input
                type="number"
                min={0}
                step={1}
                inputMode="numeric"
                value={limit}
                onInput={({ currentTarget }) => setLimit(currentTarget.value)}
              />
            </Field>
          ) : null}
          {settingsSchema === null ? null : <SettingFields schema={settingsSchema} values={{}} />}
          <label class="check">
            <input type="checkbox" required checked={agreed} onChange={({ currentTarget }) => setAgreed(currentTarget.checked)} />
            <span>
              I let {agent.name} do this in {session.value?.workspace.name}
            </span>
          </label>
          {error === null ? null : <ErrorNote error={error} />}
          <div class="buttons">
            <button type="submit" class="primary" disabled={busy || !agreed}>
              Turn it on
            </button>
          </div>
        </form>
      ) : (
        <p class="soft">Your role may not turn agents on.</p>
      )}
    </section>
  );
}
