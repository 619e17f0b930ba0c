import type { RuleOperator, SegmentCondition, SegmentRule } from "@mailsvc/sdk/contract";
import { RULE_LIMITS } from "@mailsvc/sdk/contract/facts";
import { type Details, isComplete, isNarrowed, pickDetails } from "./values.ts";

/** Combination of a group's rules. The last two are `not` around a group. */
export type Mode = "all" | "any" | "none" | "notAll";

/** A group while it is edited. */
export interface GroupNode {
  readonly kind: "group";
  /** Unique in the tree; it stays when the rule changes. */
  readonly id: number;
  readonly mode: Mode;
  readonly nodes: readonly RuleNode[];
}

/** A condition while it is edited; its value may be missing yet. */
export interface ConditionNode {
  readonly kind: "condition";
  readonly id: number;
  readonly field: string;
  readonly operator: RuleOperator;
  readonly value: SegmentCondition["value"];
  /** Further parts of a condition on what people did. */
  readonly details: Details;
}

export type RuleNode = GroupNode | ConditionNode;

/** A rule, and which part of the tree stands at each of its places, by paths such as `rules.all[2]`. */
interface BuiltRule {
  readonly rule: SegmentRule;
  readonly places: ReadonlyMap<string, number>;
}

const INNER = { all: "all", any: "any", none: "any", notAll: "all" } as const;

/** The rule that a tree stands for. */
export function buildRule(root: GroupNode): BuiltRule {
  const places = new Map<string, number>();
  const build = (node: RuleNode, path: string): SegmentRule => {
    places.set(path, node.id);
    if (node.kind === "condition") {
      const { field, operator, value, details } = node as ConditionNode & { field: SegmentCondition["field"] };
      return { field, operator, value, ...details };
    }
    const { mode, nodes } = node;
    const inner = INNER[mode];
    const [only] = nodes;
    const negated = isNegated(node);
    // A group within `not` would be read as the group that is negated.
    if (negated && only && nodes.length === 1 && (only.kind === "condition" || isNegated(only))) return { not: build(only, `${path}.not`) };
    const at = negated ? `${path}.not` : path;
    const rules = nodes.map((one, i) => build(one, `${at}.${inner}[${i}]`));
    const group = inner === "all" ? { all: rules } : { any: rules };
    return negated ? { not: group } : group;
  };
  return { rule: build(root, "rules"), places };
}

/** The tree of a rule. Its root is a group, so that there is always a place for another condition. */
export function parseRule(rule: SegmentRule): GroupNode {
  let id = 0;
  const parse = (one: SegmentRule): RuleNode => {
    id += 1;
    const mine = id;
    const group = (mode: Mode, rules: readonly SegmentRule[]): GroupNode => ({ kind: "group", id: mine, mode, nodes: rules.map(parse) });
    if ("all" in one) return group("all", one.all);
    if ("any" in one) return group("any", one.any);
    if ("not" in one) {
      if ("any" in one.not) return group("none", one.not.any);
      if ("all" in one.not) return group("notAll", one.not.all);
      return group("none", [one.not]);
    }
    return {
      kind: "condition",
      id: mine,
      field: one.field,
      operator: one.operator,
      value: one.value,
      details: pickDetails(one, one.field),
    };
  };
  const root = parse(rule);
  return root.kind === "group" ? root : { kind: "group", id: 0, mode: "all", nodes: [root] };
}

/** The tree with one of its nodes replaced; without it when `change` answers null. */
export function changeNode(root: GroupNode, id: number, change: (node: RuleNode) => RuleNode | null): GroupNode {
  const visit = (node: RuleNode): RuleNode[] => {
    if (node.id === id) {
      const next = change(node);
      return next === null ? [] : [next];
    }
    return [node.kind === "group" ? { ...node, nodes: node.nodes.flatMap(visit) } : node];
  };
  const [next] = visit(root);
  return next?.kind === "group" ? next : root;
}

/** An id that no node of the tree has. */
export function nextId(root: GroupNode): number {
  const ids = (node: RuleNode): number[] => [node.id, ...(node.kind === "group" ? node.nodes.flatMap(ids) : [])];
  return Math.max(...ids(root)) + 1;
}

/** The conditions of a tree. */
export function listConditions(node: RuleNode): ConditionNode[] {
  return node.kind === "condition" ? [node] : node.nodes.flatMap(listConditions);
}

/** Returns the number of rule levels that a group uses. */
export function countLevels(group: GroupNode): number {
  return isNegated(group) ? 2 : 1;
}

function isNegated({ mode }: GroupNode): boolean {
  return mode === "none" || mode === "notAll";
}

/** True if a group may hold another one; `depth` is its own level, from 0. */
export function mayNest(group: GroupNode, depth: number): boolean {
  return depth + countLevels(group) < RULE_LIMITS.depth;
}

/** True if every condition has its value, and every group a condition. */
export function isWhole(node: RuleNode): boolean {
  return node.kind === "condition" ? isComplete(node) && isNarrowed(node.details) : node.nodes.length > 0 && node.nodes.every(isWhole);
}
