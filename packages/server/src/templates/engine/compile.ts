import { decodeAttribute, escapeHtml } from "../../html/escape.ts";
import { isSafeUrl } from "../../html/urls.ts";
import { MB } from "../../lib/units.ts";
import { HELPERS, HelperError, isTruthy, toText } from "./builtins.ts";
import type { Call, Expression, Node, PartialNode, Path, PutNode, Role, ScopeNode, SourceLocation } from "./tree.ts";

/** Limits of one rendering, so that no template and no variables can keep the server busy. */
export const BUDGET = {
  /** Nodes run, each round of a loop counted; 64 characters read by a helper count as one more. */
  steps: 500_000,
  /** Characters of output. */
  output: 2 * MB,
} as const;
// Names listed when variables are missing.
const MAX_MISSING = 100;

/** Thrown when rendering fails. The message is a whole sentence. */
export class RenderError extends Error {
  override name = "RenderError";
  readonly code: string;
  readonly at: SourceLocation | null;
  constructor(code: string, message: string, at: SourceLocation | null = null) {
    super(message);
    this.code = code;
    this.at = at;
  }
}

/** The value of a block, and the blocks around it. */
export interface Scope {
  value: unknown;
  readonly parent: Scope | null;
  /** The path the block was opened with; null for the variables themselves. */
  readonly about: Path | null;
  index: number;
  key: string | number;
  last: boolean;
  /** In a partial: the names its caller has for values that are missing here. */
  readonly aliases?: ReadonlyMap<string, string>;
}

/** One rendering. */
export interface Run {
  out: string;
  steps: number;
  readonly root: Scope;
  readonly missing: Set<string>;
  /** Names of variables that may be absent, with `[]` for every index. */
  readonly optional: ReadonlySet<string>;
  /** True to show missing values as written in the source, for previews. */
  readonly lenient: boolean;
}

export type Op = (scope: Scope, run: Run) => void;
type Eval = (scope: Scope, run: Run) => unknown;

/** Runs nodes one after the other. */
export function runAll(ops: readonly Op[], scope: Scope, run: Run): void {
  run.steps -= ops.length;
  if (run.steps < 0) failTooMuchWork(null);
  for (let i = 0; i < ops.length; i += 1) (ops[i] as Op)(scope, run);
}

/** Parts that a source includes. */
interface Includes {
  /** The nodes of a partial. */
  partial(slug: string, at: SourceLocation): readonly Op[];
  /** The content of a layout. */
  readonly body?: readonly Op[] | undefined;
}

/** Turns nodes into functions once; rendering only runs them. */
export function compileNodes(nodes: readonly Node[], role: Role, parts: Includes): readonly Op[] {
  return nodes.map((node) => compileNode(node, role, parts));
}

function failTooMuchWork(at: SourceLocation | null): never {
  throw new RenderError(
    "too_much_work",
    `Rendering takes more than ${BUDGET.steps.toLocaleString("en")} steps. Loop over fewer items.`,
    at,
  );
}

function failTooLong(): never {
  throw new RenderError("output_too_large", `The rendered text is longer than ${BUDGET.output / 1024 / 1024} MB.`);
}

function getOuterScope(scope: Scope, up: number): Scope {
  let at = scope;
  for (let i = 0; i < up && at.parent; i += 1) at = at.parent;
  return at;
}

/** A field of a value. Inherited fields are not read. */
function getField(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}

function getScopeName(scope: Scope): string {
  if (!scope.about || !scope.parent) return "";
  const name = getFullName(scope.about, scope.parent);
  return scope.index < 0 ? name : typeof scope.key === "number" ? `${name}[${scope.key}]` : `${name}.${scope.key}`;
}

function getFullName(path: Path, from: Scope): string {
  const scope = getOuterScope(from, path.up);
  const [head = "", ...rest] = path.names;
  const alias = path.from === "root" ? undefined : scope.aliases?.get(head);
  if (alias !== undefined) return [alias, ...rest].join(".");
  const base = path.from === "root" ? "" : getScopeName(scope);
  return [...(base === "" ? [] : [base]), ...path.names].join(".");
}

function recordMissing(path: Path, scope: Scope, run: Run): string {
  const name = getFullName(path, scope);
  if (name === "" || run.optional.has(name.replace(/\[\d+\]/g, "[]"))) return "";
  if (run.missing.size < MAX_MISSING) run.missing.add(name);
  return run.lenient ? `{{${path.text}}}` : "";
}

