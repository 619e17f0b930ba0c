/** @jsxImportSource preact */
import type { AutomationStats, AutomationStep } from "@mailsvc/sdk/contract";
import type { ComponentChildren } from "preact";
import { formatCount, count as plural } from "../plural.ts";
import { type Definition, listEdges, TRIGGER } from "./definition.ts";
import { describeStep, type Names, nameBranch, sayOccurrence, sayStep } from "./words.ts";

type Trigger = Parameters<typeof sayOccurrence>[0];
type StepNumbers = AutomationStats["steps"][number];

/** A path through the graph: the steps in their order, and the branch taken out of each. */
export interface Path {
  readonly steps: readonly { readonly stepId: string; readonly branch: string | null }[];
  /** The step that comes next; null at the end. */
  readonly next: string | null;
}

/** An automation to show. */
export interface FlowProps {
  readonly definition: Definition;
  readonly trigger: Trigger;
  readonly names: Names;
  /** Number of contacts that reached each step; hidden if missing. */
  readonly stats?: AutomationStats | null;
  /** The path of a contact, which is highlighted. */
  readonly path?: Path | null;
  readonly chosen: string;
  readonly choose: (id: string) => void;
  /** Draws something on an arrow, where the automation is edited. */
  readonly onArrow?: (arrow: Arrow) => ComponentChildren;
}

/** A way from one step to another. */
interface Arrow {
  readonly from: string;
  readonly branch: string | null;
  /** A point on it, px. */
  readonly middle: { readonly x: number; readonly y: number };
  /** The steps that it connects, in words. */
  readonly where: string;
}

/** The same steps one after the other, with where each leads. */
export function FlowList({ definition, trigger, names, stats, path, chosen, choose }: FlowProps) {
  const numbers = new Map(stats?.steps.map((one) => [one.stepId, one]));
  const taken = path ? listTaken(path) : null;
  const edges = listEdges(definition);
  const byId = new Map(definition.steps.map((step) => [step.id, step]));
  const rows: readonly (AutomationStep | null)[] = [null, ...sortSteps(definition)];
  return (
    <ol class="flow-list">
      {rows.map((step) => {
        const id = step?.id ?? TRIGGER;
        const { kind, what } = step ? describeStep(step, names) : { kind: "When", what: sayOccurrence(trigger, names, "a contact") };
        const ways = edges.filter(({ from }) => from === id);
        return (
          <li key={id} class={taken?.order.has(id) ? "taken" : ""}>
            <button type="button" class="link" aria-pressed={id === chosen} onClick={() => choose(id)}>
              {kind} {what}
            </button>
            <p class="soft">
              <Count numbers={numbers.get(id)} entered={id === TRIGGER ? stats?.entered : undefined} />
              {ways.map(({ branch, to }) => (
                <span key={branch} class="way">
                  {branch === null ? "then" : `${nameBranch(branch)}:`} {nameNext(to, byId, names)}
                </span>
              ))}
              {ways.length === 0 ? <span class="way">then it ends</span> : null}
            </p>
          </li>
        );
      })}
    </ol>
  );
}

/** Names the step that a way leads to. */
function nameNext(to: string | null, steps: ReadonlyMap<string, AutomationStep>, names: Names): string {
  const step = steps.get(to ?? "");
  return step ? sayStep(step, names) : (to ?? "ends");
}

/** The steps as they follow each other, and those that nothing leads to. */
function sortSteps({ steps, connections }: Definition): readonly AutomationStep[] {
  const sorted = new Set<string>();
  const visit = (from: string): void => {
    for (const { to } of connections.filter((one) => one.from === from)) {
      if (sorted.has(to)) continue;
      sorted.add(to);
      visit(to);
    }
  };
  visit(TRIGGER);
  const byId = new Map(steps.map((step) => [step.id, step]));
  return [...[...sorted].flatMap((id) => byId.get(id) ?? []), ...steps.filter(({ id }) => !sorted.has(id))];
}

/** The numbers of a step. */
export function Count({ numbers, entered }: { readonly numbers: StepNumbers | undefined; readonly entered: number | undefined }) {
  if (entered !== undefined) return <span class="count-line">{plural(entered, "entry", "entries")}</span>;
  if (numbers === undefined) return null;
  const { entered: came, waiting, skipped } = numbers;
  return (
    <span class="count-line">
      {formatCount(came)} came
      {waiting === 0 ? "" : ` · ${formatCount(waiting)} ${waiting === 1 ? "waits" : "wait"}`}
      {skipped === 0 ? "" : ` · ${formatCount(skipped)} skipped`}
    </span>
  );
}

/** The way of a contact. */
export interface Taken {
  /** The place of each step on the path. */
  readonly order: ReadonlyMap<string, number>;
  readonly ways: ReadonlySet<string>;
}

/** Lists the steps and ways of a path. */
export function listTaken({ steps, next }: Path): Taken {
  const first = steps.length > 0 || next !== null ? [`${TRIGGER} null`] : [];
  return {
    order: new Map([[TRIGGER, 0], ...steps.map(({ stepId }, i): [string, number] => [stepId, i + 1])]),
    ways: new Set([
      ...first,
      ...steps.slice(0, next === null ? undefined : steps.length).map(({ stepId, branch }) => `${stepId} ${branch}`),
    ]),
  };
}

/** True for a way that was taken. */
export function isTaken(taken: Taken | null, from: string, branch: string | null): boolean {
  return taken?.ways.has(`${from} ${branch}`) ?? false;
}
