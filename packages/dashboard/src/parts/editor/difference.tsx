/** @jsxImportSource preact */
import { useEffect, useRef, useState } from "preact/hooks";
import { asRequestError, type RequestError } from "../../api/request-error.ts";
import { ErrorNote } from "../error-note.tsx";

interface Props {
  readonly label: string;
  readonly before: string;
  readonly after: string;
}

/** Line-by-line difference between a text and an earlier one. */
export function Difference({ label, before, after }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const [error, setError] = useState<RequestError | null>(null);
  useEffect(() => {
    let close: (() => void) | null = null;
    let over = false;
    import("./code-mirror.ts").then(
      ({ openDifference }) => {
        if (over || !host.current) return;
        const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: "open" });
        close = openDifference({ root, before, after, label });
      },
      (cause: unknown) => over || setError(asRequestError(cause)),
    );
    return () => {
      over = true;
      close?.();
    };
  }, [before, after, label]);
  if (error !== null) return <ErrorNote title="The difference could not be loaded" error={error} />;
  if (before === after) return <p class="soft">There is no difference.</p>;
  return (
    <div class="code-editor free">
      <div ref={host} class="host" />
    </div>
  );
}
