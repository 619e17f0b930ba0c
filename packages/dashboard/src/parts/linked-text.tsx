/** @jsxImportSource preact */
import { toHref } from "../router.tsx";

/** The pages of objects, by the prefixes of their ids. */
const PAGES: Readonly<Record<string, string>> = { em: "activity", con: "contacts", list: "lists", seg: "segments", evt: "events" };

const ID = /\b(em|con|list|seg|evt)_[0-9a-z]{26}\b/g;

interface Props {
  readonly text: string;
  /** Names of objects by their ids. */
  readonly names?: ReadonlyMap<string, string>;
}

/** A text in which the ids of objects lead to their pages, by their names where these are known. */
export function LinkedText({ text, names }: Props) {
  const parts = [];
  let from = 0;
  for (const { 0: id, 1: prefix = "", index } of text.matchAll(ID)) {
    parts.push(
      text.slice(from, index),
      <a key={index} href={toHref(`/${PAGES[prefix]}/${id}`)}>
        {names?.get(id) ?? id}
      </a>,
    );
    from = index + id.length;
  }
  return <>{[...parts, text.slice(from)]}</>;
}
