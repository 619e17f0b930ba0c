/** @jsxImportSource preact */
import { useActing } from "./sending.ts";

interface Props {
  readonly label: string;
  readonly primary?: boolean;
  readonly disabled?: boolean;
  readonly act: () => Promise<void>;
}

/** Button that acts at once. An error is shown for a few seconds. */
export function ActionButton({ label, primary = false, disabled = false, act }: Props) {
  const acting = useActing();
  return (
    <button type="button" class={primary ? "primary" : ""} disabled={acting.busy || disabled} onClick={() => void acting.act(act)}>
      {label}
    </button>
  );
}
