/** @jsxImportSource preact */
import type { AutomationStep } from "@mailsvc/sdk/contract";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { RequestError } from "../../api/request-error.ts";
import { Field } from "../field.tsx";
import { findMessages, isAbout } from "../field-messages.ts";
import type { Edited } from "./definition.ts";
import { type Definition, TRIGGER } from "./definition.ts";
import {
  connect,
  findEarlier,
  findLater,
  findNext,
  type ListedStep,
  listOutlets,
  listSteps,
  moveEarlier,
  moveLater,
  removeStep,
  replaceStep,
} from "./edits.ts";
import { FieldInputs, VariantInput } from "./field-input.tsx";
import type { Values } from "./fields.ts";
import { addStep, pickIds } from "./snippets.ts";
import { NEW_STEPS, OCCURRENCE_FIELDS, STEP_FIELDS, TRIGGER_FIELDS } from "./step-fields.generated.ts";
import { describeStep, type Names, nameBranch, sayOccurrence, sayStep } from "./words.ts";

interface Props {
  readonly edited: Edited;
  readonly change: (edited: Edited) => void;
  readonly names: Names;
  readonly error: RequestError | null;
  /** The step whose fields are shown. */
  readonly chosen: string;
  readonly choose: (id: string) => void;
  readonly pend: (path: string, isPending: boolean) => void;
}

/** An automation as a list of forms: what makes contacts enter, each step, and the goal. */
export function StepsForm(props: Props) {
  const { edited, change, names, error, chosen, choose, pend } = props;
  const edit = (definition: Definition): void => change({ ...edited, ...definition });
  const area = useRef<HTMLOListElement>(null);
  const next = useRef<string | null>(null);
  // Selects a step and focuses it: a new one, or one to replace a focused element that disappears.
  const visit = (id: string): void => {
    next.current = id;
    choose(id);
  };
  useEffect(() => {
    if (next.current === null) return;
    area.current?.querySelector<HTMLElement>(`[data-form-step="${CSS.escape(next.current)}"]`)?.focus();
    next.current = null;
  });
  useEffect(() => {
    // The step of the first error is opened.
    const at = edited.steps.findIndex((_, i) => error?.details.some(({ path }) => isAbout(path, `steps[${i}]`)));
    const id = edited.steps[at]?.id;
    if (id !== undefined) choose(id);
  }, [error]);
  return (
    <ol ref={area} class="steps-form" aria-label="The steps">
      <StepCard
        id={TRIGGER}
        title="When"
        what={describe(() => sayOccurrence(edited.trigger, names, "a contact")) ?? edited.trigger.type}
        isOpen={chosen === TRIGGER}
        toggle={() => choose(chosen === TRIGGER ? "" : TRIGGER)}
        isWrong={isWrong(error, "trigger")}
      >
        <VariantInput
          label="Contacts enter when"
          variants={TRIGGER_FIELDS}
          value={edited.trigger}
          set={(trigger) => change({ ...edited, trigger: trigger as Edited["trigger"] })}
          path="trigger"
          error={error}
          names={names}
          pend={pend}
        />
        <VariantInput
          label="Goal, while a contact is inside"
          none="None"
          variants={OCCURRENCE_FIELDS}
          value={edited.goal}
          set={(goal) => change({ ...edited, goal: goal as Edited["goal"] })}
          path="goal"
          error={error}
          names={names}
          pend={pend}
        />
        <Outlets {...props} choose={visit} id={TRIGGER} edit={edit} />
      </StepCard>
      {listSteps(edited).map((listed) => (
        <OneStep key={listed.step.id} {...props} listed={listed} edit={edit} visit={visit} />
      ))}
    </ol>
  );
}

interface CardProps {
  readonly id: string;
  readonly title: string;
  readonly what: string;
  readonly branch?: string | null;
  readonly depth?: number;
  readonly isOpen: boolean;
  readonly isWrong: boolean;
  readonly toggle: () => void;
  readonly children: preact.ComponentChildren;
}

function StepCard({ id, title, what, branch = null, depth = 0, isOpen, isWrong: wrong, toggle, children }: CardProps) {
  const panel = useId();
  return (
    <li class={`depth-${Math.min(depth, 4)}`}>
      {branch === null ? null : <span class="branch-name">{nameBranch(branch)}</span>}
      <div class={`card step-form${wrong ? " wrong" : ""}`}>
        <button type="button" class="step-head" aria-expanded={isOpen} aria-controls={panel} data-form-step={id} onClick={toggle}>
          <strong>{title}</strong> <span>{what}</span>
          {wrong ? <span class="wrong"> needs a correction</span> : null}
        </button>
        <div id={panel} class="form" hidden={!isOpen}>
          {isOpen ? children : null}
        </div>
      </div>
    </li>
  );
}

interface StepProps extends Props {
  readonly listed: ListedStep;
  readonly edit: (definition: Definition) => void;
  /** Shows the fields of a step, and puts the focus there. */
  readonly visit: (id: string) => void;
}

