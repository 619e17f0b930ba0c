/** @jsxImportSource preact */
import { useRef } from "preact/hooks";
import type { RequestError } from "../../api/request-error.ts";
import { ErrorNote } from "../error-note.tsx";
import type { Edited } from "./definition.ts";
import { lineOf, locate } from "./json-position.ts";
import { addStep, pickIds } from "./snippets.ts";
import { AddStep } from "./steps-form.tsx";
import type { Names } from "./words.ts";

interface Props {
  readonly text: string;
  readonly write: (text: string) => void;
  /** Fault in the text; null when it is a definition. */
  readonly fault: string | null;
  readonly error: RequestError | null;
  readonly drawn: Edited;
  readonly chosen: string;
  readonly names: Names;
  readonly add: (definition: Pick<Edited, "steps" | "connections">) => void;
}

/** An automation as JSON: what is wrong stands at its line. */
export function JsonView({ text, write, fault, error, drawn, chosen, names, add }: Props) {
  const area = useRef<HTMLTextAreaElement>(null);
  const step = drawn.steps.find(({ id }) => id === chosen);
  const after = step?.id ?? "trigger";
  const ends = step?.type === "exit";
  return (
    <div class="definition">
      <div class="buttons">
        <AddStep after={after} disabled={fault !== null || ends} add={(type) => add(addStep(drawn, type, after, pickIds(type, names)))} />
        {names.size === 0 ? null : (
          <details class="ids">
            <summary>Ids to use</summary>
            <ul>
              {[...names].map(([one, name]) => (
                <li key={one}>
                  {name} <code class="soft">{one}</code>
                </li>
              ))}
            </ul>
          </details>
        )}
      </div>
      <textarea
        ref={area}
        class="code"
        aria-label="The definition as JSON"
        aria-invalid={fault !== null || error !== null}
        spellcheck={false}
        wrap="off"
        value={text}
        onInput={({ currentTarget }) => write(currentTarget.value)}
      />
      <Findings text={text} fault={fault} error={error} area={area} />
    </div>
  );
}

interface FindingsProps extends Pick<Props, "text" | "fault" | "error"> {
  readonly area: { readonly current: HTMLTextAreaElement | null };
}

/** Problems by line; a click moves the cursor to the line. */
function Findings({ text, fault, error, area }: FindingsProps) {
  const visit = (position: number | null): void => {
    if (position === null || !area.current) return;
    area.current.focus();
    area.current.setSelectionRange(position, position);
    const line = Number.parseFloat(getComputedStyle(area.current).lineHeight);
    area.current.scrollTop = Math.max(0, (lineOf(text, position) - 4) * line);
  };
  if (fault !== null)
    return (
      <p class="hint wrong" role="alert">
        {fault}
      </p>
    );
  if (error === null) return null;
  if (error.details.length === 0) return <ErrorNote error={error} />;
  return (
    <ul class="findings" role="alert">
      {error.details.map(({ path, message }) => {
        const position = locate(text, path);
        return (
          <li key={`${path} ${message}`}>
            <button type="button" class="link" onClick={() => visit(position)}>
              {position === null ? "" : `Line ${lineOf(text, position)}: `}
              {message}
            </button>
          </li>
        );
      })}
    </ul>
  );
}
