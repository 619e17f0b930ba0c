/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { ErrorNote } from "./error-note.tsx";
import { useSending } from "./sending.ts";

interface Props {
  /** The text of the button, and of the one that confirms. */
  readonly label: string;
  readonly question: string;
  readonly children?: ComponentChildren;
  readonly danger?: boolean;
  /** True for the main action of the page. */
  readonly primary?: boolean;
  /** Called when the dialog opens, such as to load what it says. */
  readonly opened?: () => void;
  readonly act: () => Promise<void>;
}

/** A button whose action is confirmed in a dialog first, which stays open when the action fails. */
export function ConfirmButton({ label, question, children, danger = false, primary = false, opened, act }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const { busy, error, send, forget } = useSending();
  const open = (): void => {
    forget();
    opened?.();
    dialog.current?.showModal();
  };
  const confirm = async (): Promise<void> => {
    if (await send(act)) dialog.current?.close();
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
