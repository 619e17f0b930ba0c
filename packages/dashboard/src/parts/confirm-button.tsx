/** @jsxImportSource preact */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { ErrorNote } from "./error-note.tsx";
import { Field } from "./field.tsx";
import { useSending } from "./sending.ts";

interface Props {
  /** The text of the button, and of the one that confirms. */
  readonly label: string;
  readonly question: string;
  /** Made anew each time the dialog opens, so that it loads what it says then. */
  readonly children?: ComponentChildren;
  readonly danger?: boolean;
  /** Text that the person has to type first, for what many lose. */
  readonly retype?: string;
  /** True for the main action of the page. */
  readonly primary?: boolean;
  readonly act: () => Promise<void>;
}

/** A button whose action is confirmed in a dialog first, which stays open when the action fails. */
export function ConfirmButton({ label, question, children, danger = false, primary = false, retype, act }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const { busy, error, send, forget } = useSending();
  const [typed, setTyped] = useState("");
  const [isOpen, setOpen] = useState(false);
  const open = (): void => {
    forget();
    setTyped("");
    setOpen(true);
  };
  useLayoutEffect(() => {
    if (isOpen) dialog.current?.showModal();
  }, [isOpen]);
  // A question is not to become that of another action while somebody reads it.
  useLayoutEffect(() => () => dialog.current?.close(), [label]);
  const confirm = async (): Promise<void> => {
    if (await send(act)) dialog.current?.close();
  };
  return (
    <>
      <button type="button" class={danger ? "danger" : primary ? "primary" : ""} onClick={open}>
        {label}
      </button>
      <dialog ref={dialog} aria-label={question} onClose={() => setOpen(false)}>
        <h2>{question}</h2>
        {isOpen ? children : null}
        {retype === undefined ? null : (
          <Field label={`Type ${retype} to go on`}>
            <input value={typed} autocomplete="off" onInput={({ currentTarget }) => setTyped(currentTarget.value)} />
          </Field>
        )}
        {error === null ? null : <ErrorNote error={error} />}
        <div class="buttons end">
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button
            type="button"
            class={danger ? "primary danger" : "primary"}
            disabled={busy || (retype !== undefined && typed.trim() !== retype)}
            onClick={confirm}
          >
            {label}
          </button>
        </div>
      </dialog>
    </>
  );
}
