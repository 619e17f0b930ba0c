/** @jsxImportSource preact */
import { toHref } from "../router.tsx";
import { type Kind, kindOf } from "./objects.ts";
import { useResource } from "./resource.ts";

interface Props {
  readonly id: string;
  /** Its name, where that is known; else it is loaded. */
  readonly name?: string | undefined;
}

/** Link to an object, by its name. Shows the plain id if the object has no pages, or the person may not read it. */
export function ObjectLink({ id, name }: Props) {
  const kind = kindOf(id);
  if (kind === undefined) return <code>{id}</code>;
  return name === undefined ? <LoadedLink id={id} kind={kind} /> : <a href={toHref(`/${kind.page}/${id}`)}>{name}</a>;
}

function LoadedLink({ id, kind }: { readonly id: string; readonly kind: Kind }) {
  const { data, error } = useResource((signal) => kind.load(id, signal), [id]);
  if (error?.status === 404)
    return (
      <>
        deleted {kind.noun} <code>{id}</code>
      </>
    );
  return <a href={toHref(`/${kind.page}/${id}`)}>{data ?? id}</a>;
}
