/** @jsxImportSource preact */
import { signal } from "@preact/signals";
import { after } from "../browser.ts";

const SHOWN_MS = 5000;

const shown = signal<{ readonly text: string; readonly bad: boolean } | null>(null);

/** Says something for a few seconds. `bad` for what did not work. */
export function toast(text: string, { bad = false }: { readonly bad?: boolean } = {}): void {
  const message = { text, bad };
  shown.value = message;
  after(SHOWN_MS, () => {
    if (shown.value === message) shown.value = null;
  });
}

export function Toast() {
  return (
    <div class="toast" role="status">
      {shown.value === null ? null : <p class={shown.value.bad ? "bad" : ""}>{shown.value.text}</p>}
    </div>
  );
}
