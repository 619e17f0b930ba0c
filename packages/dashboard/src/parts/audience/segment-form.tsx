/** @jsxImportSource preact */
import type { Segment, SegmentRule } from "@mailsvc/sdk/contract";
import { ErrorNote } from "../error-note.tsx";
import { Field } from "../field.tsx";
import { useLeaveWarning } from "../leave-warning.ts";
import { RuleEditor } from "../rules/rule-editor.tsx";
import type { Sending } from "../sending.ts";

/** Fields of a segment form, as typed. */
export interface SegmentFields {
  readonly name: string;
  readonly description: string;
  /** Null while a condition is not complete. */
  readonly rules: SegmentRule | null;
}

/** The fields as the API takes them; null while they are not complete. */
export function toSegment({
  name,
  description,
  rules,
}: SegmentFields): (Pick<Segment, "name" | "description"> & { rules: SegmentRule }) | null {
  return rules === null ? null : { name, description: description.trim() || null, rules };
}

interface Props {
  readonly fields: SegmentFields;
  readonly change: (change: Partial<SegmentFields>) => void;
  /** The rule that the editor begins with. */
  readonly rule: SegmentRule;
  readonly isChanged: boolean;
  readonly sending: Sending;
  readonly label: string;
  readonly save: () => void;
}

/** The name of a segment, and the rule by which people are in it. */
export function SegmentForm({ fields: { name, description, rules }, change, rule, isChanged, sending, label, save }: Props) {
  const { busy, error, forget } = sending;
  const inRules = error?.details.some(({ path }) => path.startsWith("rules")) ?? false;
  useLeaveWarning(isChanged, { links: true });
  return (
    <form
      class="form segment-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (rules !== null) save();
      }}
    >
      <div class="two">
        <Field label="Name">
          <input
            required
            maxLength={200}
            value={name}
            placeholder="Active VIPs"
            onInput={({ currentTarget }) => change({ name: currentTarget.value })}
          />
        </Field>
        <Field label="Description">
          <input maxLength={1000} value={description} onInput={({ currentTarget }) => change({ description: currentTarget.value })} />
        </Field>
      </div>
      <RuleEditor
        rule={rule}
        change={(next) => {
          change({ rules: next });
          forget();
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
