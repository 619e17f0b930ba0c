/** @jsxImportSource preact */
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { after } from "../browser.ts";
import { go, toHref } from "../router.tsx";
import { findKind, isMissing, kindOf, loadNamed, NO_SUBJECT, OBJECT_ID, type ObjectPrefix, pathOf } from "./objects.ts";

// After the last letter.
const TYPING_MS = 200;

/** A page that can be gone to by its name. */
export interface NamedPage {
  readonly name: string;
  readonly path: string;
}

export interface FinderProps {
  /** The pages of the navigation that the person may see. */
  readonly pages: readonly NamedPage[];
  readonly close: () => void;
}

/** One line of what was found. */
interface Hit {
  readonly name: string;
  readonly detail?: string | undefined;
  /** Word for the kind of thing it is. */
  readonly noun: string;
  readonly path: string;
}

/** Dialog that finds pages by name, objects by name or id, and mail by subject or address. It is controlled from its text field. */
export default function Finder({ pages, close }: FinderProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const listId = useId();
  const [typed, setTyped] = useState("");
  const [chosen, setChosen] = useState(0);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const text = typed.trim();
  const { found, searching, failed } = useFound(text);
  const hits = [...findPages(pages, text), ...found, ...(searching || text === "" ? [] : findMore(text))];
  const at = Math.min(chosen, hits.length - 1);
  const optionId = (i: number): string => `${listId}-${i}`;
  const follow = (hit: Hit | undefined): void => {
    if (!hit) return;
    dialog.current?.close();
    go(hit.path);
  };
  const press = (event: KeyboardEvent): void => {
    const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };
    const step = steps[event.key];
    if (step !== undefined && hits.length > 0) setChosen((at + step + hits.length) % hits.length);
    else if (event.key === "Enter") follow(hits[at]);
    // A browser would empty the field first.
    else if (event.key === "Escape") dialog.current?.close();
    else return;
    event.preventDefault();
  };
  useEffect(() => document.getElementById(optionId(at))?.scrollIntoView({ block: "nearest" }), [at]);
  return (
    <dialog ref={dialog} class="finder" aria-label="Find" onClose={close}>
      <input
        type="search"
        // biome-ignore lint/a11y/noRedundantRoles: the browser has no list for it, only its type asks for one
        role="combobox"
        list={undefined}
        aria-label="Find pages, people, mail, campaigns and more"
        placeholder="Find a page, a person, a subject, an id…"
        aria-expanded={hits.length > 0}
        aria-controls={listId}
        aria-activedescendant={hits.length > 0 ? optionId(at) : undefined}
        aria-autocomplete="list"
        autocomplete="off"
        spellcheck={false}
        autofocus
        maxLength={200}
        value={typed}
        onInput={({ currentTarget }) => {
          setTyped(currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={press}
      />
      <div id={listId} role="listbox" aria-label="Found">
        {hits.map((hit, i) => (
          <a
            key={`${hit.path} ${hit.noun}`}
            id={optionId(i)}
            role="option"
            // The text field keeps the focus.
            tabIndex={-1}
            href={toHref(hit.path)}
            aria-selected={i === at}
            onClick={({ ctrlKey, metaKey }) => ctrlKey || metaKey || dialog.current?.close()}
            onMouseMove={() => i !== at && setChosen(i)}
          >
            <span class="name">{hit.name}</span>
            {hit.detail ? <span class="soft detail">{hit.detail}</span> : null}
            <span class="soft noun">{hit.noun}</span>
          </a>
        ))}
      </div>
      <p class="soft" role="status">
        {searching ? "Searching…" : describe(hits.length, failed)}
      </p>
    </dialog>
  );
}

function describe(count: number, failed: readonly string[]): string {
  const found = count === 0 ? "Nothing found." : count === 1 ? "1 result" : `${count} results`;
  return failed.length === 0 ? found : `${found} These could not be searched: ${failed.join(", ")}.`;
}

/** The pages whose name contains a text; all of them for none. */
function findPages(pages: readonly NamedPage[], text: string): Hit[] {
  const fits = ({ name }: NamedPage): boolean => name.toLowerCase().includes(text.toLowerCase());
  return pages.filter(fits).map(({ name, path }) => ({ name, noun: "page", path }));
}

/** Lists with more of what contains the text. */
function findMore(text: string): Hit[] {
  const query = encodeURIComponent(text);
  // Mail is found by a whole address or by the beginning of its subject.
  const mail = ADDRESS.test(text)
    ? { name: `All mail to ${text}`, path: `/activity?to=${query}` }
    : { name: `All mail with a subject that begins with “${text}”`, path: `/activity?subject=${query}` };
  return [
    ...(may("transactional:read") ? [{ ...mail, noun: "search" }] : []),
    ...(may("contacts:read") ? [{ name: `All contacts with “${text}”`, noun: "search", path: `/contacts?search=${query}` }] : []),
  ];
}

interface Search {
  readonly found: readonly Hit[];
  readonly searching: boolean;
  /** Plural words of the kinds that could not be searched. */
  readonly failed: readonly string[];
}

const NOTHING: Search = { found: [], searching: false, failed: [] };

/** Objects with a text in their name, or with a text as their id. Each kind is shown as soon as it has answered. */
function useFound(text: string): Search {
  const [state, setState] = useState(NOTHING);
  useEffect(() => {
    if (text === "") {
      setState(NOTHING);
      return;
    }
    setState((before) => ({ ...before, searching: true }));
    const over = new AbortController();
    const cancel = after(TYPING_MS, () => void search(text, over.signal, (now) => over.signal.aborted || setState(now)));
    return () => {
      cancel();
      over.abort();
    };
  }, [text]);
  return state;
}

/** An object that was found. */
interface Found {
  readonly id: string;
  readonly name: string;
  /** Text that tells it from others of this name. */
  readonly detail?: string | undefined;
}

type FindObjects = (text: string, signal: AbortSignal) => Promise<readonly Found[]>;

// Of each kind.
const FOUND = 5;

/** A whole address, as lists of mail are filtered by. */
const ADDRESS = /^[^\s@]+@[^\s@]+$/;

/** Searches by the kind of what they find, in the order in which it is shown. */
const SEARCHES: Readonly<Partial<Record<ObjectPrefix, FindObjects>>> = {
  con: async (search, signal) =>
    (await api.contacts.list({ search, limit: FOUND }, { signal })).data.map(({ id, email, firstName, lastName }) => ({
      id,
      name: email,
      detail: [firstName, lastName].filter(Boolean).join(" "),
    })),
  cmp: async (search, signal) =>
    (await api.campaigns.list({ search, limit: FOUND }, { signal })).data.map(({ id, name, subjectLine }) => ({
      id,
      name,
      detail: subjectLine === name ? undefined : subjectLine,
    })),
  aut: async (search, signal) => (await api.automations.list({ search, limit: FOUND }, { signal })).data.map(toFound),
  tpl: async (search, signal) =>
    (await api.templates.list({ search, limit: FOUND }, { signal })).data.map(({ id, name, slug }) => ({ id, name, detail: slug })),
  list: async (search, signal) => (await api.lists.list({ search, limit: FOUND }, { signal })).data.map(toFound),
  seg: async (search, signal) => (await api.segments.list({ search, limit: FOUND }, { signal })).data.map(toFound),
  // Few brands have more agents than a page holds.
  act: async (text, signal) => {
    const { data } = await api.activations.list({ limit: 100 }, { signal });
    const fits = data.filter(({ agentName }) => agentName.toLowerCase().includes(text.toLowerCase()));
    return fits.slice(0, FOUND).map(({ id, agentName }) => ({ id, name: agentName }));
  },
  // Last, since a campaign is a mail to each of its readers.
  em: async (text, signal) =>
    (await api.emails.list({ ...(ADDRESS.test(text) ? { to: text } : { subject: text }), limit: FOUND }, { signal })).data.map(
      ({ id, subject, to, status }) => ({ id, name: subject || NO_SUBJECT, detail: `${to}, ${status}` }),
    ),
};

function toFound({ id, name }: { readonly id: string; readonly name: string }): Found {
  return { id, name };
}

/** Searches for objects, and shows those of each kind as soon as it has answered. */
async function search(text: string, signal: AbortSignal, show: (state: Search) => void): Promise<void> {
  const kinds = new RegExp(`^(?:${OBJECT_ID.source})$`).test(text) ? findById(text, signal) : findByName(text, signal);
  const found: (readonly Hit[])[] = [];
  const failed: string[] = [];
  const state = (searching: boolean): Search => ({ found: found.flat(), searching, failed });
  await Promise.all(
    kinds.map(async ({ noun, hits }, i) => {
      try {
        found[i] = await hits;
      } catch {
        failed.push(`${noun}s`);
      }
      show(state(true));
    }),
  );
  show(state(false));
}

interface KindSearch {
  readonly noun: string;
  readonly hits: Promise<readonly Hit[]>;
}

function findByName(text: string, signal: AbortSignal): KindSearch[] {
  return Object.entries(SEARCHES).flatMap(([prefix, findObjects]) => {
    const kind = findKind(prefix);
    if (!kind) return [];
    const toHit = ({ id, ...rest }: Found): Hit => ({ ...rest, noun: kind.noun, path: pathOf(kind, id) });
    return [{ noun: kind.noun, hits: findObjects(text, signal).then((objects) => objects.map(toHit)) }];
  });
}

function findById(id: string, signal: AbortSignal): KindSearch[] {
  const kind = kindOf(id);
  if (!kind) return [];
  const hits = loadNamed(kind, id, signal).then(
    (named): Hit[] => [{ ...named, noun: kind.noun }],
    (cause: unknown) => (isMissing(cause) ? [] : Promise.reject(cause)),
  );
  return [{ noun: kind.noun, hits }];
}
