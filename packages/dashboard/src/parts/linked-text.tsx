/** @jsxImportSource preact */
import { ObjectLink } from "./object-link.tsx";
import { OBJECT_ID } from "./objects.ts";

interface Props {
  readonly text: string;
  /** Names of objects by their ids. */
  readonly names?: ReadonlyMap<string, string>;
  /** The object whose page this is, which needs no link. */
  readonly own?: { readonly id: string; readonly words: string };
}

/** A text in which the ids of objects lead to their pages, by their names. */
export function LinkedText({ text, names, own }: Props) {
  const parts = [];
  let from = 0;
  for (const { 0: id, index } of text.matchAll(OBJECT_ID)) {
    parts.push(text.slice(from, index), id === own?.id ? own.words : <ObjectLink key={index} id={id} name={names?.get(id)} />);
    from = index + id.length;
  }
  return <>{[...parts, text.slice(from)]}</>;
}
