/** @jsxImportSource preact */
import { useEffect, useRef, useState } from "preact/hooks";
import { Loading } from "../empty.tsx";
import type { Editor, Problem } from "./code-mirror.ts";

interface Props {
  /** Label for screen readers. */
  readonly label: string;
  readonly text: string;
  /**
   * Edition of `text`: another number means that the text was replaced from outside. Typed text comes back in `text` too late to be put
   * in again.
   */
  readonly edition: number;
  readonly readOnly?: boolean;
  readonly problems: readonly Problem[];
  readonly change: (text: string) => void;
  /** A place to put the cursor at, each time there is another one. */
  readonly target?: { readonly line: number; readonly column: number } | null;
}

/** Editor of source text, with line numbers and problems at their lines. If it cannot be loaded, a plain field takes its place. */
export function CodeEditor({ label, text, edition, readOnly = false, problems, change, target = null }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | null>(null);
  const [state, setState] = useState<"loading" | "ready" | "failed">("loading");
  const latest = useRef({ text, change });
  latest.current = { text, change };
  useEffect(() => {
    let over = false;
    import("./code-mirror.ts").then(
      ({ openEditor }) => {
        if (over || !host.current) return;
        const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: "open" });
        editor.current = openEditor({ root, label, readOnly, text: latest.current.text, change: (next) => latest.current.change(next) });
        setState("ready");
      },
      () => over || setState("failed"),
    );
    return () => {
      over = true;
      editor.current?.close();
      editor.current = null;
    };
  }, [label, readOnly]);
  useEffect(() => editor.current?.setText(latest.current.text), [edition, state]);
  useEffect(() => editor.current?.setProblems(problems), [problems, state]);
  useEffect(() => {
    if (target !== null) editor.current?.goTo(target.line, target.column);
  }, [target, state]);
  if (state === "failed")
    return (
      <textarea
        class="code-editor"
        aria-label={label}
        readOnly={readOnly}
        spellcheck={false}
        value={text}
        onInput={({ currentTarget }) => change(currentTarget.value)}
      />
    );
  return (
    <div class="code-editor">
      {state === "loading" ? <Loading /> : null}
      <div ref={host} class="host" />
    </div>
  );
}
