/** @jsxImportSource preact */

interface Props {
  /** What goes on, for readers who do not see the bar. */
  readonly label: string;
  /** From 0 to 1; null while it is not known how much there is. */
  readonly value: number | null;
  readonly text: string;
}

/** How far something is. */
export function Progress({ label, value, text }: Props) {
  return (
    <div class="progress">
      <progress aria-label={label} {...(value === null ? {} : { value, max: 1 })} />
      <span class="number">{text}</span>
    </div>
  );
}
