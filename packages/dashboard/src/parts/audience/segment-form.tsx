/** @jsxImportSource preact */
import type { Segment, SegmentRule } from "@mailsvc/sdk/contract";
import { useState } from "preact/hooks";
import { asRequestError, type RequestError } from "../../api/request-error.ts";
import { ErrorNote } from "../error-note.tsx";
import { Field } from "../field.tsx";
import { useLeaveWarning } from "../leave-warning.ts";
import { RuleEditor } from "../rules/rule-editor.tsx";

/** What a person can say about a segment. */
export interface SegmentFields extends Pick<Segment, "name" | "description"> {
  readonly rules: SegmentRule;
}

interface Props {
  readonly initial: SegmentFields;
  readonly label: string;
  /** Throws RequestError. */
  readonly save: (fields: SegmentFields) => Promise<void>;
}

/** The name of a segment, and the rule by which people are in it. */
export function SegmentForm({ initial, label, save }: Props) {
  const [name, setName] = useState(initial.name);
  const [description, setDescription] = useState(initial.description ?? "");
  const [rules, setRules] = useState<SegmentRule | null>(initial.rules);
  const [error, setError] = useState<RequestError | null>(null);
  const [busy, setBusy] = useState(false);
  const inRules = error?.details.some(({ path }) => path.startsWith("rules")) ?? false;
  const changed =
    name !== initial.name || description !== (initial.description ?? "") || JSON.stringify(rules) !== JSON.stringify(initial.rules);
  useLeaveWarning(changed, { links: true });
  const send = async (): Promise<void> => {
    if (rules === null) return;
    setBusy(true);
    setError(null);
    try {
      await save({ name, description: description.trim() || null, rules });
    } catch (cause) {
      setError(asRequestError(cause));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form
      class="form segment-form"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <div class="two">
        <Field label="Name">
          <input
            required
            maxLength={200}
            value={name}
            placeholder="Active VIPs"
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
        </Field>
        <Field label="Description">
          <input maxLength={1000} value={description} onInput={({ currentTarget }) => setDescription(currentTarget.value)} />
        </Field>
      </div>
      <RuleEditor
        rule={initial.rules}
        change={(rule) => {
          setRules(rule);
          setError(null);
        }}
        refused={inRules ? error : null}
      />
      {error === null || inRules ? null : <ErrorNote error={error} />}
      <div class="buttons">
        <button type="submit" class="primary" disabled={busy || rules === null}>
          {label}
        </button>
      </div>
    </form>
  );
}
