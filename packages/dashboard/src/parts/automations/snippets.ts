import type { AutomationStep } from "@mailsvc/sdk/contract";
import { REFERENCES } from "./fields.ts";
import type { Definition } from "./layout.ts";
import { TRIGGER } from "./layout.ts";
import type { Names } from "./words.ts";

type Type = AutomationStep["type"];

/** A step of each type as a beginning, in words and as JSON. What it names is to be filled in. */
export const SNIPPETS: Readonly<Record<Type, { readonly words: string; readonly fields: object }>> = {
  send_email: { words: "Send a mail", fields: { templateId: "tpl_" } },
  delay: { words: "Wait for a time", fields: { for: "3d" } },
  wait_until: { words: "Wait until a day or an hour", fields: { time: "09:00", weekdays: ["tuesday"] } },
  wait_for_event: { words: "Wait for something to happen", fields: { event: { type: "event", name: "email.opened" }, timeout: "3d" } },
  condition: { words: "Ask a condition", fields: { rule: { field: "tags", operator: "contains", value: "customer" } } },
  split: {
    words: "Split by chance",
    fields: {
      branches: [
        { name: "a", weight: 1 },
        { name: "b", weight: 1 },
      ],
    },
  },
  update_contact: { words: "Set fields of the contact", fields: { set: { customFields: { stage: "welcomed" } } } },
  add_tag: { words: "Add a tag", fields: { tag: "welcomed" } },
  remove_tag: { words: "Remove a tag", fields: { tag: "welcomed" } },
  add_to_list: { words: "Add to a list", fields: { listId: "list_" } },
  remove_from_list: { words: "Remove from a list", fields: { listId: "list_" } },
  webhook: { words: "Call a webhook", fields: { webhookId: "whk_" } },
  goal: { words: "Count the goal", fields: {} },
  exit: { words: "End here", fields: {} },
};

/**
 * Adds a step of a type after another one, by one of its ways, the first unless said. What followed that one there follows the new
 * step, by its first way.
 */
export function addStep(
  { steps, connections }: Definition,
  type: Type,
  after: string,
  fields: object,
  by: string | null = null,
): Definition {
  const base = type.replaceAll("_", "-");
  let id = base;
  for (let i = 2; steps.some((one) => one.id === id); i += 1) id = `${base}-${i}`;
  const step = { id, type, ...SNIPPETS[type].fields, ...fields } as unknown as AutomationStep;
  const [first] = type === "condition" ? ["yes"] : type === "wait_for_event" ? ["event"] : type === "split" ? ["a"] : [];
  const from = after === TRIGGER || steps.some((one) => one.id === after) ? after : TRIGGER;
  const taken = connections.find((one) => one.from === from && (by === null || one.branch === by));
  // A step with branches keeps them: the new one goes into the first.
  const before = connections.filter((one) => one !== taken);
  const into = taken ? { ...taken, to: id } : { from, to: id, ...(by === null ? branchOf(steps, from) : { branch: by }) };
  const onward = taken && type !== "exit" ? [{ from: id, to: taken.to, ...(first !== undefined && { branch: first }) }] : [];
  return { steps: [...steps, step], connections: [...before, into, ...onward] };
}

/** The id of the first thing that a step of a type can name, as its field. */
export function pickIds(type: Type, names: Names): object {
  const fields = Object.keys(SNIPPETS[type].fields);
  const field = fields.find((name) => Object.hasOwn(REFERENCES, name));
  const prefix = REFERENCES[field ?? ""];
  const found = prefix === undefined ? undefined : [...names.keys()].find((one) => one.startsWith(prefix));
  return field === undefined || found === undefined ? {} : { [field]: found };
}

function branchOf(steps: readonly AutomationStep[], from: string): { branch?: string } {
  const step = steps.find(({ id }) => id === from);
  if (step?.type === "condition") return { branch: "yes" };
  if (step?.type === "wait_for_event") return { branch: "event" };
  return step?.type === "split" ? { branch: step.branches[0]?.name ?? "a" } : {};
}
