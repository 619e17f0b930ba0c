import { HELPERS } from "./builtins.ts";
import type { Expression, Node, Path, Tree } from "./tree.ts";
import { SourceFaults } from "./tree.ts";

export type VariableType = "string" | "number" | "boolean" | "date" | "array" | "object" | "html";

/** A variable as its author declared it. */
export interface Declared {
  readonly name: string;
  readonly type?: VariableType | undefined;
  readonly required?: boolean | undefined;
  readonly default?: unknown;
  readonly description?: string | undefined;
}

/** A variable of a template. `items[].name` is a field of each item of the list `items`. */
export interface Variable {
  name: string;
  type: VariableType;
  required: boolean;
  default: unknown;
  description: string | null;
}

/** Use of a variable in one place. */
interface Use {
  type: VariableType | "any";
  required: boolean;
  default?: unknown;
}

/** The scope of a block, by the name of its variable; null where it is none. */
interface Scope {
  readonly name: string | null;
  readonly parent: Scope | null;
  /** In a partial: the names its caller has for these values. */
  readonly given?: ReadonlyMap<string, string | null>;
  readonly loop: boolean;
}

// Nodes visited; a partial counts each time it is used.
const MAX_NODES = 100_000;
const MAX_VARIABLES = 500;

// The use of a variable with the highest rank decides its type.
const RANK: Readonly<Record<Use["type"], number>> = { any: 0, boolean: 1, string: 2, html: 3, number: 4, date: 4, object: 5, array: 6 };

class Collector {
  readonly uses = new Map<string, Use>();
  readonly #partial: (slug: string) => Tree | undefined;
  #left = MAX_NODES;

  constructor(partial: (slug: string) => Tree | undefined) {
    this.#partial = partial;
  }

  #note(name: string | null, use: Use): void {
    if (name === null || name === "") return;
    const before = this.uses.get(name);
    if (!before) {
      if (this.uses.size < MAX_VARIABLES) this.uses.set(name, { ...use });
      return;
    }
    if (RANK[use.type] > RANK[before.type]) before.type = use.type;
    before.required ||= use.required;
    before.default ??= use.default;
  }

  #nameOf(path: Path, from: Scope): string | null {
    if (path.from !== "here" && path.from !== "root") return null;
    let scope: Scope | null = from;
    for (let i = 0; i < path.up && scope; i += 1) scope = scope.parent;
    if (path.from === "root") return path.names.join(".");
    if (!scope) return null;
    const [head = "", ...rest] = path.names;
    if (scope.given?.has(head)) {
      const given = scope.given.get(head) ?? null;
      return given === null ? null : [given, ...rest].join(".");
    }
    if (scope.name === null) return null;
    return [...(scope.name === "" ? [] : [scope.name]), ...path.names].join(".");
  }

  #expression(expression: Expression, scope: Scope, use: Use): void {
    if (expression.kind === "path") this.#note(this.#nameOf(expression, scope), use);
    if (expression.kind !== "call") return;
    const helper = HELPERS.get(expression.helper);
    const required = use.required && !helper?.lenient;
    const [first, second] = expression.args;
    expression.args.forEach((arg, i) => {
      const fallback = expression.helper === "default" && arg === first && second?.kind === "literal" ? { default: second.value } : {};
      this.#expression(arg, scope, { type: i === 0 ? (helper?.takes ?? "any") : "any", required, ...fallback });
    });
    for (const [, value] of expression.named) this.#expression(value, scope, { type: "any", required: false });
  }

  walk(nodes: readonly Node[], scope: Scope, sure: boolean): void {
    for (const node of nodes) {
      this.#left -= 1;
      if (this.#left < 0)
        throw new SourceFaults([
          { line: 1, column: 1, code: "too_large", message: "The template is too large together with its partials." },
        ]);
      this.#node(node, scope, sure);
    }
  }

  #node(node: Node, scope: Scope, sure: boolean): void {
    switch (node.kind) {
      case "put":
        this.#expression(node.value, scope, { type: node.raw ? "html" : "string", required: sure });
        return;
      case "if":
        this.#expression(node.test, scope, { type: "boolean", required: false });
        this.walk(node.body, scope, false);
        this.walk(node.otherwise, scope, false);
        return;
      case "each":
      case "with": {
        const needed = sure && !node.hasElse;
        this.#expression(node.value, scope, { type: node.kind === "each" ? "array" : "object", required: needed });
        const name = node.value.kind === "path" ? this.#nameOf(node.value, scope) : null;
        const inner = { name: name === null ? null : node.kind === "each" ? `${name}[]` : name, parent: scope, loop: node.kind === "each" };
        // Within a loop, a field is required for each item.
        this.walk(node.body, inner, node.kind === "each" ? true : needed);
        this.walk(node.otherwise, scope, false);
        return;
      }
      case "partial": {
        const tree = this.#partial(node.slug);
        if (!tree) return;
        if (node.named.length === 0) {
          this.walk(tree.nodes, scope, sure);
          return;
        }
        const given = new Map(scope.given);
        for (const [name, value] of node.named) {
          given.set(name, value.kind === "path" ? this.#nameOf(value, scope) : null);
          if (value.kind === "call") this.#expression(value, scope, { type: "any", required: false });
        }
        this.walk(tree.nodes, { ...scope, given }, sure);
        return;
      }
      default:
        return;
    }
  }
}

const ROOT: Scope = { name: "", parent: null, loop: false };

/**
 * The variables of a template: those it uses, in order of first use, completed by their declarations, then those that are
 * only declared. A variable is required when declared so, or when it is output whatever the other values are.
 */
export function collectVariables(
  trees: readonly Tree[],
  partial: (slug: string, role: Tree["role"]) => Tree | undefined,
  declared: readonly Declared[],
): Variable[] {
  const uses = new Map<string, Use>();
  for (const tree of trees) {
    const collector = new Collector((slug) => partial(slug, tree.role));
    collector.uses.clear();
    collector.walk(tree.nodes, ROOT, true);
    for (const [name, use] of collector.uses) {
      const before = uses.get(name);
      uses.set(name, {
        type: before && RANK[before.type] >= RANK[use.type] ? before.type : use.type,
        required: (before?.required ?? false) || use.required,
        default: before?.default ?? use.default,
      });
    }
  }
  const said = new Map(declared.map((one) => [one.name, one]));
  const names = [...new Set([...uses.keys(), ...said.keys()])];
  // `{{#with user}}{{name}}` needs user.name; listing user as an object would add nothing.
  const shown = names.filter(
    (name) => said.has(name) || uses.get(name)?.type === "array" || !names.some((other) => other.startsWith(`${name}.`)),
  );
  return shown.map((name) => resolveVariable(name, uses.get(name), said.get(name)));
}

/** A variable from its use and its declaration. */
function resolveVariable(name: string, use: Use | undefined, said: Declared | undefined): Variable {
  const fallback = said?.default ?? (use?.required ? undefined : use?.default);
  return {
    name,
    type: said?.type ?? (use === undefined || use.type === "any" ? "string" : use.type),
    required: said?.required ?? (said ? fallback === undefined && use?.required !== false : (use?.required ?? false)),
    default: fallback ?? null,
    description: said?.description ?? null,
  };
}
