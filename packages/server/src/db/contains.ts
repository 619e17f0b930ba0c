import type { SQL, SQLWrapper } from "drizzle-orm";
import type { Words } from "./search-index.ts";

/** True for texts that hold `part`, whatever the case, in all scripts; no character of it has a meaning of its own. */
export function contains(words: Words, text: SQLWrapper, part: string): SQL {
  return words.holds(words.fold(text), words.fold(words.text(part)));
}