function OneStep(props: StepProps) {
  const { edited, names, error, chosen, choose, pend, listed, edit, visit } = props;
  const { step, depth, branch, isReached } = listed;
  const path = `steps[${edited.steps.indexOf(step)}]`;
  const { kind, what } = describe(() => describeStep(step, names)) ?? { kind: step.type, what: "" };
  const set = (next: object): void => edit(replaceStep(edited, step.id, next as AutomationStep));
  // Messages about the step as a whole.
  const whole = error?.details.filter((one) => one.path === path).map(({ message }) => message) ?? [];
  return (
    <StepCard
      id={step.id}
      title={kind}
      what={what}
      branch={branch}
      depth={depth}
      isOpen={chosen === step.id}
      toggle={() => choose(chosen === step.id ? "" : step.id)}
      isWrong={isWrong(error, path)}
    >
      {isReached ? null : <p class="hint wrong">No way leads here. Lead one to it below another step, or remove it.</p>}
      {whole.map((message) => (
        <p key={message} class="hint wrong" role="alert">
          {message}
        </p>
      ))}
      <FieldInputs
        fields={STEP_FIELDS[step.type] ?? []}
        values={step as unknown as Values}
        change={set}
        path={path}
        error={error}
        names={names}
        pend={pend}
      />
      <StepName
        id={step.id}
        error={findMessages(error, `${path}.id`)}
        rename={(id) => {
          if (edited.steps.some((one) => one.id === id)) return;
          set({ ...step, id });
          choose(id);
        }}
      />
      <Outlets {...props} choose={visit} id={step.id} edit={edit} />
      <div class="buttons">
        <button type="button" disabled={findEarlier(edited, step.id) === null} onClick={() => edit(moveEarlier(edited, step.id))}>
          Move up
        </button>
        <button type="button" disabled={findLater(edited, step.id) === null} onClick={() => edit(moveLater(edited, step.id))}>
          Move down
        </button>
        <button
          type="button"
          class="danger"
          onClick={() => {
            const before = edited.connections.find(({ to, from }) => to === step.id && from !== step.id)?.from;
            edit(removeStep(edited, step.id));
            visit(before ?? TRIGGER);
          }}
        >
          Remove the step
        </button>
      </div>
    </StepCard>
  );
}

/** The id of a step, by which connections and reports name it. It changes once the person has typed all of it. */
function StepName({ id, rename, error }: { readonly id: string; readonly rename: (id: string) => void; readonly error: string }) {
  const [text, setText] = useState(id);
  useEffect(() => setText(id), [id]);
  return (
    <Field label="Id" hint="The API and the command line name the step by it." error={error}>
      <input
        value={text}
        maxLength={50}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onChange={({ currentTarget }) => (currentTarget.value === "" ? setText(id) : rename(currentTarget.value))}
      />
    </Field>
  );
}

interface OutletsProps extends Pick<Props, "edited" | "names" | "error" | "choose"> {
  readonly id: string;
  readonly edit: (definition: Definition) => void;
}

/** Next step on each branch, with buttons to add new steps. */
function Outlets({ edited, names, error, choose, id, edit }: OutletsProps) {
  const outlets = listOutlets(edited.steps, id);
  if (outlets.length === 0) return null;
  return (
    <fieldset class="inner">
      <legend>What follows</legend>
      {outlets.map((branch) => {
        const at = edited.connections.findIndex((one) => one.from === id && (one.branch ?? null) === branch);
        const way = branch === null ? "Then" : `Then, ${nameBranch(branch)}`;
        return (
          <div key={branch ?? ""} class="fields-row">
            <Field label={way} error={at < 0 ? "" : findMessages(error, `connections[${at}]`)}>
              <select
                value={findNext(edited, id, branch) ?? ""}
                onChange={({ currentTarget }) => edit(connect(edited, id, branch, currentTarget.value || null))}
              >
                <option value="">The end</option>
                {edited.steps.map((step) => (
                  <option key={step.id} value={step.id}>
                    {describe(() => sayStep(step, names)) ?? step.type} ({step.id})
                  </option>
                ))}
              </select>
            </Field>
            <AddStep
              after={`${id}${branch === null ? "" : `, ${nameBranch(branch)}`}`}
              add={(type) => {
                const next = addStep(edited, type, id, pickIds(type, names), branch);
                edit(next);
                choose(next.steps.at(-1)?.id ?? id);
              }}
            />
          </div>
        );
      })}
    </fieldset>
  );
}

interface AddProps {
  /** The step that it follows, and by which way. */
  readonly after: string;
  readonly disabled?: boolean;
  readonly add: (type: AutomationStep["type"]) => void;
}

/** Adds a step: its kind is chosen first, since the arrow keys choose in a closed list, too. */
export function AddStep({ after, disabled = false, add }: AddProps) {
  const [type, choose] = useState<AutomationStep["type"]>("send_email");
  return (
    <div class="buttons add-step">
      <select
        aria-label={`Kind of the step to add after ${after}`}
        disabled={disabled}
        value={type}
        onChange={({ currentTarget }) => choose(currentTarget.value as AutomationStep["type"])}
      >
        {Object.entries(NEW_STEPS).map(([one, { title }]) => (
          <option key={one} value={one}>
            {title}
          </option>
        ))}
      </select>
      <button type="button" disabled={disabled} aria-label={`Add a step after ${after}`} onClick={() => add(type)}>
        Add a step
      </button>
    </div>
  );
}

function isWrong(error: RequestError | null, path: string): boolean {
  return error?.details.some((one) => isAbout(one.path, path)) ?? false;
}

/** Describes a step in words; null while its fields are incomplete. */
function describe<T>(words: () => T): T | null {
  try {
    return words();
  } catch {
    return null;
  }
}
