/** @jsxImportSource preact */
import type { AgentScope, Listing } from "@mailsvc/sdk/contract";
import { useState } from "preact/hooks";
import { ErrorNote } from "../error-note.tsx";
import { Field } from "../field.tsx";
import { findMessages, isShownAtFields } from "../field-messages.ts";
import { useSending } from "../sending.ts";
import { SCOPE_GRANTS } from "./scopes.ts";

export interface ListingFields extends Pick<Listing, "slug" | "name" | "description" | "webhookUrl"> {
  readonly permissions: AgentScope[];
}

interface Props {
  readonly initial: ListingFields;
  /** Whether the slug can still be chosen. */
  readonly isNew?: boolean;
  readonly label: string;
  /** Throws RequestError, whose details are shown at the fields they name. */
  readonly save: (fields: ListingFields) => Promise<void>;
}

/** What a listing says about its agent. The server checks the fields, and each message stands at its field. */
export function ListingForm({ initial, isNew = false, label, save }: Props) {
  const [fields, setFields] = useState(initial);
  const sending = useSending();
  const { busy, error } = sending;
  const set = (change: Partial<ListingFields>): void => setFields((before) => ({ ...before, ...change }));
  const wrong = (name: keyof ListingFields): string => findMessages(error, name);
  const send = () =>
    sending.send(async () => {
      await save(fields);
    });
  const text = (name: "slug" | "name" | "webhookUrl") => ({
    value: fields[name],
    "aria-invalid": wrong(name) !== "",
    onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => set({ [name]: currentTarget.value }),
  });
  return (
    <form
      class="form card"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {isNew ? (
        <Field label="Slug" hint="Identifies the agent in the catalog and in commands. It cannot be changed." error={wrong("slug")}>
          <input spellcheck={false} autocomplete="off" placeholder="launch-writer" {...text("slug")} />
        </Field>
      ) : null}
      <Field label="Name" error={wrong("name")}>
        <input {...text("name")} />
      </Field>
      <Field label="Description" hint="What the agent does, for brands." error={wrong("description")}>
        <textarea
          rows={5}
          value={fields.description}
          aria-invalid={wrong("description") !== ""}
          onInput={({ currentTarget }) => set({ description: currentTarget.value })}
        />
      </Field>
      <Field label="Webhook URL" hint="Receives the agent's events." error={wrong("webhookUrl")}>
        <input type="url" spellcheck={false} placeholder="https://agent.example.com/webhook" {...text("webhookUrl")} />
      </Field>
      <Scopes chosen={fields.permissions} choose={(permissions) => set({ permissions })} error={wrong("permissions")} isNew={isNew} />
      {error !== null && !isShownAtFields(error, NAMES) ? <ErrorNote error={error} /> : null}
      <div class="buttons">
        <button type="submit" class="primary" disabled={busy}>
          {label}
        </button>
      </div>
    </form>
  );
}

interface ScopesProps {
  readonly chosen: readonly AgentScope[];
  readonly choose: (scopes: AgentScope[]) => void;
  readonly error: string;
  readonly isNew: boolean;
}

const SCOPES = Object.keys(SCOPE_GRANTS) as AgentScope[];

function Scopes({ chosen, choose, error, isNew }: ScopesProps) {
  return (
    <fieldset class="scopes">
      <legend>Permissions the agent needs</legend>
      {SCOPES.map((scope) => (
        <label key={scope} class="check">
          <input
            type="checkbox"
            checked={chosen.includes(scope)}
            onChange={({ currentTarget: { checked } }) => choose(SCOPES.filter((one) => (one === scope ? checked : chosen.includes(one))))}
          />
          <span>
            {SCOPE_GRANTS[scope]} <code class="soft">{scope}</code>
          </span>
        </label>
      ))}
      {isNew ? null : <p class="hint soft">What you add, each brand is asked to accept. What you take away ends at once.</p>}
      {error === "" ? null : (
        <p class="hint wrong" role="alert">
          {error}
        </p>
      )}
    </fieldset>
  );
}

const NAMES: readonly (keyof ListingFields)[] = ["slug", "name", "description", "webhookUrl", "permissions"];
