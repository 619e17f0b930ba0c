/** A position in a source: line and column, from 1. */
export interface SourceLocation {
  readonly line: number;
  readonly column: number;
}

/** A fault in a source, and its position. */
export interface Fault extends SourceLocation {
  readonly code: string;
  readonly message: string;
}

/** Thrown for a source that cannot be used, with all its faults. */
export class SourceFaults extends Error {
  override name = "SourceFaults";
  readonly faults: readonly Fault[];
  constructor(faults: readonly Fault[]) {
    super(faults[0]?.message ?? "The template is not valid.");
    this.faults = faults;
  }
}

/** A value read from the variables: `user.name`, `../total`, `@index`, or the name of an item in a block. */
export interface Path {
  readonly kind: "path";
  /** Text as written in the source. */
  readonly text: string;
  readonly names: readonly string[];
  /**
   * `here`: the value of the enclosing block, `up` blocks further out. `root`: the variables. `key`, `index`, `first`, `last`: of the
   * loop `up` blocks out.
   */
  readonly from: "here" | "root" | "index" | "key" | "first" | "last";
  readonly up: number;
  readonly at: SourceLocation;
}

export interface Literal {
  readonly kind: "literal";
  readonly value: string | number | boolean | null | undefined;
}

/** A helper with its arguments: `date createdAt style="long"`. */
export interface Call {
  readonly kind: "call";
  readonly helper: string;
  readonly args: readonly Expression[];
  readonly named: readonly (readonly [string, Expression])[];
  readonly at: SourceLocation;
}

export type Expression = Path | Literal | Call;

interface TextNode {
  readonly kind: "text";
  readonly text: string;
}

/** A value in the output. */
export interface PutNode {
  readonly kind: "put";
  readonly value: Expression;
  /** Written `{{{…}}}`: not escaped. */
  readonly raw: boolean;
  readonly at: SourceLocation;
  /** Set when the value can decide the scheme of an address, which is then checked while rendering: it begins or continues it. */
  address?: "begins" | "continues";
}

interface IfNode {
  readonly kind: "if";
  readonly test: Expression;
  readonly body: readonly Node[];
  readonly otherwise: readonly Node[];
  readonly at: SourceLocation;
}

/** `each` and `with`: a block with another value as its scope. */
export interface ScopeNode {
  readonly kind: "each" | "with";
  readonly value: Expression;
  readonly body: readonly Node[];
  readonly otherwise: readonly Node[];
  /** True if it has an `{{else}}`, even an empty one: the value may then be absent. */
  readonly hasElse: boolean;
  readonly at: SourceLocation;
}

export interface PartialNode {
  readonly kind: "partial";
  readonly slug: string;
  readonly named: readonly (readonly [string, Expression])[];
  /** White space before a partial that is alone on its line: each line of the partial begins with it. */
  readonly indent: string;
  readonly at: SourceLocation;
}

/** The place of the content in a layout. */
interface BodyNode {
  readonly kind: "body";
  readonly at: SourceLocation;
}

export type Node = TextNode | PutNode | IfNode | ScopeNode | PartialNode | BodyNode;

/** The use of a source, which decides how values are escaped and what it may contain. */
export type Role = "subject" | "html" | "text";

/** A source that was read and checked. */
export interface Tree {
  readonly role: Role;
  readonly nodes: readonly Node[];
  /** Slugs of the partials it uses. */
  readonly partials: readonly string[];
}
