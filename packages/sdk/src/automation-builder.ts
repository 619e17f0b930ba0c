import { listBranches } from "./contract/automation-branches.ts";
import { AUTOMATION_LIMITS, TRIGGER_STEP } from "./contract/automation-fields.ts";
import { listDefinitionFaults } from "./contract/automation-graph.ts";
import { UsageError } from "./errors.ts";
import type { AutomationConnection, AutomationStep, AutomationTrigger, NewAutomation, SegmentRule } from "./types.generated.ts";

/** The settings of an automation besides its name, trigger and steps. */
export type AutomationSettings = Omit<NewAutomation, "name" | "trigger" | "steps" | "connections">;

type FieldsOf<T extends AutomationStep["type"]> = Omit<Extract<AutomationStep, { type: T }>, "id" | "type">;
/** The steps that lead to branches, each of which has its own method. */
type BranchingType = "condition" | "split" | "wait_for_event";
type WithoutId<S> = S extends unknown ? Omit<S, "id"> : never;
/** The fields of a step with a single way on, and its type. */
export type StepFields = WithoutId<Exclude<AutomationStep, { type: BranchingType }>>;

/** An id that no step before has; otherwise a text that says so, which no id matches. */
type Fresh<Id extends string, Ids extends string> = Id extends Ids ? `There is a step "${Id}" already.` : Id;

/** An automation, or a branch of one, of any steps. */
interface Part {
  readonly graph: AutomationGraph;
}
/** Function that adds the steps of a branch. */
type Way<Ids extends string, P extends Part> = (path: AutomationPath<Ids, never>) => P;
/** Functions that add the steps of branches, by name. A missing branch continues with the step that follows. */
type Ways<Ids extends string> = { readonly [branch: string]: Way<Ids, Part> };
type PartOf<W> = { [B in keyof W]: W[B] extends (path: never) => infer P ? P : never }[keyof W];
type IdsOf<P> = P extends AutomationPiece<infer Ids, infer _> ? Ids : never;
type TargetsOf<P> = P extends AutomationPiece<infer _, infer Targets> ? Targets : never;

/** The way out of a step that leads nowhere yet. */
type OpenEnd = Omit<AutomationConnection, "to">;

/** Content of a part of an automation. */
export interface AutomationGraph {
  readonly head: Omit<NewAutomation, "steps" | "connections">;
  readonly steps: readonly AutomationStep[];
  readonly connections: readonly AutomationConnection[];
  /** The ways on that lead nowhere yet. */
  readonly ends: readonly OpenEnd[];
}

/**
 * Begins an automation, whose steps are then added one after the other:
 *
 * ```ts
 * const welcome = automation("Welcome", { goal: { type: "tag.added", tag: "customer" } })
 *   .trigger({ type: "contact.created" })
 *   .email("hello", { templateId: "tpl_…" })
 *   .wait("3d")
 *   .branch("is-customer", { field: "tags", operator: "contains", value: "customer" }, {
 *     yes: (path) => path.exit("customer"),
 *   })
 *   .email("tips", { templateId: "tpl_…" })
 *   .build();
 * ```
 *
 * Each step has an id, which stays the same from version to version, so that its numbers do. Two steps with one id, a branch that a step
 * does not have, and a `goTo` to a step that is not there do not compile.
 */
export function automation(name: string, settings: AutomationSettings = {}): AutomationStart {
  return {
    trigger: (trigger) =>
      new AutomationPath({ head: { name, ...settings, trigger }, steps: [], connections: [], ends: [{ from: TRIGGER_STEP }] }),
  };
}

/** An automation that has no trigger yet. */
export interface AutomationStart {
  /** Sets the trigger that makes a contact enter. */
  trigger(trigger: AutomationTrigger): AutomationPath<never, never>;
}

/** A part of an automation to which nothing can be added: it has all its steps. */
export class AutomationPiece<Ids extends string, Targets extends string> {
  /** The ids of its steps, and of those it goes to; only for types. */
  declare protected readonly ids: Ids;
  declare protected readonly targets: Targets;
  /** Its steps and connections so far. */
  readonly graph: AutomationGraph;

  /** @internal */
  constructor(graph: AutomationGraph) {
    this.graph = graph;
  }

  /**
   * The automation, as `automations.create` and a file take it. Throws UsageError that names the steps when two have one id, one cannot
   * be reached, or a loop never waits. It takes no argument; one is only asked for where a `goTo` leads to a step that is not there.
   */
  build(
    ..._unknown: [Exclude<Targets, Ids>] extends [never] ? [] : [error: `There is no step "${Exclude<Targets, Ids>}".`]
  ): NewAutomation {
    const { head, steps, connections } = this.graph;
    const faults = listDefinitionFaults({ steps, connections });
    if (faults.length > 0)
      throw new UsageError({ message: `The automation "${head.name}" is not valid. ${faults.map(({ message }) => message).join(" ")}` });
    return { ...head, steps: [...steps], connections: [...connections] };
  }
}

/** An automation, or a branch of one, to which steps can be added. */
export class AutomationPath<Ids extends string, Targets extends string> extends AutomationPiece<Ids, Targets> {
  /** Sends a published template, as marketing mail. */
  email<const Id extends string>(id: Fresh<Id, Ids>, fields: FieldsOf<"send_email">): AutomationPath<Ids | Id, Targets> {
    return this.#add(id, { type: "send_email", ...fields });
  }

