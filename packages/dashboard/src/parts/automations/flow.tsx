/** @jsxImportSource preact */
import type { AutomationStats, AutomationStep } from "@mailsvc/sdk/contract";
import { type ComponentChildren, Fragment } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { formatCount, count as plural } from "../plural.ts";
import { type Definition, listEdges, NODE, type PlacedNode, place, TRIGGER } from "./layout.ts";
import { describeStep, type Names, nameBranch, sayOccurrence, sayStep } from "./words.ts";
import { useZoom, ZoomBar } from "./zoom.tsx";

type Trigger = Parameters<typeof sayOccurrence>[0];
type StepNumbers = AutomationStats["steps"][number];

/** A path through the graph: the steps in their order, and the branch taken out of each. */
export interface Path {
  readonly steps: readonly { readonly stepId: string; readonly branch: string | null }[];
  /** The step that comes next; null at the end. */
  readonly next: string | null;
}

interface Props {
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

/** An automation as a graph, or as a list of the same steps. */
export function Flow(props: Props) {
  // A graph is wider than a phone.
  const [view, setView] = useState<"graph" | "list">(() => (matchMedia("(max-width: 720px)").matches ? "list" : "graph"));
  const toggle = (value: typeof view, text: string) => (
    <button type="button" aria-pressed={view === value} onClick={() => setView(value)}>
      {text}
    </button>
  );
  return (
    <section class="flow" aria-label="The steps">
      <fieldset class="toggles">
        <legend class="hidden">Shown as</legend>
        {toggle("graph", "Graph")}
        {toggle("list", "List")}
      </fieldset>
      {view === "graph" ? <FlowGraph {...props} /> : <FlowList {...props} />}
    </section>
  );
}

const MOVES: Readonly<Record<string, "down" | "up" | "left" | "right">> = {
  ArrowDown: "down",
  ArrowUp: "up",
  ArrowLeft: "left",
  ArrowRight: "right",
};

function FlowGraph({ definition, trigger, names, stats, path, chosen, choose, onArrow }: Props) {
  const placed = useMemo(() => place(definition), [definition]);
  const area = useRef<HTMLDivElement>(null);
  const steps = new Map(definition.steps.map((step) => [step.id, step]));
  const numbers = new Map(stats?.steps.map((one) => [one.stepId, one]));
  const taken = path ? listTaken(path) : null;
  const shown = steps.has(chosen) ? chosen : TRIGGER;
  const zoom = useZoom(area, placed);
  const start = placed.nodes.find(({ id }) => id === shown)?.x ?? 0;
  useEffect(() => {
    const scroller = area.current?.closest(".flow-area");
    if (scroller) scroller.scrollLeft = start * zoom.scale - scroller.clientWidth / 2;
  }, [zoom.scale]);
  const move = (event: KeyboardEvent): void => {
    if (zoom.press(event.key)) event.preventDefault();
    const direction = MOVES[event.key];
    const next = direction && findNeighbor(placed.nodes, shown, direction, definition);
    if (!next) return;
    event.preventDefault();
    choose(next);
    area.current?.querySelector<HTMLElement>(`[data-step="${CSS.escape(next)}"]`)?.focus();
  };
  return (
    <>
      <ZoomBar zoom={zoom} />
      <div class="flow-area">
        <div class="flow-zoomed" style={{ width: `${placed.width * zoom.scale}px`, height: `${placed.height * zoom.scale}px` }}>
          <div
            class={`flow-graph ${taken === null ? "" : "with-path"}`}
            ref={area}
            role="group"
            aria-label="The graph; the arrow keys move between steps, + and - zoom, 0 fits it in"
            style={{ width: `${placed.width}px`, height: `${placed.height}px`, transform: `scale(${zoom.scale})` }}
            onKeyDown={move}
          >
            <Lines placed={placed} taken={taken} />
            {placed.edges.map(({ from, branch, label }) =>
              label === null || branch === null ? null : (
                <span
                  key={`${from} ${branch}`}
                  class={isTaken(taken, from, branch) ? "branch taken" : "branch"}
                  style={{ left: `${label.x}px`, top: `${label.y}px` }}
                >
                  {nameBranch(branch)}
                  {numbers.get(from)?.branches ? <strong> {formatCount(numbers.get(from)?.branches?.[branch] ?? 0)}</strong> : null}
                </span>
              ),
            )}
            {onArrow === undefined
              ? null
              : placed.edges.map((edge) => (
                  <Fragment key={`on ${edge.from} ${edge.branch}`}>{onArrow({ ...edge, where: nameArrow(edge, steps, names) })}</Fragment>
                ))}
            {placed.nodes.map(({ id, isEnd, x, y }) => {
              if (isEnd)
                return (
                  <span key={id} class="end" style={{ left: `${x}px`, top: `${y}px` }}>
                    ends
                  </span>
                );
              const step = steps.get(id);
              const { kind, what } = step ? describeStep(step, names) : { kind: "When", what: sayOccurrence(trigger, names, "a contact") };
              const place = taken?.order.get(id);
              return (
                <button
                  key={id}
                  type="button"
                  data-step={id}
                  class={[
                    "step",
                    step?.type ?? TRIGGER,
                    ...(place === undefined ? [] : ["taken"]),
                    ...(path?.next === id ? ["next"] : []),
                  ].join(" ")}
                  style={{ left: `${x - NODE.width / 2}px`, top: `${y - NODE.height / 2}px` }}
                  aria-pressed={id === shown}
                  tabIndex={id === shown ? 0 : -1}
                  title={`${kind} ${what}`}
                  onClick={() => choose(id)}
                >
                  <span class="kind">{kind}</span>
                  <span class="doing">{what}</span>
                  <Count numbers={numbers.get(id)} entered={id === TRIGGER ? stats?.entered : undefined} />
                </button>
              );
            })}
          </div>
        </div>
      </div>
    </>
  );
}

/** Names an arrow by what is at its two ends. */
function nameArrow(
  { from, to, branch }: { readonly from: string; readonly to: string; readonly branch: string | null },
  steps: ReadonlyMap<string, AutomationStep>,
  names: Names,
): string {
  const step = steps.get(from);
  const after = `after “${step ? sayStep(step, names) : "When"}”${branch === null ? "" : `, ${nameBranch(branch)}`}`;
  const next = steps.get(to);
  return next ? `${after}, before “${sayStep(next, names)}”` : after;
}

/** The lines between steps, with those that a contact took in another color. */
function Lines({ placed, taken }: { readonly placed: ReturnType<typeof place>; readonly taken: Taken | null }) {
  return (
    <svg width={placed.width} height={placed.height} aria-hidden="true">
      <defs>
        <ArrowHead id="arrow" />
        <ArrowHead id="arrow-taken" />
      </defs>
      {placed.edges.map(({ from, to, branch, path: line }) => {
        const on = isTaken(taken, from, branch);
        return (
          <path
            key={`${from} ${branch} ${to}`}
            class={on ? "edge taken" : "edge"}
            d={line}
            marker-end={on ? "url(#arrow-taken)" : "url(#arrow)"}
          />
        );
      })}
    </svg>
  );
}

function ArrowHead({ id }: { readonly id: "arrow" | "arrow-taken" }) {
  return (
    <marker
      id={id}
      class={id === "arrow" ? "" : "taken"}
      viewBox="0 0 8 8"
      refX={7}
      refY={4}
      markerWidth={8}
      markerHeight={8}
      markerUnits="userSpaceOnUse"
      orient="auto"
    >
      <path d="M0,0L8,4L0,8z" />
    </marker>
  );
}

function Count({ numbers, entered }: { readonly numbers: StepNumbers | undefined; readonly entered: number | undefined }) {
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

interface Taken {
  /** The place of each step on the path. */
  readonly order: ReadonlyMap<string, number>;
  readonly ways: ReadonlySet<string>;
}

function listTaken({ steps, next }: Path): Taken {
  const first = steps.length > 0 || next !== null ? [`${TRIGGER} null`] : [];
  return {
    order: new Map([[TRIGGER, 0], ...steps.map(({ stepId }, i): [string, number] => [stepId, i + 1])]),
    ways: new Set([
      ...first,
      ...steps.slice(0, next === null ? undefined : steps.length).map(({ stepId, branch }) => `${stepId} ${branch}`),
    ]),
  };
}

function isTaken(taken: Taken | null, from: string, branch: string | null): boolean {
  return taken?.ways.has(`${from} ${branch}`) ?? false;
}

/** The step that an arrow key leads to: the nearest in that direction. Down and up follow connections where there are some. */
function findNeighbor(
  nodes: readonly PlacedNode[],
  from: string,
  direction: "down" | "up" | "left" | "right",
  definition: Definition,
): string | null {
  const edges = listEdges(definition);
  if (direction === "down") return edges.find((edge) => edge.from === from && edge.to !== null)?.to ?? null;
  if (direction === "up") return edges.find(({ to }) => to === from)?.from ?? null;
  const here = nodes.find(({ id }) => id === from);
  if (!here) return null;
  const sign = direction === "right" ? 1 : -1;
  const [nearest] = nodes
    .filter(({ id, isEnd, x }) => !isEnd && id !== from && (x - here.x) * sign > 0)
    .map((node) => ({ node, distance: Math.abs(node.x - here.x) + 3 * Math.abs(node.y - here.y) }))
    .sort((a, b) => a.distance - b.distance);
  return nearest?.node.id ?? null;
}

/** The same steps one after the other, with where each leads. */
function FlowList({ definition, trigger, names, stats, path, chosen, choose }: Props) {
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
            </button>{" "}
            {step ? <code class="soft">{id}</code> : null}
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
