/** @jsxImportSource preact */
import type { AutomationDetail, AutomationStats } from "@mailsvc/sdk/contract";
import { CodeBlock } from "../code-block.tsx";
import { formatCount, count as plural } from "../plural.ts";
import { formatShare } from "../share.ts";
import { describeOccurrence, describeStep, type Names, nameBranch } from "./words.ts";

interface Props {
  readonly automation: AutomationDetail;
  readonly stats: AutomationStats | null;
  readonly names: Names;
  /** Id of the step, or `trigger`. */
  readonly id: string;
}

/** Description of a step, with the number of contacts that reached it. */
export function StepCard({ automation: { trigger, steps }, stats, names, id }: Props) {
  const step = steps.find((one) => one.id === id);
  if (!step)
    return (
      <aside class="card stack" aria-label="The trigger">
        <h2>When</h2>
        <p>{describeOccurrence(trigger, names)}</p>
        {stats === null ? null : <p class="soft">{plural(stats.entered, "entry", "entries")} so far.</p>}
        <Source label="The trigger as JSON" of={trigger} />
      </aside>
    );
  const { kind, what } = describeStep(step, names);
  const numbers = stats?.steps.find(({ stepId }) => stepId === id);
  return (
    <aside class="card stack" aria-label="The chosen step">
      <h2>
        {kind} {what}
      </h2>
      {numbers ? (
        <table class="numbers">
          <tbody>
            {(
              [
                ["Came", numbers.entered],
                ["Went on", numbers.completed],
                ["Skipped", numbers.skipped],
                ["Wait here", numbers.waiting],
              ] as const
            ).map(([name, count]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{formatCount(count)}</td>
                <td class="soft">{numbers.entered === 0 ? "" : formatShare(count / numbers.entered)}</td>
              </tr>
            ))}
            {Object.entries(numbers.branches ?? {}).map(([branch, count]) => (
              <tr key={`way ${branch}`}>
                <th scope="row">→ {nameBranch(branch)}</th>
                <td>{formatCount(count)}</td>
                <td class="soft">{numbers.completed === 0 ? "" : formatShare(count / numbers.completed)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ) : null}
      <Source label={`The step ${id} as JSON`} of={step} />
    </aside>
  );
}

/** The definition of a step, for those who write it as JSON. */
function Source({ label, of }: { readonly label: string; readonly of: object }) {
  return (
    <details>
      <summary class="soft">As JSON</summary>
      <CodeBlock label={label} code={JSON.stringify(of, null, 2)} />
    </details>
  );
}
