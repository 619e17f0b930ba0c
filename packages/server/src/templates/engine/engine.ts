import { toPlainText } from "../../html/plain-text.ts";
import { MB } from "../../lib/units.ts";
import { BUDGET, compileNodes, type Op, RenderError, type Run, runAll, type Scope } from "./compile.ts";
import { findMarkupFaults } from "./markup.ts";
import type { Parse } from "./parser.ts";
import { readSource } from "./read.ts";
import { type Fault, type Role, SourceFaults, type Tree } from "./tree.ts";
import { applyDefaults, listAbsent, type Values } from "./values.ts";
import { collectVariables, type Declared, type Variable } from "./variables.ts";

/** The sources of one template, layout or partial. */
export interface Part {
  readonly slug: string;
  readonly html: string | null;
  readonly text: string | null;
  readonly variables: readonly Declared[];
}

/** A template with its layout and partials. */
export interface TemplateSet extends Part {
  readonly subject: string | null;
  /** True if the template is a layout itself. */
  readonly isLayout: boolean;
  readonly layout: Part | null;
  readonly partials: ReadonlyMap<string, Part>;
}

/** Levels partials may nest. */
const MAX_PARTIAL_DEPTH = 10;

/** A fault with the slug of its part and its field; `part` is null for the template itself. */
export interface FieldFault extends Fault {
  readonly part: string | null;
  readonly field: Role | "layout";
}

/** Thrown for a template that cannot be used, with all its faults. */
export class TemplateFaults extends Error {
  override name = "TemplateFaults";
  readonly faults: readonly FieldFault[];
  constructor(faults: readonly FieldFault[]) {
    super(faults[0]?.message ?? "The template is not valid.");
    this.faults = faults;
  }
}

/** A template, ready to be rendered. */
export interface Compiled {
  readonly subject: readonly Op[] | null;
  readonly html: readonly Op[] | null;
  readonly text: readonly Op[] | null;
  /** Its variables, and their declarations. */
  readonly variables: readonly Variable[];
  readonly declared: readonly Declared[];
  /** Declared variables that are required, used or not. */
  readonly needed: readonly Variable[];
  /** Names of variables that may be absent. */
  readonly optional: ReadonlySet<string>;
  /** Slugs of its layout and of the partials it uses directly, the layout first. */
  readonly uses: readonly string[];
  /** Characters of its sources, for the size of the cache. */
  readonly size: number;
}

/** Thrown when required variables are missing, with all their names. */
export class MissingVariables extends Error {
  override name = "MissingVariables";
  readonly names: readonly string[];
  constructor(names: readonly string[]) {
    super(`The template needs ${names.length === 1 ? "the variable" : "the variables"} ${names.join(", ")}.`);
    this.names = names;
  }
}

/** Reads the sources of a set, each once, and collects their faults. */
class SetReader {
  readonly faults: FieldFault[] = [];
  readonly #parse: Parse;
  readonly #bundle: TemplateSet;
  readonly #htmlVariables: ReadonlySet<string>;
  readonly #trees = new Map<string, Tree | null>();

  constructor(parse: Parse, bundle: TemplateSet, declared: readonly Declared[]) {
    this.#parse = parse;
    this.#bundle = bundle;
    this.#htmlVariables = new Set(declared.filter((one) => one.type === "html").map((one) => one.name));
  }

  add(part: string | null, field: FieldFault["field"], faults: readonly Fault[]): void {
    this.faults.push(...faults.map((fault) => ({ ...fault, part, field })));
  }

