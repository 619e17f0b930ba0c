// Without schemas: the builder of automations, which uses it, also runs in browsers and workers.
import { alwaysWaits, listBranches } from "./automation-branches.ts";
import type { AutomationConnection } from "./automation-connection.ts";
import { TRIGGER_STEP } from "./automation-fields.ts";
import type { AutomationStep } from "./automation-steps.ts";

/** The graph of an automation. */
export interface AutomationDefinition {
  readonly steps: readonly AutomationStep[];
  readonly connections: readonly AutomationConnection[];
}

/** A fault of a definition: where it is, and a message that names the step. */
export interface DefinitionFault {
  readonly path: (string | number)[];
  readonly code: string;
  readonly message: string;
}

/**
 * The faults of a definition: ids used twice, connections with unknown steps or branches, two ways on where there is one, steps that
 * cannot be reached, and cycles in which no step waits. Empty if it is valid. A branch without a connection ends there.
 */
export function listDefinitionFaults({ steps, connections }: AutomationDefinition): DefinitionFault[] {
  const byId = new Map(steps.map((step) => [step.id, step]));
  const faults = [...listStepFaults(steps), ...listConnectionFaults(byId, connections)];
  // Only in a graph whose connections are right can steps be reached.
  if (faults.length > 0) return faults;
  const reached = new Set<string>();
  const queue = [TRIGGER_STEP];
  for (let from = queue.pop(); from !== undefined; from = queue.pop())
    for (const { to } of connections.filter((c) => c.from === from)) {
      if (reached.has(to)) continue;
      reached.add(to);
      queue.push(to);
    }
  for (const [i, { id }] of steps.entries())
    if (!reached.has(id))
      faults.push({
        path: ["steps", i],
        code: "unreachable",
        message: `No connection leads from "${TRIGGER_STEP}" to the step "${id}". Connect it, or remove it.`,
      });
  const cycle = findCycleWithoutWait(byId, connections);
  if (cycle)
    faults.push({
      path: ["connections"],
      code: "cycle_without_wait",
      message: `The steps ${cycle.map((id) => `"${id}"`).join(" → ")} go round without a wait. Put a delay or wait_for_event into the cycle.`,
    });
  return faults;
}

function listStepFaults(steps: readonly AutomationStep[]): DefinitionFault[] {
  const seen = new Set<string>();
  return steps.flatMap((step, i): DefinitionFault[] => {
    const faults: DefinitionFault[] = [];
    if (seen.has(step.id))
      faults.push({ path: ["steps", i, "id"], code: "duplicate", message: `Two steps have the id "${step.id}". Rename one of them.` });
    seen.add(step.id);
    const names = listBranches(step) ?? [];
    if (new Set(names).size < names.length)
      faults.push({
        path: ["steps", i, "branches"],
        code: "duplicate",
        message: `Two branches of the step "${step.id}" have the same name.`,
      });
    return faults;
  });
}

function listConnectionFaults(byId: ReadonlyMap<string, AutomationStep>, connections: readonly AutomationConnection[]): DefinitionFault[] {
  const faults: DefinitionFault[] = [];
  const seen = new Set<string>();
  for (const [i, { from, to, branch }] of connections.entries()) {
    const report = (field: string, code: string, message: string): void =>
      void faults.push({ path: ["connections", i, field], code, message });
    const step = byId.get(from);
    if (!step && from !== TRIGGER_STEP) report("from", "unknown_step", `There is no step "${from}".`);
    if (!byId.has(to)) report("to", "unknown_step", `There is no step "${to}".`);
    const branches = step ? listBranches(step) : null;
    if (branches !== null && (branch === undefined || !branches.includes(branch)))
      report("branch", "unknown_branch", `A connection from the step "${from}" names one of its branches: ${branches.join(", ")}.`);
    else if (branches === null && branch !== undefined) report("branch", "unknown_branch", `"${from}" has no branches. Remove branch.`);
    if (step?.type === "exit") report("from", "after_exit", `The step "${from}" ends the automation: nothing can follow it.`);
    const key = JSON.stringify([from, branch]);
    if (seen.has(key)) report("from", "duplicate", `Two connections lead out of "${from}"${branch === undefined ? "" : ` by ${branch}`}.`);
    seen.add(key);
  }
  if (byId.size > 0 && !connections.some(({ from }) => from === TRIGGER_STEP))
    faults.push({
      path: ["connections"],
      code: "no_start",
      message: `No connection begins at "${TRIGGER_STEP}". Add { "from": "${TRIGGER_STEP}", "to": "${[...byId.keys()][0]}" }.`,
    });
  return faults;
}

/** The ids of the steps of a cycle in which no step waits; null if there is none. */
function findCycleWithoutWait(byId: ReadonlyMap<string, AutomationStep>, connections: readonly AutomationConnection[]): string[] | null {
  const done = new Set<string>();
  const waits = (id: string): boolean => {
    const step = byId.get(id);
    return step !== undefined && alwaysWaits(step);
  };
  const visit = (id: string, trail: readonly string[]): string[] | null => {
    if (done.has(id) || waits(id)) return null;
    if (trail.includes(id)) return [...trail.slice(trail.indexOf(id)), id];
    for (const { to } of connections.filter(({ from }) => from === id)) {
      const cycle = visit(to, [...trail, id]);
      if (cycle) return cycle;
    }
    done.add(id);
    return null;
  };
  for (const id of byId.keys()) {
    const cycle = visit(id, []);
    if (cycle) return cycle;
  }
  return null;
}
