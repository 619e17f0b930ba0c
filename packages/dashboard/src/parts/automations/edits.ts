import type { AutomationStep } from "@mailsvc/sdk/contract";
import { listBranches } from "@mailsvc/sdk/contract/facts";
import { type Definition, TRIGGER } from "./definition.ts";

type Connection = Definition["connections"][number];

/** A step in the list, under the way that leads to it. */
export interface ListedStep {
  readonly step: AutomationStep;
  /** Number of nested branches around the step. */
  readonly depth: number;
  /** The branch whose first step it is; null for one that follows another step. */
  readonly branch: string | null;
  /** True if the step can be reached from the trigger. */
  readonly isReached: boolean;
}

/** The ways out of a step or the trigger; the only one is null. */
export function listOutlets(steps: readonly AutomationStep[], from: string): readonly (string | null)[] {
  const step = steps.find(({ id }) => id === from);
  if (step?.type === "exit") return [];
  return (step && listBranches(step)) ?? [null];
}

/** Returns the step a branch leads to; null where the automation ends. */
export function findNext({ connections }: Definition, from: string, branch: string | null): string | null {
  return connections.find((one) => leaves(one, from, branch))?.to ?? null;
}

/** The steps in the order in which contacts take them, each branch after its step. Steps without a connection to the trigger come last. */
export function listSteps(definition: Definition): readonly ListedStep[] {
  const { steps } = definition;
  const byId = new Map(steps.map((step) => [step.id, step]));
  const listed = new Map<string, ListedStep>();
  const visit = (from: string, depth: number): void => {
    const outlets = listOutlets(steps, from);
    for (const branch of outlets) {
      const step = byId.get(findNext(definition, from, branch) ?? "");
      if (!step || listed.has(step.id)) continue;
      const below = outlets.length > 1 ? depth + 1 : depth;
      listed.set(step.id, { step, depth: below, branch, isReached: true });
      visit(step.id, below);
    }
  };
  visit(TRIGGER, 0);
  const lost = steps.filter(({ id }) => !listed.has(id)).map((step) => ({ step, depth: 0, branch: null, isReached: false }));
  return [...listed.values(), ...lost];
}

/** Leads a way to a step, or to the end. */
export function connect({ steps, connections }: Definition, from: string, branch: string | null, to: string | null): Definition {
  const way: Connection[] = to === null ? [] : [{ from, to, ...(branch !== null && { branch }) }];
  const at = connections.findIndex((one) => leaves(one, from, branch));
  if (at < 0) return { steps, connections: [...connections, ...way] };
  return { steps, connections: [...connections.slice(0, at), ...way, ...connections.slice(at + 1)] };
}

/** Takes a step out. Connections to it now lead to the step that followed it, by its first way. */
export function removeStep(definition: Definition, id: string): Definition {
  const [first = null] = listOutlets(definition.steps, id);
  const next = findNext(definition, id, first);
  const after = next === id ? null : next;
  return {
    steps: definition.steps.filter((step) => step.id !== id),
    connections: definition.connections
      .filter(({ from }) => from !== id)
      .flatMap((one) => (one.to !== id ? [one] : after === null ? [] : [{ ...one, to: after }])),
  };
}

/** The step before which a step can be put; null when it is the first one, or nothing can follow it. */
export function findEarlier({ steps, connections }: Definition, id: string): string | null {
  const before = connections.find(({ to, from }) => to === id && from !== id)?.from;
  if (before === undefined || before === TRIGGER || listOutlets(steps, id).length === 0) return null;
  return steps.some((step) => step.id === before) ? before : null;
}

/** The step after which a step can be put; null when none follows it that could come before. */
export function findLater(definition: Definition, id: string): string | null {
  const [first = null] = listOutlets(definition.steps, id);
  const next = findNext(definition, id, first);
  return next !== null && findEarlier(definition, next) === id ? next : null;
}

/** Puts a step before the one that leads to it: the two change places, and all other ways stay. */
export function moveEarlier(definition: Definition, id: string): Definition {
  const before = findEarlier(definition, id);
  if (before === null) return definition;
  const between = definition.connections.find(({ from, to }) => from === before && to === id);
  const [first = null] = listOutlets(definition.steps, id);
  const next = findNext(definition, id, first);
  const into = definition.connections.map((one) => (one.to === before && one.from !== id ? { ...one, to: id } : one));
  const onward = connect({ ...definition, connections: into }, before, between?.branch ?? null, next === before ? null : next);
  const moved = connect(onward, id, first, before);
  const order = [...definition.steps];
  const [i, j] = [id, before].map((one) => order.findIndex((step) => step.id === one)) as [number, number];
  [order[i], order[j]] = [order[j] as AutomationStep, order[i] as AutomationStep];
  return { ...moved, steps: order };
}

/** Puts a step after the one that follows it. */
export function moveLater(definition: Definition, id: string): Definition {
  const next = findLater(definition, id);
  return next === null ? definition : moveEarlier(definition, next);
}

/** Changes a step. Ways out of branches that it has no more are gone; a new id is the one that connections name. */
export function replaceStep({ steps, connections }: Definition, id: string, step: AutomationStep): Definition {
  const ways = listBranches(step);
  const before = steps.find((one) => one.id === id);
  const renamed = before && findRenamed(before, step);
  return {
    steps: steps.map((one) => (one.id === id ? step : one)),
    connections: connections
      .map((one) => ({
        ...one,
        from: one.from === id ? step.id : one.from,
        to: one.to === id ? step.id : one.to,
        ...(one.from === id && renamed && one.branch === renamed.from && { branch: renamed.to }),
      }))
      .filter(({ from, branch }) => from !== step.id || ways === null || (branch !== undefined && ways.includes(branch))),
  };
}

/** The branch that has got another name, while the others kept theirs. */
function findRenamed(before: AutomationStep, after: AutomationStep): { readonly from: string; readonly to: string } | null {
  const [old, now] = [listBranches(before) ?? [], listBranches(after) ?? []];
  if (old.length !== now.length) return null;
  const at = old.flatMap((name, i) => (name === now[i] ? [] : [i]));
  const [only] = at;
  return only === undefined || at.length > 1 ? null : { from: old[only] ?? "", to: now[only] ?? "" };
}

function leaves({ from, branch }: Connection, step: string, way: string | null): boolean {
  return from === step && (branch ?? null) === way;
}
