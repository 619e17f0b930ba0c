/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";

interface Props {
  readonly label: string;
  /** What it says while nothing is chosen. */
  readonly placeholder: string;
  /** The options, which have values. */
  readonly children: ComponentChildren;
  readonly add: (value: string) => void;
}

/**
 * A choice of which each option can be added. One that is clicked is added at once. A closed select changes with each arrow key that is
 * pressed in it: what is reached so is only proposed, and added by Enter or the button beside it.
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
