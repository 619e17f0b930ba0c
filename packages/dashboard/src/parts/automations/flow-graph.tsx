/** @jsxImportSource preact */
import type { AutomationStep } from "@mailsvc/sdk/contract";
import { Fragment, type RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { formatCount } from "../plural.ts";
import { type Definition, listEdges, TRIGGER } from "./definition.ts";
import { Count, type FlowProps, isTaken, listTaken, type Taken } from "./flow-list.tsx";
import { NODE, type PlacedNode, place } from "./layout.ts";
import { describeStep, type Names, nameBranch, sayOccurrence, sayStep } from "./words.ts";

// Scales of the graph.
const STEPS = [0.4, 0.5, 0.65, 0.8, 1, 1.25, 1.5] as const;
const SMALLEST = STEPS[0];

const MOVES: Readonly<Record<string, "down" | "up" | "left" | "right">> = {
  ArrowDown: "down",
  ArrowUp: "up",
  ArrowLeft: "left",
  ArrowRight: "right",
};

/** The steps in layers, with arrows between them. */
export function FlowGraph({ definition, trigger, names, stats, path, chosen, choose, onArrow }: FlowProps) {
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

interface Zoom {
  readonly scale: number;
  in(): void;
  out(): void;
  fit(): void;
  /** Zooms by a key: + and -, and 0 for fitting in. False for another one. */
  press(key: string): boolean;
}

/** The scale of a graph within the element that scrolls it. A graph that is wider is fitted in at first. */
function useZoom(area: RefObject<HTMLElement | null>, { width, height }: { readonly width: number; readonly height: number }): Zoom {
  const [scale, setScale] = useState(1);
  const room = () => area.current?.closest<HTMLElement>(".flow-area");
  useLayoutEffect(() => {
    const wide = room()?.clientWidth ?? width;
    // Smaller than this, words cannot be read: then it is scrolled.
    if (wide > 0 && wide < width) setScale(Math.max(0.65, Math.min(1, wide / width)));
  }, []);
  const zoom = {
    scale,
    in: () => setScale(STEPS.find((step) => step > scale + 0.01) ?? scale),
    out: () => setScale(STEPS.findLast((step) => step < scale - 0.01) ?? scale),
    fit: () => {
      const { clientWidth = width, clientHeight = height } = room() ?? {};
      setScale(Math.max(SMALLEST, Math.min(1, clientWidth / width, clientHeight / height)));
    },
  };
  const press = (key: string): boolean => {
    const act = { "+": zoom.in, "=": zoom.in, "-": zoom.out, "0": zoom.fit }[key];
    act?.();
    return act !== undefined;
  };
  return { ...zoom, press };
}

function ZoomBar({ zoom }: { readonly zoom: Zoom }) {
  return (
    <fieldset class="toggles zoom">
      <legend class="hidden">Zoom</legend>
      <button type="button" aria-label="Zoom out" disabled={zoom.scale <= SMALLEST} onClick={zoom.out}>
        −
      </button>
      <output aria-label="Zoom">{Math.round(zoom.scale * 100)} %</output>
      <button type="button" aria-label="Zoom in" disabled={zoom.scale >= 1.5} onClick={zoom.in}>
        +
      </button>
      <button type="button" onClick={zoom.fit}>
        Fit
      </button>
    </fieldset>
  );
}
