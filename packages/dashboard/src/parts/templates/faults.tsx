/** @jsxImportSource preact */
import type { Fault } from "./rendering.ts";

interface Props {
  readonly faults: readonly Fault[];
  /** Goes to the place of one. */
  readonly show: (fault: Fault) => void;
}

/** Problems found by the template engine and lint; each links to its line. */
export function Faults({ faults, show }: Props) {
  if (faults.length === 0) return <p class="soft problems">No problems found.</p>;
  return (
    <ul class="items problems" aria-label="Problems">
      {faults.map((fault, i) => (
        <li key={i}>
          <div class="what">
            <span>
              <span class={`status ${fault.severity === "error" ? "bad" : "warn"}`}>{fault.severity}</span> {fault.message}
            </span>
            <Place fault={fault} show={show} />
          </div>
          {fault.fix === undefined ? null : (
            <p class="soft">
              {fault.fix} {fault.rule === undefined ? null : <code>{fault.rule}</code>}
            </p>
          )}
        </li>
      ))}
    </ul>
  );
}

const FIELDS: Readonly<Record<string, string>> = {
  subject: "Subject",
  html: "HTML",
  text: "Text",
  layout: "Layout",
  variables: "Variables",
};

function Place({ fault, show }: { readonly fault: Fault; readonly show: Props["show"] }) {
  const { part, line } = fault;
  const text = `${FIELDS[part] ?? part}${line === null ? "" : `, line ${line}`}`;
  if (line === null || !(part === "html" || part === "text")) return <span class="soft">{text}</span>;
  return (
    <button type="button" class="link" onClick={() => show(fault)}>
      {text}
    </button>
  );
}
