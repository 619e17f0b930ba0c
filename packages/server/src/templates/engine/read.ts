import { HELPERS } from "./builtins.ts";
import { type Parse, parseSource } from "./parser.ts";
import type { Call, Expression, Fault, Literal, Node, Path, Role, SourceLocation, Tree } from "./tree.ts";
import { SourceFaults } from "./tree.ts";

/** The form of a slug, and so of a partial's name. */
const SLUG = /^[a-z0-9]+(?:[-_][a-z0-9]+)*$/;

/** Options for reading a source. */
interface Reading {
  readonly role: Role;
  /** True for a layout, which contains `{{{body}}}`. */
  readonly layout?: boolean;
  /** Variables declared with the type `html`, which may be written with three braces. */
  readonly htmlVariables?: ReadonlySet<string>;
}

const BLOCKS: ReadonlySet<string> = new Set(["if", "unless", "each", "with"]);
// Names that lead to a value's prototype. Lookups read own fields only, so they would find nothing; a template that uses
// them is refused because it is an attack or a misunderstanding.
const PROTOTYPE_NAME = /^(?:prototype|constructor|__.*__)$/;
const MAX_FAULTS = 20;
const MAX_PATH = 20;
const MAX_CALLS = 8;

interface Scope {
  readonly block: "root" | "each" | "with";
  readonly names: readonly string[];
}