function readPath({ names, from, up }: Path): Eval {
  if (from === "index") return (scope) => getOuterScope(scope, up).index;
  if (from === "key") return (scope) => getOuterScope(scope, up).key;
  if (from === "first") return (scope) => getOuterScope(scope, up).index === 0;
  if (from === "last") return (scope) => getOuterScope(scope, up).last;
  const [only] = names;
  // The most frequent case: a name read from the block's value.
  if (from === "here" && up === 0 && names.length === 1 && only !== undefined) return (scope) => getField(scope.value, only);
  return (scope, run) => {
    let value = from === "root" ? run.root.value : getOuterScope(scope, up).value;
    for (const name of names) value = getField(value, name);
    return value;
  };
}

// Steps for reading a value: by the length of texts and lists.
function costOf(value: unknown): number {
  return typeof value === "string" ? value.length >> 6 : Array.isArray(value) ? value.length : 0;
}

function compileCall(call: Call, lenientContext: boolean): Eval {
  const helper = HELPERS.get(call.helper);
  if (!helper) throw new RenderError("unknown_helper", `There is no helper ${call.helper}.`, call.at);
  const args = call.args.map((arg) => compileExpression(arg, helper.lenient ?? false));
  const named = call.named.map(([name, value]) => [name, compileExpression(value, true)] as const);
  const [first] = call.args;
  const what = first?.kind === "path" ? first.text : call.helper;
  return (scope, run) => {
    const missing = run.missing.size;
    const values: unknown[] = [];
    let cost = helper.cost ?? 1;
    for (const arg of args) {
      const value = arg(scope, run);
      cost += costOf(value);
      values.push(value);
    }
    const options: Record<string, unknown> = {};
    for (const [name, value] of named) options[name] = value(scope, run);
    run.steps -= cost;
    if (run.steps < 0) failTooMuchWork(call.at);
    // A missing argument has been recorded, and there is nothing to compute.
    if (!helper.lenient && values.some((value) => value === undefined))
      return run.missing.size > missing && run.lenient && !lenientContext ? `{{${what}}}` : "";
    try {
      const result = helper.run(values, options);
      run.steps -= costOf(result);
      return result;
    } catch (error) {
      if (error instanceof HelperError) throw new RenderError("wrong_value", `{{${call.helper}}}: ${what} ${error.message}`, call.at);
      throw new RenderError("wrong_value", `{{${call.helper}}} cannot work with ${what}.`, call.at);
    }
  };
}

/** A function for the value of an expression. `lenient`: the value may be absent without being missing. */
function compileExpression(expression: Expression, lenient: boolean): Eval {
  if (expression.kind === "literal") return () => expression.value;
  if (expression.kind === "call") return compileCall(expression, lenient);
  const read = readPath(expression);
  if (lenient) return read;
  return (scope, run) => {
    const value = read(scope, run);
    if (value === undefined) recordMissing(expression, scope, run);
    return value;
  };
}

function toOutput(value: unknown, node: PutNode): string {
  try {
    return toText(value);
  } catch (error) {
    const what = node.value.kind === "path" ? node.value.text : "This";
    throw new RenderError("wrong_value", `${what} ${(error as Error).message}`, node.at);
  }
}

function compilePut(node: PutNode, role: Role): Op {
  const path = node.value.kind === "path" ? node.value : null;
  const read = path ? readPath(path) : compileExpression(node.value, false);
  const asItIs = role !== "html" || node.raw;
  const { address } = node;
  return (scope, run) => {
    let value = read(scope, run);
    if (value === undefined && path) value = recordMissing(path, scope, run);
    if (Array.isArray(value)) run.steps -= value.length;
    const text = typeof value === "string" ? value : toOutput(value, node);
    run.out += asItIs ? text : escapeHtml(text);
    if (address !== undefined) checkUrl(run, address, text, path?.text ?? "This", node.at);
    if (run.out.length > BUDGET.output) failTooLong();
  };
}

/** Throws RenderError when the address that the output ends with may not be linked to; `text` was written last. */
function checkUrl(run: Run, address: NonNullable<PutNode["address"]>, text: string, name: string, at: SourceLocation): void {
  // Searching a text that was just concatenated copies it.
  if (address === "continues") run.steps -= run.out.length >> 10;
  if (isSafeUrl(address === "begins" ? text : decodeAttribute(lastValue(run.out)))) return;
  throw new RenderError("unsafe_url", `${name} is not an address that a mail may link to. Use https, mailto, tel, sms or cid.`, at);
}

/** The attribute value that HTML ends with. Quotes and equals signs within values are escaped. */
function lastValue(html: string): string {
  const starts = ['"', "'"].map((quote) => html.lastIndexOf(quote)).filter((at) => /=\s*$/.test(html.slice(Math.max(0, at - 20), at)));
  return html.slice(Math.max(...starts, -1) + 1);
}