  read(part: string | null, role: Role, source: string | null, layout = false): Tree | null {
    if (source === null) return null;
    const key = `${part} ${role}`;
    const known = this.#trees.get(key);
    if (known !== undefined) return known;
    let tree: Tree | null = null;
    try {
      tree = readSource(this.#parse, source, { role, layout, htmlVariables: this.#htmlVariables });
    } catch (error) {
      if (!(error instanceof SourceFaults)) throw error;
      this.add(part, role, error.faults);
    }
    this.#trees.set(key, tree);
    return tree;
  }

  /** The tree of a partial for one role; undefined when it has none. */
  readonly partial = (slug: string, role: Role): Tree | undefined => {
    const part = this.#bundle.partials.get(slug);
    return (part && this.read(slug, role, role === "html" ? part.html : part.text)) ?? undefined;
  };

  /** Checks that the partials of a tree exist, contain no circle and do not nest too deep. */
  checkPartials(tree: Tree, part: string | null, trail: readonly string[], seen: Set<string>): void {
    for (const slug of tree.partials) {
      const at = findPartialPlace(tree, slug);
      const wrong = (code: string, message: string): void => this.add(part, tree.role, [{ ...at, code, message }]);
      const key = `${slug} ${tree.role} ${trail.length}`;
      if (trail.includes(slug)) wrong("cycle", `Partials include each other in a circle: ${[...trail, slug].join(" > ")}.`);
      else if (trail.length >= MAX_PARTIAL_DEPTH) wrong("too_deep", `Partials can nest at most ${MAX_PARTIAL_DEPTH} levels deep.`);
      else if (!seen.has(key)) {
        seen.add(key);
        const used = this.#bundle.partials.get(slug);
        if (!used) wrong("unknown_partial", `Partial ${slug} not found.`);
        else if ((tree.role === "html" ? used.html : used.text) === null)
          wrong("unknown_partial", `The partial ${slug} has no ${tree.role}.`);
        else {
          const inner = this.partial(slug, tree.role);
          if (inner) this.checkPartials(inner, slug, [...trail, slug], seen);
        }
      }
    }
  }
}

// Characters of all sources together; a million take up to a third of a second to read.
const MAX_SOURCES = 4 * MB;

/** Reads, checks and compiles a template with its parts. Throws TemplateFaults with all faults. */
export function compileSet(parse: Parse, bundle: TemplateSet): Compiled {
  const size = measureSize(bundle);
  if (size > MAX_SOURCES) {
    const message = "With its layout and partials the template is larger than 4 MiB.";
    throw new TemplateFaults([{ line: 1, column: 1, code: "too_large", message, part: null, field: "html" }]);
  }
  const declared = mergeDeclared(bundle);
  const assembly = new SetReader(parse, bundle, declared);
  const { layout } = bundle;
  const subject = assembly.read(null, "subject", bundle.subject);
  const html = assembly.read(null, "html", bundle.html, bundle.isLayout);
  const text = assembly.read(null, "text", bundle.text, bundle.isLayout);
  const frame = (role: "html" | "text", content: Tree | null): Tree | null => {
    const source = layout && content ? layout[role] : null;
    return source === null ? null : assembly.read(layout?.slug ?? null, role, source, true);
  };
  const htmlFrame = frame("html", html);
  const textFrame = frame("text", text);
  if (layout && html && layout.html === null)
    assembly.add(null, "layout", [{ line: 1, column: 1, code: "unknown_layout", message: `The layout ${layout.slug} has no html.` }]);
  const trees = [subject, html, text, htmlFrame, textFrame].filter((tree) => tree !== null);
  for (const tree of trees)
    assembly.checkPartials(tree, tree === htmlFrame || tree === textFrame ? (layout?.slug ?? null) : null, [], new Set());
  const refuse = (): void => {
    if (assembly.faults.length > 0) throw new TemplateFaults(assembly.faults);
  };
  refuse();
  const inHtml = (slug: string): Tree | undefined => assembly.partial(slug, "html");
  const page = htmlFrame ?? html;
  if (page) {
    const found = findMarkupFaults(page, htmlFrame ? (layout?.slug ?? null) : null, inHtml, htmlFrame ? (html ?? undefined) : undefined);
    for (const { part, ...fault } of found) assembly.add(part, "html", [fault]);
  }
  refuse();
  let variables: Variable[] = [];
  try {
    variables = collectVariables(trees, assembly.partial, declared);
  } catch (error) {
    if (!(error instanceof SourceFaults)) throw error;
    assembly.add(null, "html", error.faults);
  }
  refuse();
  return {
    subject: subject && compileTree(assembly, subject, null),
    html: html && compileTree(assembly, html, htmlFrame),
    text: text && compileTree(assembly, text, textFrame),
    variables,
    declared,
    needed: variables.filter(({ name, required }) => required && declared.some((one) => one.name === name)),
    optional: new Set(declared.filter((one) => one.required === false).map((one) => one.name)),
    uses: [...new Set([...(layout ? [layout.slug] : []), ...[subject, html, text].flatMap((tree) => tree?.partials ?? [])])],
    size,
  };
}

/** Compiles the subject of a single request. Throws SourceFaults. */
export function compileSubject(parse: Parse, source: string): readonly Op[] {
  const tree = readSource(parse, source, { role: "subject" });
  return compileNodes(tree.nodes, "subject", { partial: () => [] });
}

/** The result of a rendering. */
export interface Rendered {
  readonly subject: string | null;
  readonly html: string | null;
  /** Written by the author, or made from the HTML if that was wanted. */
  readonly text: string | null;
  /** Names of required variables that were not supplied; empty unless the rendering was lenient. */
  readonly missing: readonly string[];
}

/** Limits of all renderings of one request together. */
export interface Allowance {
  steps: number;
  output: number;
}

/** For a batch: four times the steps of a single mail, and 20 MB of text. */
export function makeAllowance(): Allowance {
  return { steps: 4 * BUDGET.steps, output: 10 * BUDGET.output };
}

interface Rendering {
  /** Allowance shared by several renderings; each takes from it. */
  readonly left?: Allowance | undefined;
  /** Shows missing values as written in the source, and does not fail. */
  readonly lenient?: boolean;
  /** Replaces the template's own subject. */
  readonly subject?: readonly Op[] | undefined;
  /** Makes no text from the HTML: a caller that renders large mails does so in turns. */
  readonly onlyWritten?: boolean;
}

/**
 * Renders a template: subject, HTML and text. Pure, and bounded by BUDGET whatever the variables are. Throws
 * MissingVariables with all their names, or RenderError.
 */
export function render(
  compiled: Compiled,
  given: Values,
  { lenient = false, subject, left = makeAllowance(), onlyWritten = false }: Rendering = {},
): Rendered {
  const values = applyDefaults(compiled.declared, given);
  const root: Scope = { value: values, parent: null, about: null, index: -1, key: 0, last: false };
  const missing = new Set<string>(listAbsent(compiled.needed, values));
  const write = (ops: readonly Op[] | null): string | null => {
    if (!ops) return null;
    const steps = Math.min(BUDGET.steps, left.steps);
    const run: Run = { out: "", steps, root, missing, optional: compiled.optional, lenient };
    runAll(ops, root, run);
    left.steps -= steps - run.steps;
    left.output -= run.out.length;
    if (left.output < 0) throw new RenderError("output_too_large", "The mails of this request are larger than 20 MB together.");
    return run.out;
  };
  const html = write(compiled.html);
  const written = write(compiled.text);
  const line = write(subject ?? compiled.subject);
  const names = [...missing].filter((name, _i, all) => !all.some((other) => other.startsWith(`${name}.`)));
  if (names.length > 0 && !lenient) throw new MissingVariables(names);
  const text = written ?? (html === null || onlyWritten ? null : toPlainText(html) || null);
  return { subject: line, html, text, missing: names };
}

function findPartialPlace(tree: Tree, slug: string): { line: number; column: number } {
  const stack = [...tree.nodes];
  for (let node = stack.pop(); node; node = stack.pop()) {
    if (node.kind === "partial" && node.slug === slug) return { line: node.at.line, column: node.at.column };
    if (node.kind === "if") stack.push(...node.body, ...node.otherwise);
    if (node.kind === "each" || node.kind === "with") stack.push(...node.body, ...node.otherwise);
  }
  return { line: 1, column: 1 };
}

function mergeDeclared(bundle: TemplateSet): Declared[] {
  const all = new Map<string, Declared>();
  // The template's declarations take precedence over those of its layout and partials.
  for (const part of [...bundle.partials.values(), ...(bundle.layout ? [bundle.layout] : []), bundle])
    for (const one of part.variables) all.set(one.name, one);
  return [...all.values()];
}

function measureSize(bundle: TemplateSet): number {
  return [bundle, ...(bundle.layout ? [bundle.layout] : []), ...bundle.partials.values()].reduce(
    (sum, part) => sum + (part.html?.length ?? 0) + (part.text?.length ?? 0),
    bundle.subject?.length ?? 0,
  );
}

function compileTree(assembly: SetReader, content: Tree, frame: Tree | null): readonly Op[] {
  const known = new Map<string, readonly Op[]>();
  const partial = (slug: string): readonly Op[] => {
    let ops = known.get(slug);
    if (!ops) {
      ops = compileNodes(assembly.partial(slug, content.role)?.nodes ?? [], content.role, { partial });
      known.set(slug, ops);
    }
    return ops;
  };
  const body = compileNodes(content.nodes, content.role, { partial });
  return frame ? compileNodes(frame.nodes, content.role, { partial, body }) : body;
}
