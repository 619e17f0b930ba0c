/** @jsxImportSource preact */
import type { DryRun as Run } from "@mailsvc/sdk/contract";
import { listBranches } from "@mailsvc/sdk/contract/facts";
import { useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import { ContactPicker } from "../contact-picker.tsx";
import { ErrorNote } from "../error-note.tsx";
import { Field } from "../field.tsx";
import { useSending } from "../sending.ts";
import { type Definition, listEdges } from "./definition.ts";
import { DryRunTimeline } from "./path.tsx";
import { type Names, nameBranch, sayStep } from "./words.ts";

interface Props {
  readonly id: string;
  readonly definition: Definition;
  /** The saved version to try; null for a definition that is not saved. */
  readonly version: number | null;
  readonly names: Names;
  readonly run: Run | null;
  /** Called with what would happen, or null when that is not known any more. */
  readonly show: (run: Run | null) => void;
}

/** Tries an automation for a contact: nothing is written or sent. */
export function DryRun({ id, definition, version, names, run, show }: Props) {
  const [contact, setContact] = useState("");
  const [assume, setAssume] = useState<Readonly<Record<string, string>>>({});
  const { busy, error, send } = useSending();
  const tryIt = async (assumed: Readonly<Record<string, string>>): Promise<void> => {
    const isKnown = await send(async () => {
      const steps = definition.steps.map(({ id: one }) => one);
      const known = Object.fromEntries(Object.entries(assumed).filter(([step]) => steps.includes(step)));
      const what =
        version === null ? { definition: { steps: [...definition.steps], connections: [...definition.connections] } } : { version };
      show(await api.automations.test(id, { contact, assume: known, ...what }));
    });
    if (!isKnown) show(null);
  };
  const branching = definition.steps.filter((step) => run?.path.some(({ stepId }) => stepId === step.id) && listBranches(step) !== null);
  return (
    <section class="card form" aria-labelledby="dry-run">
      <h2 id="dry-run">Dry run</h2>
      <p class="soft">See which path a contact would take. Nothing is changed, and no mail is sent.</p>
      <form
        class="dry-run"
        onSubmit={(event) => {
          event.preventDefault();
          void tryIt(assume);
        }}
      >
        <ContactPicker label="Contact" hint="ada@example.com" choose={setContact} />
        <button type="submit" disabled={busy || contact === "" || listEdges(definition).length === 0}>
          Try
        </button>
      </form>
      {branching.map((step) => (
        <Field key={step.id} label={`At “${sayStep(step, names)}”, assume`}>
          <select
            value={assume[step.id] ?? ""}
            onChange={({ currentTarget: { value } }) => {
              const { [step.id]: _, ...others } = assume;
              const next = value === "" ? others : { ...others, [step.id]: value };
              setAssume(next);
              void tryIt(next);
            }}
          >
            <option value="">what follows from the contact</option>
            {(listBranches(step) ?? []).map((way) => (
              <option key={way} value={way}>
                {nameBranch(way)}
              </option>
            ))}
          </select>
        </Field>
      ))}
      {error === null ? null : <ErrorNote error={error} />}
      {run === null ? null : <DryRunTimeline run={run} steps={definition.steps} names={names} />}
    </section>
  );
}
