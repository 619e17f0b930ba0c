/** @jsxImportSource preact */
import { toHref } from "../router.tsx";
import { isMissing, type Kind, kindOf, loadNamed, pathOf } from "./objects.ts";
import { useResource } from "./resource.ts";

interface Props {
  readonly id: string;
  /** Its name, where that is known; else it is loaded. */
  readonly name?: string | undefined;
  /** Id of the object that it belongs to: the agent of a run, the automation of an entry, the webhook of a delivery. */
  readonly of?: string | undefined;
}

/** Link to an object, by its name. Shows the plain id if the object has no pages, or the person may not read it. */
export function ObjectLink({ id, name, of }: Props) {
  const kind = kindOf(id, of);
  if (kind === undefined) return <code>{id}</code>;
  return name === undefined ? <LoadedLink id={id} kind={kind} of={of} /> : <a href={toHref(pathOf(kind, id))}>{name}</a>;
}

/** The name of an object, where a link would stand within another one. Shows the id if there is none to be read. */
export function ObjectName({ id }: { readonly id: string }) {
  const kind = kindOf(id);
  const { data } = useResource(async (signal) => (kind === undefined ? null : loadNamed(kind, id, signal)), [id]);
  return <>{data?.name ?? id}</>;
}

function LoadedLink({ id, kind, of }: { readonly id: string; readonly kind: Kind; readonly of: string | undefined }) {
  const { data, error } = useResource((signal) => loadNamed(kind, id, signal, of), [id, of]);
  if (error !== null && isMissing(error))
    return (
      <>
        deleted {kind.noun} <code>{id}</code>
      </>
    );
  if (data === null) return of === undefined ? <a href={toHref(pathOf(kind, id))}>{id}</a> : <code>{id}</code>;
  return <a href={toHref(data.path)}>{data.name}</a>;
}
