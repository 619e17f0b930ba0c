/** @jsxImportSource preact */
import { toneOf } from "@mailsvc/sdk/contract/tones";

// States whose names in the API say little to people.
const WORDS: Readonly<Record<string, string>> = { dead: "given up", superseded: "replaced" };

/** The word for a state. */
export function sayStatus(status: string): string {
  const word = status.toLowerCase();
  return WORDS[word] ?? word.replaceAll("_", " ");
}

/** A state, as a word with a color. See \`parts/states.tsx\` for objects whose state is more than one field. */
export function Status({ status, text = sayStatus(status) }: { readonly status: string; readonly text?: string }) {
  return <span class={`status ${toneOf(status)}`}>{text}</span>;
}
