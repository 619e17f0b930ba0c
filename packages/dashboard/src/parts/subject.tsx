/** @jsxImportSource preact */
import { splitVariables } from "./subject-parts.ts";

/** A subject as its author wrote it. Its variables look like code, so that a reader does not take them for a mistake. */
export function Subject({ text }: { readonly text: string }) {
  return (
    <>
      {splitVariables(text).map((part, i) =>
        // The parts are words and variables in turns.
        i % 2 === 0 ? (
          part
        ) : (
          <code key={`${i} ${part}`} class="variable">
            {part}
          </code>
        ),
      )}
    </>
  );
}
