import type { TemplateDetail } from "@mailsvc/sdk/contract";
import { useEffect, useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import { asRequestError } from "../../api/request-error.ts";
import { after } from "../../browser.ts";
import { useServerReturn } from "../resource.ts";
import type { Draft } from "./draft.ts";

type Rendered = Awaited<ReturnType<typeof api.templates.render>>;

/** Something that the template engine or lint objects to. */
export interface Fault {
  readonly severity: "error" | "warning";
  /** The field: subject, html, text, or that of a part, such as `footer.html`. */
  readonly part: string;
  /** Line, from 1; null when it is about the whole field. */
  readonly line: number | null;
  readonly column: number | null;
  readonly message: string;
  readonly fix?: string;
  /** The rule of lint. */
  readonly rule?: string;
}

/** Rendered draft. */
export interface Rendering {
  /** The last one that worked; null before the first. */
  readonly rendered: Rendered | null;
  /** Faults that prevent rendering. */
  readonly faults: readonly Fault[];
}

// After the last letter. Rendering takes a few milliseconds.
const TYPING_MS = 250;

/** Renders a draft as a send would, shortly after each change. */
export function useRendering({ type, kind }: TemplateDetail, draft: Draft, samples: Record<string, unknown>): Rendering {
  const [state, setState] = useState<Rendering>({ rendered: null, faults: [] });
  const { subject, html, text, blocks, layout, variables } = draft;
  const [again, setAgain] = useState(0);
  useServerReturn(() => setAgain((n) => n + 1));
  const source = kind === "BLOCKS" ? { blocks: blocks ?? [] } : { html, layout };
  const input = JSON.stringify({ type, subject, text, ...source, declare: variables, variables: samples });
  useEffect(() => {
    if (kind === "JSON_BLOCKS") return;
    const over = new AbortController();
    const cancel = after(TYPING_MS, () => {
      api.templates.render(JSON.parse(input) as Parameters<typeof api.templates.render>[0], { signal: over.signal }).then(
        (rendered) => setState({ rendered, faults: [] }),
        (cause: unknown) => over.signal.aborted || setState(({ rendered }) => ({ rendered, faults: toFaults(cause) })),
      );
    });
    return () => {
      cancel();
      over.abort();
    };
  }, [input, kind, again]);
  return state;
}

/** An error of the API as faults of the template; one that has no place is about all of it. */
export function toFaults(cause: unknown): Fault[] {
  const { message, details } = asRequestError(cause);
  if (details.length === 0) return [{ severity: "error", part: "", line: null, column: null, message }];
  return details.map(({ path, line, column, message: text }) => ({
    severity: "error",
    part: path,
    line: line ?? null,
    column: column ?? null,
    message: line === undefined ? text : text.replace(/^Line \d+, column \d+: /, ""),
  }));
}
