import type { Contact } from "@mailsvc/sdk/contract";
import { useState } from "preact/hooks";

/** Chosen contacts of a list: some, or all that match its filters. */
export interface Selection {
  readonly all: boolean;
  readonly chosen: ReadonlyMap<string, Contact>;
  has(contact: Contact): boolean;
  set(contacts: readonly Contact[], on: boolean): void;
  chooseAll(): void;
  clear(): void;
}

interface State {
  readonly key: string;
  readonly all: boolean;
  readonly chosen: ReadonlyMap<string, Contact>;
}

/** The choice of a person in a list. It ends when `key` changes: those who are not in sight any more are not chosen. */
export function useSelection(key: string): Selection {
  const nothing: State = { key, all: false, chosen: new Map() };
  const [state, setState] = useState(nothing);
  const { all, chosen } = state.key === key ? state : nothing;
  return {
    all,
    chosen,
    has: ({ id }) => all || chosen.has(id),
    set: (contacts, on) => {
      const next = new Map(chosen);
      for (const contact of contacts)
        if (on) next.set(contact.id, contact);
        else next.delete(contact.id);
      setState({ key, all: false, chosen: next });
    },
    chooseAll: () => setState({ key, all: true, chosen }),
    clear: () => setState(nothing),
  };
}
