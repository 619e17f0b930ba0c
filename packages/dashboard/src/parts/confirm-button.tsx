/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { asRequestError, type RequestError } from "../api/request-error.ts";
import { ErrorNote } from "./error-note.tsx";

interface Props {
  /** The text of the button, and of the one that confirms. */
  readonly label: string;
  readonly question: string;
  readonly children?: ComponentChildren;
  readonly danger?: boolean;
  /** What the page is for. */
  readonly primary?: boolean;
  readonly act: () => Promise<void>;
}

/** A button whose action is confirmed in a dialog first, which stays open when the action fails. */
export function ConfirmButton({ label, question, children, danger = false, primary = false, act }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [error, setError] = useState<RequestError | null>(null);
  const [busy, setBusy] = useState(false);
  const open = (): void => {
    setError(null);
    dialog.current?.showModal();
  };
  const confirm = async (): Promise<void> => {
    setBusy(true);
    try {
      await act();
      dialog.current?.close();
    } catch (cause) {
      setError(asRequestError(cause));
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <button type="button" class={danger ? "danger" : primary ? "primary" : ""} onClick={open}>
        {label}
      </button>
      <dialog ref={dialog} aria-label={question}>
        <h2>{question}</h2>
        {children}
        {error === null ? null : <ErrorNote error={error} />}
        <div class="buttons end">
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button type="button" class={danger ? "primary danger" : "primary"} disabled={busy} onClick={confirm}>
            {label}
          </button>
        </div>
      </dialog>
    </>
  );
}
