/** @jsxImportSource preact */
import { useState } from "preact/hooks";
import { Difference } from "./editor/difference.tsx";
import { Time } from "./time.tsx";

/** A field that two people have changed. */
export interface Differing {
  readonly name: string;
  readonly theirs: string;
  readonly mine: string;
}

interface Props {
  /** Field or object that both people changed, such as "template". */
  readonly what: string;
  /** Time of the other person's change. */
  readonly at: string;
  readonly differing: readonly Differing[];
  readonly takeTheirs: () => void;
  readonly keepMine: () => void;
}

// A shorter text is shown as it is; the words that differ in a longer one are looked for.
const SHORT = 60;

/** Somebody else has stored another version meanwhile: the person sees the difference and decides. */
export function Conflict({ what, at, differing, takeTheirs, keepMine }: Props) {
  const [open, setOpen] = useState(false);
  return (
    <section class="note warn" role="alert" aria-label="Changed by somebody else">
      <strong>
        Somebody else changed this {what} <Time at={at} />.
      </strong>
      <p>
        Your changes are kept.{" "}
        {differing.length === 0 ? "Both say the same." : `They differ in: ${differing.map(({ name }) => name).join(", ")}.`}
      </p>
      <div class="buttons">
        <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? "Hide the difference" : "Show the difference"}
        </button>
        <button type="button" onClick={takeTheirs}>
          Take theirs
        </button>
        <button type="button" onClick={keepMine}>
          Keep mine
        </button>
      </div>
      {open ? (
        <div class="differences">
          {differing.map((one) => (
            <Differs key={one.name} {...one} />
          ))}
        </div>
      ) : null}
    </section>
  );
}

function Differs({ name, theirs, mine }: Differing) {
  const isShort = [theirs, mine].every((text) => text.length <= SHORT && !text.includes("\n"));
  if (!isShort) return <Difference label={`Difference of the ${name}, from theirs to yours`} before={theirs} after={mine} />;
  return (
    <p>
      <strong>{name}</strong>: theirs {quote(theirs)}, yours {quote(mine)}
    </p>
  );
}

function quote(text: string): string {
  return text === "" ? "is empty" : `“${text}”`;
}
