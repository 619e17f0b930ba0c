/** @jsxImportSource preact */
import type { LintFinding, LintReport } from "@mailsvc/sdk/contract";
import { Empty } from "./empty.tsx";

/** Problems that mail programs, filters and readers will have with a mail, each with a fix. */
export function LintFindings({ report: { findings, errors, warnings, omitted, bytes } }: { readonly report: LintReport }) {
  if (findings.length === 0)
    return (
      <Empty title="No problems found">
        <p>This email should display and deliver well.</p>
      </Empty>
    );
  return (
    <>
      <p class="soft">
        {count(errors, "error")}, {count(warnings, "warning")}
        {omitted === 0 ? "" : `, ${omitted} more of the same kinds`} · HTML of {(bytes / 1000).toFixed(1)} kB
      </p>
      <ul class="items">
        {findings.map((finding, i) => (
          <Finding key={i} finding={finding} />
        ))}
      </ul>
    </>
  );
}

function Finding({ finding: { rule, severity, part, line, column, message, fix } }: { readonly finding: LintFinding }) {
  return (
    <li>
      <div class="what">
        <span>
          <span class={`status ${severity === "error" ? "bad" : "warn"}`}>{severity}</span> {message}
        </span>
        <span class="soft">
          {part}
          {line === null ? "" : `, line ${line}${column === null ? "" : `:${column}`}`}
        </span>
      </div>
      <p class="soft">
        {fix} <code>{rule}</code>
      </p>
    </li>
  );
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}
