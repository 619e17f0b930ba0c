import { Graph, layout } from "@dagrejs/dagre";
import { type Definition, listEdges, TRIGGER } from "./definition.ts";

interface Point {
  readonly x: number;
  readonly y: number;
}

/** Center and size of a step, px. */
export interface PlacedNode extends Point {
  /** The id of the step, `trigger`, or the end of a branch that leads nowhere. */
  readonly id: string;
  readonly isEnd: boolean;
}

/** A way from one step to another. */
interface PlacedEdge {
  readonly from: string;
  readonly to: string;
  readonly branch: string | null;
  /** Value for the `d` of an SVG path. */
  readonly path: string;
  readonly label: Point | null;
  /** A point on its last part, clear of its label. */
  readonly middle: Point;
}

interface Placed {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
}

/** The size of a step in `style/automations.css`, px. */
export const NODE = { width: 216, height: 72 };
const END = { width: 64, height: 24 };
const LABEL = { width: 110, height: 22 };
const MARGIN = 12;
// dagre keeps its nodes in plain objects, where a step called "constructor" would be there already.
const toNode = (id: string): string => `#${id}`;
const toName = (branch: string | null): string => (branch === null ? "only" : toNode(branch));
const toId = (node: string): string => node.slice(1);

/** Places the steps of an automation in layers, from the trigger down. */
export function place(definition: Definition): Placed {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: "TB", nodesep: 44, edgesep: 24, ranksep: 52, marginx: MARGIN, marginy: MARGIN });
  for (const id of [TRIGGER, ...definition.steps.map(({ id }) => id)]) graph.setNode(toNode(id), { ...NODE });
  const edges = listEdges(definition).map((edge) => ({
    ...edge,
    to: edge.to ?? `end ${edge.from} ${edge.branch}`,
    isEnd: edge.to === null,
  }));
  for (const { from, to, branch, isEnd } of edges) {
    if (isEnd) graph.setNode(toNode(to), { ...END });
    graph.setEdge(toNode(from), toNode(to), branch === null ? {} : { ...LABEL, labelpos: "c" }, toName(branch));
  }
  layout(graph);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  const at = (id: string): Point => graph.node(toNode(id)) as unknown as Point;
  return {
    width,
    height,
    nodes: graph
      .nodes()
      .map((node: string) => toId(node))
      .map((id: string) => ({ id, isEnd: edges.some(({ to, isEnd }) => isEnd && to === id), x: at(id).x, y: at(id).y })),
    edges: edges.map(({ from, to, branch }) => {
      const { points, x, y } = graph.edge(toNode(from), toNode(to), toName(branch)) as unknown as {
        points: readonly Point[];
        x?: number;
        y?: number;
      };
      const label = branch === null || x === undefined || y === undefined ? null : { x, y };
      return { from, to, branch, path: toPath(points), label, middle: findMiddle(points, label) };
    }),
  };
}

/** The middle of an arrow; of one with a label, a point between the label and its head. */
function findMiddle(points: readonly Point[], label: Point | null): Point {
  const last = points.at(-1) ?? { x: 0, y: 0 };
  const from = label ?? points[0] ?? last;
  const share = label === null ? 0.5 : 0.62;
  return { x: round(from.x + (last.x - from.x) * share), y: round(from.y + (last.y - from.y) * share) };
}

/** A line through points, with rounded corners. */
function toPath(points: readonly Point[]): string {
  const [first, ...rest] = points;
  const last = rest.at(-1);
  if (!first || !last) return "";
  const corners = rest.slice(0, -1).map((point, i) => {
    const next = rest[i + 1] ?? last;
    return `Q${round(point.x)},${round(point.y)} ${round((point.x + next.x) / 2)},${round((point.y + next.y) / 2)}`;
  });
  return `M${round(first.x)},${round(first.y)}${corners.join("")}L${round(last.x)},${round(last.y)}`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