function compileEach(node: ScopeNode, role: Role, parts: Includes): Op {
  const read = compileExpression(node.value, node.hasElse);
  const about = node.value.kind === "path" ? node.value : null;
  const body = compileNodes(node.body, role, parts);
  const otherwise = compileNodes(node.otherwise, role, parts);
  return (parent, run) => {
    const value = read(parent, run);
    const list = Array.isArray(value) ? value : null;
    if (value !== null && value !== undefined && value !== "" && value !== false && typeof value !== "object")
      throw new RenderError("wrong_value", `${about?.text ?? "This"} is not a list.`, node.at);
    const keys = list || typeof value !== "object" || value === null ? null : Object.keys(value);
    const length = list ? list.length : (keys?.length ?? 0);
    if (length === 0) {
      runAll(otherwise, parent, run);
      return;
    }
    const cost = body.length + 1;
    if (length * cost > run.steps) failTooMuchWork(node.at);
    const scope: Scope = { value: undefined, parent, about, index: 0, key: 0, last: false };
    for (let i = 0; i < length; i += 1) {
      const key = keys ? (keys[i] as string) : i;
      scope.value = list ? list[i] : getField(value, key as string);
      scope.index = i;
      scope.key = key;
      scope.last = i === length - 1;
      run.steps -= 1;
      runAll(body, scope, run);
    }
  };
}

function compileWith(node: ScopeNode, role: Role, parts: Includes): Op {
  const read = compileExpression(node.value, node.hasElse);
  const about = node.value.kind === "path" ? node.value : null;
  const body = compileNodes(node.body, role, parts);
  const otherwise = compileNodes(node.otherwise, role, parts);
  return (parent, run) => {
    const value = read(parent, run);
    if (isTruthy(value) || value === 0) runAll(body, { value, parent, about, index: -1, key: 0, last: false }, run);
    else runAll(otherwise, parent, run);
  };
}

function compilePartial(node: PartialNode, parts: Includes): Op {
  const op = compileInclusion(node, parts);
  if (node.indent === "") return op;
  return (scope, run) => {
    const start = run.out.length;
    op(scope, run);
    // Cutting a text that was just concatenated copies it.
    run.steps -= (run.out.length >> 10) + ((run.out.length - start) >> 6);
    if (run.steps < 0) failTooMuchWork(node.at);
    run.out = run.out.slice(0, start) + indentLines(run.out.slice(start), node.indent);
    if (run.out.length > BUDGET.output) failTooLong();
  };
}

/** Begins each line with `indent`, but for what follows the last line break, as Handlebars does. */
function indentLines(text: string, indent: string): string {
  return text === "" ? "" : indent + text.replace(/\n(?!$)/g, `\n${indent}`);
}

function compileInclusion(node: PartialNode, parts: Includes): Op {
  const ops = parts.partial(node.slug, node.at);
  if (node.named.length === 0) return (scope, run) => runAll(ops, scope, run);
  const named = node.named.map(([name, value]) => [name, compileExpression(value, true), value] as const);
  return (scope, run) => {
    const value: Record<string, unknown> = typeof scope.value === "object" && scope.value !== null ? { ...scope.value } : {};
    // Each copied field counts.
    run.steps -= Object.keys(value).length;
    if (run.steps < 0) failTooMuchWork(node.at);
    const aliases = new Map(scope.aliases);
    for (const [name, read, expression] of named) {
      const given = read(scope, run);
      aliases.delete(name);
      if (given === undefined) {
        delete value[name];
        if (expression.kind === "path") aliases.set(name, getFullName(expression, scope));
      } else value[name] = given;
    }
    runAll(ops, { ...scope, value, aliases }, run);
  };
}

function compileNode(node: Node, role: Role, parts: Includes): Op {
  switch (node.kind) {
    case "text": {
      const { text } = node;
      return (_scope, run) => {
        run.out += text;
        if (run.out.length > BUDGET.output) failTooLong();
      };
    }
    case "put":
      return compilePut(node, role);
    case "if": {
      const test = compileExpression(node.test, true);
      const then = compileNodes(node.body, role, parts);
      const otherwise = compileNodes(node.otherwise, role, parts);
      return (scope, run) => runAll(isTruthy(test(scope, run)) ? then : otherwise, scope, run);
    }
    case "each":
      return compileEach(node, role, parts);
    case "with":
      return compileWith(node, role, parts);
    case "partial":
      return compilePartial(node, parts);
    case "body": {
      const body = parts.body ?? [];
      return (_scope, run) => runAll(body, run.root, run);
    }
  }
}
