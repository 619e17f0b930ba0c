import type { AutomationConnection, AutomationDetail, AutomationStep } from "@mailsvc/sdk/contract";
import { listBranches } from "@mailsvc/sdk/contract/facts";

/** The start of every definition. */
export const TRIGGER = "trigger";

/** The graph of an automation. */
export interface Definition {
  readonly steps: readonly AutomationStep[];
  readonly connections: readonly AutomationConnection[];
}

/** Parts the editor changes: the trigger, the goal and the steps. */
export interface Edited extends Definition {
  readonly trigger: AutomationDetail["trigger"];
  readonly goal: AutomationDetail["goal"];
}

/** The text of the editor. */
export function formatDefinition({ trigger, goal, steps, connections }: Edited): string {
  return `${JSON.stringify({ trigger, goal, steps, connections }, null, 2)}\n`;
}

/** Parses the text as a definition; returns a sentence about the fault if it is none. The server checks the steps. */
export function parseDefinition(text: string): Edited | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return `This is not valid JSON yet: ${(error as Error).message}`;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return "Write an object with trigger, goal, steps and connections.";
  const { trigger, goal = null, steps, connections, ...others } = value as Record<string, unknown>;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return `There is no field “${unknown}” here. Name, description and entering again are under Settings.`;
  if (!isTyped(trigger)) return "trigger needs a type, such as contact.created.";
  if (!Array.isArray(steps) || !steps.every((step) => isTyped(step) && typeof step.id === "string"))
    return "steps is an array; each step has an id and a type.";
  if (!Array.isArray(connections) || !connections.every((one) => typeof one?.from === "string" && typeof one?.to === "string"))
    return "connections is an array; each has from and to.";
  return { trigger, goal, steps, connections } as Edited;
}

function isTyped(value: unknown): value is { type: string; id?: unknown } {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

/** True if a definition can be drawn. Steps the server does not know yet may have any form. */
export function isDrawable(edited: Edited, draw: (edited: Edited) => void): boolean {
  try {
    draw(edited);
    return true;
  } catch {
    return false;
  }
}

/** The ways out of each step, also those that lead nowhere: there the automation ends. */
export function listEdges({ steps, connections }: Definition): { from: string; to: string | null; branch: string | null }[] {
  const known = new Set([TRIGGER, ...steps.map(({ id }) => id)]);
  const leads = connections.filter(({ from, to }) => known.has(from) && known.has(to));
  return [
    ...leads.map(({ from, to, branch }) => ({ from, to, branch: branch ?? null })),
    ...steps.flatMap((step) =>
      (listBranches(step) ?? [])
        .filter((way) => !leads.some(({ from, branch }) => from === step.id && branch === way))
        .map((branch) => ({ from: step.id, to: null, branch })),
    ),
  ];
}
