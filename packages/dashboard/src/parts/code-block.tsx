/** @jsxImportSource preact */
import { toast } from "./toast.tsx";

interface Props {
  readonly code: string;
  /** Label for screen readers. */
  readonly label: string;
}

/** A text that can be copied, such as a command or the source of a mail. */
export function CodeBlock({ code, label }: Props) {
  const copy = async (): Promise<void> => {
    // Browsers have a clipboard only in pages that are safe to transmit.
    if (!navigator.clipboard) return toast("Select the text and copy it: this page is not served by https.");
    await navigator.clipboard.writeText(code);
    toast("Copied");
  };
  return (
    <div class="code-block">
      <pre tabIndex={0} role="region" aria-label={label}>
        <code>{code}</code>
      </pre>
      <button type="button" class="quiet" onClick={copy}>
        Copy
      </button>
    </div>
  );
}
