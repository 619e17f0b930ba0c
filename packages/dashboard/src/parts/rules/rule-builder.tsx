/** @jsxImportSource preact */
import type { RuleField, RuleOperator } from "@mailsvc/sdk/contract";
import { customName, kindOfField, RULE_LIMITS, RULE_OPERATORS, trackedName } from "@mailsvc/sdk/contract/facts";
import { createContext } from "preact";
import { useContext, useEffect, useId, useRef, useState } from "preact/hooks";
import { RuleDetails } from "./rule-details.tsx";
import {
  type ConditionNode,
  changeNode,
  countLevels,
  type GroupNode,
  listConditions,
  type Mode,
  mayNest,
  nextId,
  type RuleNode,
} from "./tree.ts";
import { MAX_FIELD_NAME, ValueInput } from "./value-input.tsx";
import { changePart, newCondition, pickDetails } from "./values.ts";
import { FIELD_CHOICES, FIELD_WORDS, fieldWords, MODE_WORDS, operatorWords } from "./words.ts";

/** Values of the workspace to choose from. */
export interface Known {
  readonly lists: readonly { readonly value: string; readonly text: string }[];
  readonly tags: readonly string[];
  readonly customFields: readonly string[];
}

interface Props {
  readonly root: GroupNode;
  readonly change: (root: GroupNode) => void;
  /** Messages by node id. */
  readonly errors: ReadonlyMap<number, string>;
  readonly known: Known;
}

interface Editing extends Props {
  /** The node that gets the focus when it appears. */
  readonly focus: number | null;
  readonly add: (group: GroupNode, kind: "condition" | "group") => void;
  readonly remove: (id: number) => void;
  readonly full: boolean;
}

const Editor = createContext<Editing | null>(null);

const CUSTOM = "customFields.";
const DID = "did.";

/** Conditions in groups, to be changed by hand: every field, operator and value that a rule of the contract knows. */
export function RuleBuilder(props: Props) {
  const { root, change } = props;
  const [focus, setFocus] = useState<number | null>(null);
  const add = (group: GroupNode, kind: "condition" | "group"): void => {
    const id = nextId(root);
    const condition: ConditionNode = { kind: "condition", id, ...newCondition() };
    const added: RuleNode = kind === "condition" ? condition : { kind: "group", id: id + 1, mode: "any", nodes: [condition] };
    setFocus(id);
    change(changeNode(root, group.id, () => ({ ...group, nodes: [...group.nodes, added] })));
  };
  const remove = (id: number): void => {
    setFocus(findParent(root, id)?.id ?? null);
    change(changeNode(root, id, () => null));
  };
  const full = listConditions(root).length >= RULE_LIMITS.conditions;
  return (
    <Editor.Provider value={{ ...props, focus, add, remove, full }}>
      <Group group={root} depth={0} />
    </Editor.Provider>
  );
}

function useEditor(): Editing {
  const editor = useContext(Editor);
  if (editor === null) throw new Error("A part of a rule stands within a RuleBuilder.");
  return editor;
}

function Group({ group, depth }: { readonly group: GroupNode; readonly depth: number }) {
  const { root, change, errors, focus, add, remove, full } = useEditor();
  const { id, mode, nodes } = group;
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (focus === id) button.current?.focus();
  }, [focus, nodes.length]);
  const label = useId();
  return (
    <fieldset class="rule-group" aria-labelledby={label}>
      <div class="rule-head">
        <span id={label}>{depth === 0 ? "People who match" : "Match"}</span>
        <select
          aria-label="How the conditions are combined"
          value={mode}
          onChange={({ currentTarget }) =>
            change(changeNode(root, id, (node) => ({ ...node, mode: currentTarget.value as Mode }) as GroupNode))
          }
        >
          {Object.entries(MODE_WORDS).map(([one, text]) => (
            <option key={one} value={one}>
              {text}
            </option>
          ))}
        </select>
        {depth === 0 ? null : (
          <button type="button" class="quiet" aria-label="Remove the group" onClick={() => remove(id)}>
            ×
          </button>
        )}
      </div>
      <Wrong text={errors.get(id)} />
      {nodes.map((node) =>
        node.kind === "group" ? (
          <Group key={node.id} group={node} depth={depth + countLevels(group)} />
        ) : (
          <Condition key={node.id} node={node} />
        ),
      )}
      <div class="buttons">
        <button ref={button} type="button" disabled={full} onClick={() => add(group, "condition")}>
          Add a condition
        </button>
        {mayNest(group, depth) ? (
          <button type="button" disabled={full} onClick={() => add(group, "group")}>
            Add a group
          </button>
        ) : null}
        {full && depth === 0 ? <span class="soft">{RULE_LIMITS.conditions} conditions are the most.</span> : null}
      </div>
    </fieldset>
  );
}

