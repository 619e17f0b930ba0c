/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";

interface Props {
  readonly label: string;
  /** Text shown while nothing is chosen. */
  readonly placeholder: string;
  /** The options, which have values. */
  readonly children: ComponentChildren;
  readonly add: (value: string) => void;
}

/**
 * A select whose options are added to a list. A click adds an option at once. Arrow keys change a closed select with each press, so an
 * option chosen by them is only proposed, until the person presses Enter or the button next to the select.
 */
export function AddChoice({ label, placeholder, children, add }: Props) {
  const [proposed, setProposed] = useState("");
  const key = useRef<string | null>(null);
  const take = (value: string): void => {
    key.current = null;
    setProposed("");
    if (value !== "") add(value);
  };
  return (
    <div class="add-choice">
      <select
        aria-label={label}
        value={proposed}
        onPointerDown={() => {
          key.current = null;
        }}
        onKeyDown={(event) => {
          key.current = event.key;
          if (event.key !== "Enter" || proposed === "") return;
          event.preventDefault();
          take(proposed);
        }}
        onChange={({ currentTarget }) => {
          const { value } = currentTarget;
          if (key.current !== null && key.current !== "Enter") return setProposed(value);
          currentTarget.value = "";
          take(value);
        }}
      >
        <option value="">{placeholder}</option>
        {children}
      </select>
      {proposed === "" ? null : (
        <button type="button" onClick={() => take(proposed)}>
          Add
        </button>
      )}
    </div>
  );
}
