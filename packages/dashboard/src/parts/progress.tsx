/** @jsxImportSource preact */

interface Props {
  /** Label for screen readers. */
  readonly label: string;
  /** Progress from 0 to 1; null while the total is unknown. */
  readonly value: number | null;
  readonly text: string;
}

/** Progress bar with a text. */
export function Progress({ label, value, text }: Props) {
  return (
    <div class="progress">
      <progress aria-label={label} {...(value === null ? {} : { value, max: 1 })} />
      <span class="number">{text}</span>
    </div>
  );
}
