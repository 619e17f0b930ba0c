/** @jsxImportSource preact */

interface Props {
  readonly value: string;
  readonly change: (value: string) => void;
}

/** The comment that an answer to an agent may have. */
export function CommentField({ value, change }: Props) {
  return (
    <label>
      <span class="hidden">Comment for the agent</span>
      <input
        placeholder="Comment for the agent (optional)"
        maxLength={2000}
        value={value}
        onInput={({ currentTarget }) => change(currentTarget.value)}
      />
    </label>
  );
}
