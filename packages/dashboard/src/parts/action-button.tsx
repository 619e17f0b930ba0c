/** @jsxImportSource preact */
import { useActing } from "./sending.ts";

interface Props {
  readonly label: string;
  readonly primary?: boolean;
  readonly disabled?: boolean;
  readonly act: () => Promise<void>;
}

/** A button that acts at once. What does not work is said for a few seconds. */
export function ActionButton({ label, primary = false, disabled = false, act }: Props) {
  const acting = useActing();
  return (
    <button type="button" class={primary ? "primary" : ""} disabled={acting.busy || disabled} onClick={() => void acting.act(act)}>
      {label}
    </button>
  );
}
