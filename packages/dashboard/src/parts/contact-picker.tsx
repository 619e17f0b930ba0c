/** @jsxImportSource preact */
import { useId, useRef, useState } from "preact/hooks";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { after } from "../browser.ts";
import { useResource } from "./resource.ts";

// After the last letter.
const TYPING_MS = 250;
const SUGGESTIONS = 10;
const ADDRESS = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

interface Props {
  readonly label: string;
  readonly hint?: string;
  /** Called with an address that was chosen or typed; empty when it was removed. */
  readonly choose: (email: string) => void;
}

/** A contact, by address or name: those that fit what is typed are suggested. */
export function ContactPicker({ label, hint, choose }: Props) {
  const id = useId();
  const [typed, setTyped] = useState("");
  const cancel = useRef<(() => void) | null>(null);
  const [search, setSearch] = useState("");
  const { data } = useResource(
    async (signal) => {
      if (!may("contacts:read")) return [];
      return (await api.contacts.list({ limit: SUGGESTIONS, ...(search !== "" && { search }) }, { signal })).data;
    },
    [search],
  );
  const type = (text: string): void => {
    setTyped(text);
    cancel.current?.();
    const value = text.trim();
    if (value === "" || data?.some(({ email }) => email === value)) choose(value);
    cancel.current = after(TYPING_MS, () => {
      setSearch(value);
      if (ADDRESS.test(value)) choose(value);
    });
  };
  return (
    <label class="contact-picker">
      <span class="hidden">{label}</span>
      <input
        type="search"
        list={id}
        placeholder={hint ?? label}
        value={typed}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => type(currentTarget.value)}
        onChange={({ currentTarget }) => choose(currentTarget.value.trim())}
      />
      <datalist id={id}>
        {(data ?? []).map((contact) => (
          <option key={contact.id} value={contact.email}>
            {[contact.firstName, contact.lastName].filter(Boolean).join(" ") || contact.email}
          </option>
        ))}
      </datalist>
    </label>
  );
}
