/** @jsxImportSource preact */
import { useState } from "preact/hooks";
import { asRequestError } from "../api/request-error.ts";
import { toast } from "./toast.tsx";

interface Props {
  readonly label: string;
  readonly primary?: boolean;
  readonly disabled?: boolean;
  readonly act: () => Promise<void>;
}

/** A button that acts at once. What does not work is said for a few seconds. */
export function ActionButton({ label, primary = false, disabled = false, act }: Props) {
  const [busy, setBusy] = useState(false);
  const run = async (): Promise<void> => {
    setBusy(true);
    try {
      await act();
    } catch (cause) {
      const { message, hint } = asRequestError(cause);
      toast(hint === null ? message : `${message} ${hint}`, { bad: true });
    } finally {
      setBusy(false);
    }
  };
  return (
    <button type="button" class={primary ? "primary" : ""} disabled={busy || disabled} onClick={() => void run()}>
      {label}
    </button>
  );
}
