/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { ErrorNote } from "./error-note.tsx";
import { useSending } from "./sending.ts";

interface Props {
  /** The text of the button that opens the dialog. */
  readonly label: string;
  readonly title: string;
  /** The text of the button that sends the form; the label unless said. */
  readonly submit?: string;
  readonly primary?: boolean;
  /**
   * The fields: elements with a name. They are made anew each time the dialog is opened. What they begin with is a `defaultValue`: a `value`
   * would be put back over what is typed each time the page around them is drawn.
   */
  readonly children: ComponentChildren;
  /** Called with the values of the fields by their names. The dialog stays open when it throws. */
  readonly act: (values: FormValues) => Promise<void>;
}

/** Values of a submitted form. */
export class FormValues {
  readonly #data: FormData;
  readonly #before: FormData;

  /** `before` has the values that the fields began with. */
  constructor(data: FormData, before = new FormData()) {
    this.#data = data;
    this.#before = before;
  }

  /** A field as text without spaces around it; empty when it is not filled in. */
  text(name: string): string {
    const value = this.#data.get(name);
    return typeof value === "string" ? value.trim() : "";
  }

  /** The file that a field holds. Throws Error without one. */
  file(name: string): File {
    const value = this.#data.get(name);
    if (value instanceof File && value.size > 0) return value;
    throw new Error("Choose a file that is not empty.");
  }

  /** All values of a field, such as those of a group of checkboxes. */
  all(name: string): string[] {
    return this.#data.getAll(name).filter((value) => typeof value === "string");
  }

  /** True if a checkbox is checked. */
  has(name: string): boolean {
    return this.#data.has(name);
  }

  /** Returns what the person has changed in a body that is read from the fields. What a colleague has changed meanwhile then stays. */
  changes<Body extends object>(read: (values: FormValues) => Body): Partial<Body> {
    const before = new Map(Object.entries(read(new FormValues(this.#before))));
    const changed = Object.entries(read(this)).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before.get(name)));
    return Object.fromEntries(changed) as Partial<Body>;
  }

  /** Returns the fields that are filled in, as the body of a call. */
  filled<Name extends string>(...names: readonly Name[]): Partial<Record<Name, string>> {
    return Object.fromEntries(names.map((name) => [name, this.text(name)]).filter(([, value]) => value !== "")) as Partial<
      Record<Name, string>
    >;
  }
}

/** A button that opens a dialog with a form. */
export function FormButton({ label, title, submit = label, primary = false, children, act }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const form = useRef<HTMLFormElement>(null);
  const begun = useRef(new FormData());
  const [opened, setOpened] = useState(0);
  const { busy, error, send, forget } = useSending();
  const open = (): void => {
    forget();
    setOpened((n) => n + 1);
  };
  // Once the new fields are there: the first one gets the focus.
  useLayoutEffect(() => {
    if (opened === 0 || form.current === null) return;
    begun.current = new FormData(form.current);
    dialog.current?.showModal();
  }, [opened]);
  const submitForm = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (form.current === null) return;
    const values = new FormValues(new FormData(form.current), begun.current);
    if (await send(() => act(values))) dialog.current?.close();
  };
  return (
    <>
      <button type="button" class={primary ? "primary" : ""} onClick={open}>
        {label}
      </button>
      <dialog ref={dialog} aria-label={title}>
        <h2>{title}</h2>
        <form ref={form} key={opened} class="form" onSubmit={(event) => void submitForm(event)}>
          {opened === 0 ? null : children}
          {error === null ? null : <ErrorNote error={error} />}
          <div class="buttons end">
            <button type="button" onClick={() => dialog.current?.close()}>
              Cancel
            </button>
            <button type="submit" class="primary" disabled={busy}>
              {submit}
            </button>
          </div>
        </form>
      </dialog>
    </>
  );
}
