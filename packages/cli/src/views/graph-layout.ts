import { type AutomationDefinition, type AutomationStep, listBranches, TRIGGER_STEP } from "@mailsvc/sdk/contract";

/** A line of the drawing of an automation. */
export type GraphLine = { readonly indent: string } & (
  | { readonly kind: "trigger" }
  | { readonly kind: "step"; readonly step: AutomationStep }
  /** A branch of a step; `to` where it joins a step that is drawn elsewhere, null where the path ends. */
  | {
      readonly kind: "branch";
      readonly stepId: string;
      readonly name: string;
      readonly to: string | null | undefined;
      readonly back: boolean;
    }
  /** The way on leads to a step that is drawn below, or was drawn above. */
  | { readonly kind: "jump"; readonly to: string; readonly back: boolean }
);

/**
 * Lays a definition out as lines from top to bottom: a step below the one it follows, branches indented below their step. The drawing
 * continues without an indent after branches meet again, or if all but one of them are shorter.
 */
export function layOutGraph({ steps, connections }: AutomationDefinition): GraphLine[] {
  return new Layout(steps, connections).draw();
}

class Layout {
  readonly #steps: ReadonlyMap<string, AutomationStep>;
  readonly #next = new Map<string, string>();
  readonly #drawn = new Set<string>();
  readonly #lines: GraphLine[] = [{ kind: "trigger", indent: "" }];

  constructor(steps: AutomationDefinition["steps"], connections: AutomationDefinition["connections"]) {
    this.#steps = new Map(steps.map((step) => [step.id, step]));
    for (const { from, to, branch } of connections) this.#next.set(keyOf(from, branch), to);
  }

  draw(): GraphLine[] {
    this.#drawChain(this.#next.get(keyOf(TRIGGER_STEP)), "", new Set());
    return this.#lines;
  }

  /** Draws the steps from one on, up to those in `later`, which are drawn further below. */
  #drawChain(first: string | undefined, indent: string, later: ReadonlySet<string>): void {
    for (let id = first; id !== undefined; ) {
      const step = this.#steps.get(id);
      if (!step || later.has(id) || this.#drawn.has(id)) {
        this.#lines.push({ kind: "jump", indent, to: id, back: this.#drawn.has(id) });
        return;
      }
      this.#drawn.add(id);
      this.#lines.push({ kind: "step", indent, step });
      const branches = listBranches(step);
      id = branches === null ? this.#next.get(keyOf(id)) : this.#drawBranches(step, branches, indent, later);
    }
  }

  /** Draws the branches of a step. Returns the step with which the drawing goes on below them. */
  #drawBranches({ id }: AutomationStep, names: readonly string[], indent: string, later: ReadonlySet<string>): string | undefined {
    const ways = names.map((name) => ({ name, to: this.#next.get(keyOf(id, name)) }));
    const trunk = this.#chooseTrunk(
      ways.flatMap(({ to }) => (to === undefined ? [] : [to])),
      later,
    );
    const below = new Set(trunk === undefined ? later : [...later, trunk]);
    for (const [i, { name, to }] of ways.entries()) {
      const back = to !== undefined && this.#drawn.has(to);
      const isElsewhere = to === undefined || back || below.has(to);
      const isLast = trunk === undefined && i === ways.length - 1;
      const target = isElsewhere ? (to ?? null) : undefined;
      this.#lines.push({ kind: "branch", indent: `${indent}${isLast ? "╰" : "├"}─ `, stepId: id, name, to: target, back });
      if (!isElsewhere) this.#drawChain(to, `${indent}${isLast ? " " : "│"}  `, below);
    }
    return trunk;
  }

  /** The nearest step at which branches meet; otherwise the beginning of the longest one, if there is a longest. */
  #chooseTrunk(starts: readonly string[], later: ReadonlySet<string>): string | undefined {
    const reached = starts.map((start) => this.#reach(start, later));
    const [nearest] = reached
      .flatMap((own, i) =>
        [...own].flatMap(([id, distance]) => (reached.some((other, j) => j !== i && other.has(id)) ? [{ id, distance }] : [])),
      )
      .sort((a, b) => this.#far(reached, a.id) - this.#far(reached, b.id));
    if (nearest) return nearest.id;
    const sizes = reached.map(({ size }) => size);
    const longest = Math.max(0, ...sizes);
    return longest > 0 && sizes.filter((size) => size === longest).length === 1 ? starts[sizes.indexOf(longest)] : undefined;
  }

  #far(reached: readonly ReadonlyMap<string, number>[], id: string): number {
    return Math.max(...reached.map((own) => own.get(id) ?? 0));
  }

  /** The steps that are reached from one and not drawn elsewhere, with the number of steps on the way. */
  #reach(start: string, later: ReadonlySet<string>): Map<string, number> {
    const found = new Map<string, number>();
    const queue: [string, number][] = [[start, 0]];
    for (const [id, distance] of queue) {
      const step = this.#steps.get(id);
      if (!step || found.has(id) || later.has(id) || this.#drawn.has(id)) continue;
      found.set(id, distance);
      for (const branch of listBranches(step) ?? [undefined]) {
        const to = this.#next.get(keyOf(id, branch));
        if (to !== undefined) queue.push([to, distance + 1]);
      }
    }
    return found;
  }
}

function keyOf(from: string, branch?: string): string {
  return branch === undefined ? from : `${from}:${branch}`;
}