  /** Waits for a duration such as `30m`, `12h` or `3d`. The id is `wait-3d` unless given. */
  wait<const Duration extends string, const Id extends string = `wait-${Duration}`>(
    duration: Duration,
    ...id: `wait-${Duration}` extends Ids ? [id: Fresh<Id, Ids>] : [id?: Fresh<Id, Ids>]
  ): AutomationPath<Ids | Id, Targets> {
    return this.#add(id[0] ?? `wait-${duration}`, { type: "delay", for: duration });
  }

  /** Goes the way `yes` for contacts that match a rule of segments, and `no` for the others. */
  branch<const Id extends string, Yes extends Part = never, No extends Part = never>(
    id: Fresh<Id, Ids>,
    rule: SegmentRule,
    ways: { readonly yes?: Way<Ids | Id, Yes>; readonly no?: Way<Ids | Id, No> },
  ): AutomationPath<Ids | Id | IdsOf<Yes | No>, Targets | TargetsOf<Yes | No>> {
    return this.#add(id, { type: "condition", rule }, ways);
  }

  /** Waits until something happens to the contact, at most for `timeout`: goes the way `event` or `timeout`. */
  waitForEvent<const Id extends string, Event extends Part = never, Timeout extends Part = never>(
    id: Fresh<Id, Ids>,
    fields: FieldsOf<"wait_for_event">,
    ways: { readonly event?: Way<Ids | Id, Event>; readonly timeout?: Way<Ids | Id, Timeout> },
  ): AutomationPath<Ids | Id | IdsOf<Event | Timeout>, Targets | TargetsOf<Event | Timeout>> {
    return this.#add(id, { type: "wait_for_event", ...fields }, ways);
  }

  /** Divides contacts by weights: `{ a: 1, b: 3 }` sends a quarter the way `a`. A contact always takes the same one. */
  split<const Id extends string, W extends Ways<Ids | Id>>(
    id: Fresh<Id, Ids>,
    weights: Readonly<Record<string, number>> & { readonly [Branch in keyof W]: number },
    ways: W,
  ): AutomationPath<Ids | Id | IdsOf<PartOf<W>>, Targets | TargetsOf<PartOf<W>>> {
    const branches = Object.entries<number>(weights).map(([name, weight]) => ({ name, weight }));
    return this.#add(id, { type: "split", branches }, ways);
  }

  /** Any step with a single way on: `step("tag", { type: "add_tag", tag: "greeted" })`. */
  step<const Id extends string>(id: Fresh<Id, Ids>, fields: StepFields): AutomationPath<Ids | Id, Targets> {
    return this.#add(id, fields);
  }

  /** Ends the entry as EXITED. Branches that end for the same reason share a step; its id is `exit-` and the reason unless given. */
  exit<const Id extends string = never>(reason?: string, id?: Id): AutomationPiece<Ids | Id, Targets> {
    const path = this.#add(id ?? nameExit(reason), { type: "exit", ...(reason !== undefined && { reason }) });
    return new AutomationPiece({ ...path.graph, ends: [] });
  }

  /** Goes on with another step, before or after this one. A loop needs a step that waits. */
  goTo<const Id extends string>(id: Id): AutomationPiece<Ids, Targets | Id> {
    const { connections, ends, ...graph } = this.graph;
    return new AutomationPiece({ ...graph, connections: [...connections, ...ends.map((end) => ({ ...end, to: id }))], ends: [] });
  }

  /** Ends the entry as COMPLETED, although steps follow after the branch. */
  end(): AutomationPiece<Ids, Targets> {
    return new AutomationPiece({ ...this.graph, ends: [] });
  }

  #add<I extends string, T extends string>(id: string, fields: WithoutId<AutomationStep>, ways: object = {}): AutomationPath<I, T> {
    const { head, steps, connections, ends } = this.graph;
    const step: AutomationStep = { id, ...fields };
    let graph: AutomationGraph = {
      head,
      steps: steps.some((other) => isSameExit(other, step)) ? steps : [...steps, step],
      connections: [...connections, ...ends.map((end) => ({ ...end, to: id }))],
      ends: [],
    };
    const open: OpenEnd[] = [];
    for (const branch of listBranches(step) ?? [undefined]) {
      const end = { from: id, ...(branch !== undefined && { branch }) };
      const way = branch === undefined ? undefined : (ways as { readonly [name: string]: Way<string, Part> | undefined })[branch];
      // A branch begins with what is there so far, and hands it back with its own steps.
      if (way) graph = way(new AutomationPath({ ...graph, ends: [end] })).graph;
      open.push(...(way ? graph.ends : [end]));
    }
    return new AutomationPath({ ...graph, ends: open });
  }
}

function nameExit(reason = ""): string {
  const words = reason.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return ["exit", ...words].join("-").slice(0, AUTOMATION_LIMITS.stepId);
}

function isSameExit(a: AutomationStep, b: AutomationStep): boolean {
  return a.type === "exit" && b.type === "exit" && a.id === b.id && a.reason === b.reason;
}
