/** @jsxImportSource preact */
import type { AgentScope, Listing } from "@mailsvc/sdk/contract";
import { useState } from "preact/hooks";
import { toHref } from "../../router.tsx";
import { ErrorNote } from "../error-note.tsx";
import { Field } from "../field.tsx";
import { findMessages, isShownAtFields } from "../field-messages.ts";
import { useSending } from "../sending.ts";
import { SCOPE_GRANTS } from "./scopes.ts";

export interface ListingFields extends Pick<Listing, "slug" | "name" | "description" | "webhookUrl" | "settingsSchema"> {
  readonly permissions: AgentScope[];
  readonly installRedirects: string[];
}

interface Props {
  readonly initial: ListingFields;
  /** True if the slug can still be chosen. */
  readonly isNew?: boolean;
  readonly label: string;
  /** Throws RequestError, whose details are shown at the fields they name. */
  readonly save: (fields: ListingFields) => Promise<void>;
}

/** Form for a listing. The server checks the fields, and each message stands at its field. */
export function ListingForm({ initial, isNew = false, label, save }: Props) {
  const [fields, setFields] = useState(initial);
  const [redirects, setRedirects] = useState(initial.installRedirects.join("\n"));
  const [schema, setSchema] = useState(initial.settingsSchema === null ? "" : JSON.stringify(initial.settingsSchema, null, 2));
  const [noJson, setNoJson] = useState("");
  const sending = useSending();
  const { busy, error } = sending;
  const set = (change: Partial<ListingFields>): void => setFields((before) => ({ ...before, ...change }));
  const wrong = (name: keyof ListingFields): string => findMessages(error, name);
  const send = async (): Promise<void> => {
    const settingsSchema = readSchema(schema);
    setNoJson(settingsSchema instanceof Error ? `This is not JSON: ${settingsSchema.message}` : "");
    if (settingsSchema instanceof Error) return;
    await sending.send(() =>
      save({ ...fields, settingsSchema, installRedirects: redirects.split("\n").flatMap((line) => line.trim() || []) }),
    );
  };
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
      <Area
        label="Settings"
        hint='What each brand fills in: JSON such as {"type": "object", "properties": {"language": {"type": "string", "enum": ["en", "de"]}}}. Empty for nothing.'
        error={noJson || wrong("settingsSchema")}
        value={schema}
        change={setSchema}
      />
      <Area
        label="Addresses that install links may lead back to"
        hint={`One in each line. Your link: ${location.origin}${toHref(`/install/${fields.slug || "SLUG"}`)}?state=STATE&redirect=ADDRESS`}
        error={wrong("installRedirects")}
        value={redirects}
        change={setRedirects}
      />
      {error !== null && !isShownAtFields(error, NAMES) ? <ErrorNote error={error} /> : null}
      <div class="buttons">
        <button type="submit" class="primary" disabled={busy}>
          {label}
        </button>
      </div>
    </form>
  );
}

interface AreaProps {
  readonly label: string;
  readonly hint: string;
  readonly error: string;
  readonly value: string;
  readonly change: (text: string) => void;
}

/** A field for several lines that a program reads. */
function Area({ label, hint, error, value, change }: AreaProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      <textarea
        class="code"
        rows={Math.min(16, Math.max(2, value.split("\n").length))}
        spellcheck={false}
        value={value}
        aria-invalid={error !== ""}
        onInput={({ currentTarget }) => change(currentTarget.value)}
      />
    </Field>
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

/** The settings as a person has written them; null for an empty text, an error for one that is not JSON. */
function readSchema(text: string): Listing["settingsSchema"] | Error {
  if (text.trim() === "") return null;
  try {
    return JSON.parse(text) as Listing["settingsSchema"];
  } catch (error) {
    return error as Error;
  }
}

const NAMES: readonly (keyof ListingFields)[] = [
  "slug",
  "name",
  "description",
  "webhookUrl",
  "permissions",
  "settingsSchema",
  "installRedirects",
];