function Condition({ node }: { readonly node: ConditionNode }) {
  const { root, change, errors, focus, known, remove } = useEditor();
  const field = useRef<HTMLSelectElement>(null);
  const names = useId();
  const { id, operator, value } = node;
  useEffect(() => {
    if (focus === id) field.current?.focus();
  }, []);
  const set = (next: Partial<ConditionNode>): void => change(changeNode(root, id, (before) => ({ ...before, ...next }) as ConditionNode));
  const [custom, tracked] = [customName(node.field), trackedName(node.field)];
  const kind = kindOfField(node.field) ?? "custom";
  const wrong = errors.get(id);
  const choices = RULE_OPERATORS[kind].flatMap((one: RuleOperator) =>
    one === "exists"
      ? [true, false].map((is) => ({ choice: `exists ${is}`, text: operatorWords(kind, one, is) }))
      : [{ choice: one, text: operatorWords(kind, one, value) }],
  );
  const choose = (choice: string): void => {
    const [name, is] = choice.split(" ");
    const next = changePart(node, { operator: name as RuleOperator });
    set(is === undefined ? next : { ...next, value: is === "true" });
  };
  return (
    <fieldset
      class={`rule-condition${wrong ? " wrong-rule" : ""}`}
      aria-label={`Condition: ${fieldWords(node.field) || (tracked === null ? "a custom field" : "an event")}`}
    >
      <select
        ref={field}
        aria-label="Field"
        value={custom !== null ? CUSTOM : tracked !== null ? DID : node.field}
        onChange={({ currentTarget: { value: next } }) =>
          set({ ...changePart(node, { field: next }), details: pickDetails(node.details, next) })
        }
      >
        {FIELD_CHOICES.map((one: RuleField) => (
          <option key={one} value={one}>
            {FIELD_WORDS[one]}
          </option>
        ))}
        <option value={DID}>Event of yours…</option>
        <option value={CUSTOM}>Custom field…</option>
      </select>
      {tracked === null ? null : (
        <input
          aria-label="Name of the event"
          placeholder="purchase"
          value={tracked}
          maxLength={RULE_LIMITS.fieldName}
          autocomplete="off"
          spellcheck={false}
          onInput={({ currentTarget }) => set({ field: `${DID}${currentTarget.value}` })}
        />
      )}
      {custom === null ? null : (
        <>
          <input
            aria-label="Name of the custom field"
            placeholder="plan"
            value={custom}
            list={names}
            maxLength={MAX_FIELD_NAME}
            autocomplete="off"
            spellcheck={false}
            onInput={({ currentTarget }) => set({ field: `${CUSTOM}${currentTarget.value}` })}
          />
          <datalist id={names}>
            {known.customFields.map((one) => (
              <option key={one} value={one} />
            ))}
          </datalist>
        </>
      )}
      <select
        aria-label="Operator"
        value={operator === "exists" ? `exists ${value !== false}` : operator}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
      >
        {choices.map(({ choice, text }) => (
          <option key={choice} value={choice}>
            {text}
          </option>
        ))}
      </select>
      <ValueInput node={node} known={known} wrong={wrong !== undefined} set={(next) => set({ value: next })} />
      {kind === "count" ? <RuleDetails node={node} known={known} set={(details) => set({ details })} /> : null}
      <button type="button" class="quiet remove" aria-label="Remove the condition" onClick={() => remove(id)}>
        ×
      </button>
      <Wrong text={wrong} />
    </fieldset>
  );
}

function Wrong({ text }: { readonly text: string | undefined }) {
  return text === undefined ? null : (
    <p class="wrong" role="alert">
      {text}
    </p>
  );
}

function findParent(group: GroupNode, id: number): GroupNode | null {
  if (group.nodes.some((node) => node.id === id)) return group;
  for (const node of group.nodes) {
    const found = node.kind === "group" ? findParent(node, id) : null;
    if (found) return found;
  }
  return null;
}
