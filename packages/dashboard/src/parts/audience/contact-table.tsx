/** @jsxImportSource preact */
import type { Contact } from "@mailsvc/sdk/contract";
import { formatContactName } from "@mailsvc/sdk/contract/facts";
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { toHref } from "../../router.tsx";
import { Loading } from "../empty.tsx";
import { ErrorNote } from "../error-note.tsx";
import type { PageWindow } from "../page-window.ts";
import { formatMinimum } from "../plural.ts";
import { RowWindow } from "../row-window.tsx";
import { Status } from "../status.tsx";
import { Time } from "../time.tsx";
import type { Selection } from "./selection.ts";
import { STATUS_WORDS } from "./words.ts";

/** The height of a row in `style/table.css`, px. */
const ROW = 44;

interface Props {
  readonly list: PageWindow<Contact>;
  /** Key of the list: another key shows it from the start. */
  readonly name: string;
  /** Left out for those who may only read. */
  readonly selection?: Selection | undefined;
  readonly empty: ComponentChildren;
}

/** Any number of contacts, of which those in sight are loaded. */
export function ContactTable({ list, name, selection, empty }: Props) {
  const last = useRef<number | null>(null);
  const { length, counted, error } = list;
  if (length === null || counted === null)
    return error === null ? <Loading /> : <ErrorNote title="The list could not be loaded" error={error} retry={() => list.refresh()} />;
  if (length === 0) return <div class="table">{empty}</div>;
  const pick = (index: number, contact: Contact, shift: boolean): void => {
    const on = !selection?.has(contact);
    const from = shift && last.current !== null ? last.current : index;
    last.current = index;
    const range = Array.from({ length: Math.abs(index - from) + 1 }, (_, i) => list.at(Math.min(index, from) + i));
    selection?.set(
      range.filter((one) => one !== undefined),
      on,
    );
  };
  return (
    <div class="table contacts">
      <RowWindow
        key={name}
        count={length}
        height={ROW}
        seen={(first, end) => list.see(first, end)}
        role="table"
        label="Contacts"
        total={list.isMinimum ? null : length + 1}
        head={
          <div role="rowgroup" class="head">
            <div role="row" class="row" aria-rowindex={1}>
              {selection ? (
                <div role="columnheader" class="pick">
                  <span class="hidden">Chosen</span>
                </div>
              ) : null}
              <div role="columnheader" style={{ flex: "3 1 0" }}>
                Address
              </div>
              <div role="columnheader" class="middle" style={{ flex: "2 1 0" }}>
                Name
              </div>
              <div role="columnheader" class="wide" style={{ flex: "2 1 0" }}>
                Tags
              </div>
              <div role="columnheader" style={{ flex: "0 0 7rem" }}>
                Status
              </div>
              <div role="columnheader" class="wide" style={{ flex: "0 0 6.5rem" }}>
                Added
              </div>
            </div>
          </div>
        }
        row={(index) => <Row key={index} {...{ index, selection, pick }} contact={list.at(index)} />}
      />
      <p class="foot soft">
        {formatMinimum(counted, list.isMinimum)} in all
        {error === null ? "" : ` · ${error.message}`}
      </p>
    </div>
  );
}

interface RowProps {
  readonly index: number;
  /** Undefined while it is loaded. */
  readonly contact: Contact | undefined;
  readonly selection?: Selection | undefined;
  readonly pick: (index: number, contact: Contact, shift: boolean) => void;
}

function Row({ index, contact, selection, pick }: RowProps) {
  if (contact === undefined)
    return (
      <div role="row" class="row" aria-rowindex={index + 2}>
        <div role="cell" class="coming">
          <span class="hidden">Loading</span>
        </div>
      </div>
    );
  const { id, email, tags, status, createdAt } = contact;
  return (
    <div role="row" class="row" aria-rowindex={index + 2}>
      {selection ? (
        <div role="cell" class="pick">
          <input
            type="checkbox"
            aria-label={`Choose ${email}`}
            checked={selection.has(contact)}
            onClick={(event) => pick(index, contact, event.shiftKey)}
          />
        </div>
      ) : null}
      <div role="cell" style={{ flex: "3 1 0" }} title={email}>
        <a href={toHref(`/contacts/${id}`)}>{email}</a>
      </div>
      <div role="cell" class="middle" style={{ flex: "2 1 0" }}>
        {formatContactName(contact)}
      </div>
      <div role="cell" class="wide" style={{ flex: "2 1 0" }} title={tags.join(", ")}>
        {tags.map((tag) => (
          <span key={tag} class="tag">
            {tag}
          </span>
        ))}
      </div>
      <div role="cell" style={{ flex: "0 0 7rem" }}>
        <Status status={status} text={STATUS_WORDS[status]} />
      </div>
      <div role="cell" class="wide" style={{ flex: "0 0 6.5rem" }}>
        <Time at={createdAt} />
      </div>
    </div>
  );
}
