/** @jsxImportSource preact */
import type { AuditChange, AuditEntry } from "@mailsvc/sdk/contract";
import { useState } from "preact/hooks";
import { toHref } from "../../router.tsx";
import { ObjectLink } from "../object-link.tsx";
import { kindOf } from "../objects.ts";
import { Time } from "../time.tsx";
import { nameActor, sayChange, sayField, sayValue } from "./words.ts";

interface Props {
  readonly entry: AuditEntry;
  /** True on the page of the object, which needs no link to it. */
  readonly own?: boolean;
}

/** One change: who made it, when, and its fields before and after it. */
export function ChangeItem({ entry, own = false }: Props) {
  const { at, changes } = entry;
  const { before, after, noun } = sayChange(entry);
  return (
    <li class="change">
      <div class="what">
        <span>
          <strong>
            <Actor entry={entry} />
          </strong>{" "}
          {before}
          {noun === null ? null : own ? "it" : <ObjectOf entry={entry} one={noun.one} page={noun.page} />}
          {after}
        </span>
        <Time at={at} />
      </div>
      {changes.length === 0 ? null : <Fields changes={changes} />}
    </li>
  );
}

function Actor({ entry }: { readonly entry: AuditEntry }) {
  const { kind, id, name } = entry.actor;
  if (kind !== "agent" && kind !== "key") return <>{nameActor(entry)}</>;
  if (id === null || kindOf(id) === undefined) return <>{nameActor(entry)}</>;
  return (
    <>
      {kind === "key" ? "Key " : ""}
      <ObjectLink id={id} name={name ?? undefined} />
    </>
  );
}

function ObjectOf({ entry, one, page }: { readonly entry: AuditEntry; readonly one: string; readonly page: string | undefined }) {
  const { object, name, action } = entry;
  if (page !== undefined)
    return (
      <>
        {page.includes(":id") ? `${one} ` : null}
        <a href={toHref(page.replace(":id", encodeURIComponent(object ?? "")))}>{page.includes(":id") ? (name ?? object) : one}</a>
        {!page.includes(":id") && name !== null && name !== object ? ` ${name}` : null}
      </>
    );
  const isGone = action.endsWith(".delete") || action.endsWith(".remove");
  return (
    <>
      {one}
      {object === null && name === null ? null : " "}
      {object === null || isGone || (name !== null && kindOf(object) === undefined) ? (
        (name ?? object)
      ) : (
        <ObjectLink id={object} name={name ?? undefined} />
      )}
    </>
  );
}

function Fields({ changes }: { readonly changes: readonly AuditChange[] }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{changes.map(({ field }) => sayField(field)).join(", ")}</summary>
      {isOpen ? <Comparison changes={changes} /> : null}
    </details>
  );
}

/** The fields before and after a change. Objects in them are loaded, for their names. */
function Comparison({ changes }: { readonly changes: readonly AuditChange[] }) {
  return (
    <table class="changes">
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">Before</th>
          <th scope="col">After</th>
        </tr>
      </thead>
      <tbody>
        {changes.map(({ field, before, after }) => (
          <tr key={field}>
            <th scope="row">{sayField(field)}</th>
            <td>{showValue(field, before)}</td>
            <td>{showValue(field, after)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function showValue(field: string, value: unknown) {
  return field.endsWith("Id") && typeof value === "string" ? <ObjectLink id={value} /> : sayValue(value);
}
