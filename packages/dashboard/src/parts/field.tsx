/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";

interface Props {
  readonly label: string;
  /** Hint: what to enter, and why. */
  readonly hint?: ComponentChildren;
  /** Message about an invalid value. */
  readonly error?: string | undefined;
  readonly children: ComponentChildren;
}

/** A field of a form: its label, the element to fill in, and a hint. */
export function Field({ label, hint, error, children }: Props) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: The element to fill in is among the children.
    <label class="field">
      {label}
      {children}
      {hint ? <span class="hint soft">{hint}</span> : null}
      {error ? (
        <span class="hint wrong" role="alert">
          {error}
        </span>
      ) : null}
    </label>
  );
}
