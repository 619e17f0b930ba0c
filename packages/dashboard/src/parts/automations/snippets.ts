import type { AutomationStep } from "@mailsvc/sdk/contract";
import { listBranches } from "@mailsvc/sdk/contract/facts";
import { type Definition, TRIGGER } from "./definition.ts";
import { REFERENCES } from "./fields.ts";
import { NEW_STEPS } from "./step-fields.generated.ts";
import type { Names } from "./words.ts";

type Type = AutomationStep["type"];

/**
 * Adds a step of a type after another one, by one of its ways, the first unless said. The step that followed there now follows the new
 * one, by its first way.
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
  const step = { id, type, ...NEW_STEPS[type].fields, ...fields } as unknown as AutomationStep;
  const [first] = listBranches(step) ?? [];
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
  const fields = Object.keys(NEW_STEPS[type].fields);
  const field = fields.find((name) => Object.hasOwn(REFERENCES, name));
  const prefix = REFERENCES[field ?? ""];
  const found = prefix === undefined ? undefined : [...names.keys()].find((one) => one.startsWith(prefix));
  return field === undefined || found === undefined ? {} : { [field]: found };
}

function branchOf(steps: readonly AutomationStep[], from: string): { branch?: string } {
  const step = steps.find(({ id }) => id === from);
  const [branch] = (step && listBranches(step)) ?? [];
  return branch === undefined ? {} : { branch };
}
