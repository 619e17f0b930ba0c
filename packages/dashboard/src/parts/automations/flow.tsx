/** @jsxImportSource preact */
import { useEffect, useState } from "preact/hooks";
import { Loading } from "../empty.tsx";
import { FlowList, type FlowProps } from "./flow-list.tsx";

/** An automation as a graph, or as a list of the same steps. */
export function Flow(props: FlowProps) {
  // A graph is wider than a phone.
  const [view, setView] = useState<"graph" | "list">(() => (matchMedia("(max-width: 720px)").matches ? "list" : "graph"));
  const Graph = useGraph(view === "graph");
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
      {view === "list" || Graph === "failed" ? <FlowList {...props} /> : Graph === null ? <Loading /> : <Graph {...props} />}
    </section>
  );
}

/** Loads the graph once it is to be shown, because it is large; null meanwhile. */
function useGraph(isShown: boolean): typeof import("./flow-graph.tsx").FlowGraph | "failed" | null {
  const [graph, setGraph] = useState<typeof import("./flow-graph.tsx") | "failed" | null>(null);
  useEffect(() => {
    if (!isShown || graph !== null) return;
    import("./flow-graph.tsx").then(setGraph, () => setGraph("failed"));
  }, [isShown]);
  return graph === null || graph === "failed" ? graph : graph.FlowGraph;
}