/** Converts the syntax tree of one source into ours, and collects everything in it that is not allowed. */
class Reader {
  readonly faults: Fault[] = [];
  readonly partials = new Set<string>();
  readonly #reading: Reading;
  #scopes: readonly Scope[] = [{ block: "root", names: [] }];
  bodies = 0;

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  #fault(node: hbs.AST.Node, code: string, message: string): void {
    if (this.faults.length < MAX_FAULTS) this.faults.push({ ...toSourceLocation(node), code, message });
  }

  nodes(program: hbs.AST.Program | undefined): Node[] {
    const out: Node[] = [];
    for (const statement of program?.body ?? []) {
      const node = this.#statement(statement);
      const last = out.at(-1);
      if (node?.kind === "text" && last?.kind === "text") out[out.length - 1] = { kind: "text", text: last.text + node.text };
      else if (node && !(node.kind === "text" && node.text === "")) out.push(node);
    }
    return out;
  }

  #statement(statement: hbs.AST.Statement): Node | null {
    switch (statement.type) {
      case "ContentStatement":
        return { kind: "text", text: (statement as hbs.AST.ContentStatement).value };
      case "CommentStatement":
        return null;
      case "MustacheStatement":
        return this.#put(statement as hbs.AST.MustacheStatement);
      case "BlockStatement":
        return this.#block(statement as hbs.AST.BlockStatement);
      case "PartialStatement":
        return this.#partial(statement as hbs.AST.PartialStatement);
      case "PartialBlockStatement":
        this.#fault(statement, "not_allowed", "{{#> …}} is not supported. Give the template a layout, or write {{> slug}}.");
        return null;
      default:
        this.#fault(statement, "not_allowed", "Decorators ({{* …}}) are not supported.");
        return null;
    }
  }

  #put(node: hbs.AST.MustacheStatement): Node | null {
    const at = toSourceLocation(node);
    const raw = !node.escaped;
    if (node.path.type !== "PathExpression") {
      this.#fault(node, "not_allowed", "Write a fixed text or number without braces.");
      return null;
    }
    const path = node.path as hbs.AST.PathExpression;
    if (this.#reading.layout && path.original === "body" && node.params.length === 0) return this.#body(node, raw);
    const value = isCall(node) ? this.#call(node, 0) : this.#path(path);
    if (!value) return null;
    if (raw && this.#reading.role === "html" && !this.#mayBeRaw(value))
      this.#fault(
        node,
        "unescaped",
        `{{{${path.original}}}} would output a value without escaping. Write {{${path.original}}}, or declare the variable with the type html.`,
      );
    return { kind: "put", value, raw, at };
  }

  #mayBeRaw(value: Expression): boolean {
    if (value.kind !== "path" || this.#scopes.some((s) => s.block !== "root")) return false;
    return this.#reading.htmlVariables?.has(value.names.join(".")) ?? false;
  }

  #body(node: hbs.AST.MustacheStatement, raw: boolean): Node | null {
    this.bodies += 1;
    if (this.#scopes.length > 1) this.#fault(node, "not_allowed", "{{{body}}} cannot be inside a block. Move it out of the block.");
    if (!raw && this.#reading.role === "html")
      this.#fault(node, "escaped_body", "Write {{{body}}} with three braces, since the content is HTML.");
    return { kind: "body", at: toSourceLocation(node) };
  }

  #block(node: hbs.AST.BlockStatement): Node | null {
    const at = toSourceLocation(node);
    const name = node.path.original;
    if (!BLOCKS.has(name)) {
      const known = HELPERS.has(name)
        ? `${name} is not a block. Write {{${name} …}}.`
        : `Unknown block {{#${name}}}. Use if, unless, each or with.`;
      this.#fault(node, "unknown_helper", known);
      return null;
    }
    if (node.params.length !== 1 || (node.hash?.pairs.length ?? 0) > 0) {
      this.#fault(node, "wrong_arguments", `{{#${name}}} takes one value.`);
      return null;
    }
    const value = this.#expression(node.params[0] as hbs.AST.Expression, 0);
    if (name === "if" || name === "unless") {
      const body = this.nodes(node.program);
      const otherwise = this.nodes(node.inverse);
      if (!value) return null;
      return name === "if"
        ? { kind: "if", test: value, body, otherwise, at }
        : { kind: "if", test: value, body: otherwise, otherwise: body, at };
    }
    const outer = this.#scopes;
    const names = node.program?.blockParams ?? [];
    for (const one of names)
      if (PROTOTYPE_NAME.test(one) || one === "this") this.#fault(node, "prototype", `An item cannot be named ${one}.`);
    this.#scopes = [...outer, { block: name as "each" | "with", names }];
    const body = this.nodes(node.program);
    this.#scopes = outer;
    const otherwise = this.nodes(node.inverse);
    return value && { kind: name as "each" | "with", value, body, otherwise, hasElse: node.inverse !== undefined, at };
  }

  #partial(node: hbs.AST.PartialStatement): Node | null {
    const at = toSourceLocation(node);
    const slug = node.name.type === "SubExpression" ? "" : String((node.name as hbs.AST.PathExpression).original);
    if (!SLUG.test(slug)) {
      const message =
        node.name.type === "SubExpression"
          ? "Name a partial by its slug; it cannot be chosen while rendering."
          : `${JSON.stringify(slug.slice(0, 60))} is not a valid slug of a partial.`;
      this.#fault(node, "not_allowed", message);
      return null;
    }
    if (this.#reading.role === "subject") this.#fault(node, "not_allowed", "A subject cannot use partials.");
    if (node.params.length > 0)
      this.#fault(node, "wrong_arguments", `{{> ${slug}}} takes values by name, as in {{> ${slug} title=order.title}}.`);
    this.partials.add(slug);
    return { kind: "partial", slug, named: this.#named(node.hash, 0), indent: node.indent, at };
  }

  #expression(node: hbs.AST.Expression, depth: number): Expression | null {
    switch (node.type) {
      case "PathExpression":
        return this.#path(node as hbs.AST.PathExpression);
      case "SubExpression":
        return this.#call(node as hbs.AST.SubExpression, depth + 1);
      case "StringLiteral":
      case "NumberLiteral":
      case "BooleanLiteral":
        return { kind: "literal", value: (node as hbs.AST.StringLiteral).value } satisfies Literal;
      default:
        return { kind: "literal", value: node.type === "NullLiteral" ? null : undefined };
    }
  }

  #named(hash: hbs.AST.Hash | undefined, depth: number): [string, Expression][] {
    const seen = new Set<string>();
    return (hash?.pairs ?? []).flatMap((pair): [string, Expression][] => {
      if (PROTOTYPE_NAME.test(pair.key)) this.#fault(pair, "prototype", `A value cannot be named ${pair.key}.`);
      if (seen.has(pair.key)) this.#fault(pair, "wrong_arguments", `${pair.key} is given twice.`);
      seen.add(pair.key);
      const value = this.#expression(pair.value, depth);
      return value ? [[pair.key, value]] : [];
    });
  }

  #call(node: hbs.AST.MustacheStatement | hbs.AST.SubExpression, depth: number): Call | null {
    const name = (node.path as hbs.AST.PathExpression).original;
    const helper = HELPERS.get(name);
    if (!helper) {
      const message = BLOCKS.has(name)
        ? `${name} is a block. Write {{#${name} …}} … {{/${name}}}.`
        : `Unknown helper ${JSON.stringify(String(name).slice(0, 60))}. Use one of ${[...HELPERS.keys()].join(", ")}.`;
      this.#fault(node, "unknown_helper", message);
      return null;
    }
    if (depth > MAX_CALLS) {
      this.#fault(node, "too_deep", `Helpers can nest at most ${MAX_CALLS} levels deep.`);
      return null;
    }
    const { min, max } = helper;
    if (node.params.length < min || node.params.length > max)
      this.#fault(
        node,
        "wrong_arguments",
        `${name} takes ${min === max ? min : `${min} to ${max}`} ${max === 1 ? "value" : "values"}, not ${node.params.length}.`,
      );
    const named = this.#named(node.hash, depth);
    for (const [key] of named)
      if (!helper.named.includes(key))
        this.#fault(
          node,
          "wrong_arguments",
          `${name} has no option ${key}${helper.named.length > 0 ? `. Its options are ${helper.named.join(", ")}` : ""}.`,
        );
    const args = node.params.flatMap((param) => this.#expression(param, depth) ?? []);
    return { kind: "call", helper: name, args, named, at: toSourceLocation(node) };
  }

  #path(node: hbs.AST.PathExpression): Path | null {
    const text = node.original;
    const at = toSourceLocation(node);
    const wrong = (code: string, message: string): null => {
      this.#fault(node, code, message);
      return null;
    };
    const parts = node.parts.map(String);
    const bad = parts.find((name) => PROTOTYPE_NAME.test(name));
    if (bad !== undefined) return wrong("prototype", `${text.slice(0, 100)} uses ${bad}, which templates cannot read.`);
    if (parts.length > MAX_PATH) return wrong("too_deep", `A path has at most ${MAX_PATH} parts.`);
    // The name of an item in an enclosing block takes precedence.
    const scoped = node.depth === 0 && !node.data && !/^(?:this\b|\.)/.test(text) ? this.#itemPath(parts, text, at) : null;
    if (scoped) return scoped;
    if (node.data) return this.#data(node, parts, text, at);
    if (node.depth >= this.#scopes.length) return wrong("leads_out", `${text} points outside of the template.`);
    return { kind: "path", text, names: parts, from: "here", up: node.depth, at };
  }

  #itemPath([head, ...rest]: readonly string[], text: string, at: SourceLocation): Path | null {
    for (let up = 0; up < this.#scopes.length; up += 1) {
      const index = this.#scopes[this.#scopes.length - 1 - up]?.names.indexOf(head ?? "") ?? -1;
      if (index === 0) return { kind: "path", text, names: rest, from: "here", up, at };
      if (index === 1 && rest.length === 0) return { kind: "path", text, names: [], from: "key", up, at };
    }
    return null;
  }

  #data(node: hbs.AST.PathExpression, [head = "", ...rest]: readonly string[], text: string, at: SourceLocation): Path | null {
    if (head === "root" && node.depth === 0 && rest.length > 0) return { kind: "path", text, names: rest, from: "root", up: 0, at };
    if (head !== "index" && head !== "key" && head !== "first" && head !== "last") {
      this.#fault(node, "not_allowed", `Unknown ${text.slice(0, 100)}. Use @index, @key, @first, @last or @root.name.`);
      return null;
    }
    const loops = this.#scopes.flatMap((scope, i) => (scope.block === "each" ? [this.#scopes.length - 1 - i] : [])).reverse();
    const up = loops[node.depth];
    if (up === undefined || rest.length > 0) {
      this.#fault(node, "not_allowed", `${text.slice(0, 100)} is only known inside a loop.`);
      return null;
    }
    return { kind: "path", text, names: [], from: head, up, at };
  }
}

/** Reads a source and checks that it uses only what templates may. Throws SourceFaults with all faults. */
export function readSource(parse: Parse, source: string, reading: Reading): Tree {
  const reader = new Reader(reading);
  const nodes = reader.nodes(parseSource(parse, source));
  if (reader.faults.length > 0) throw new SourceFaults(reader.faults);
  if (reading.layout && reader.bodies !== 1)
    throw new SourceFaults([
      { line: 1, column: 1, code: "no_body", message: "A layout needs {{{body}}} exactly once, where the content goes." },
    ]);
  return { role: reading.role, nodes, partials: [...reader.partials] };
}

function toSourceLocation(node: hbs.AST.Node): SourceLocation {
  return { line: node.loc.start.line, column: node.loc.start.column + 1 };
}

function isCall(node: hbs.AST.MustacheStatement): boolean {
  return node.params.length > 0 || (node.hash?.pairs.length ?? 0) > 0;
}
