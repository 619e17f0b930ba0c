/** Where something stands in a source: lines and columns from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** What is wrong with a source, and where. */
export interface Fault extends Place {
  readonly code: string;
  readonly message: string;
}

/** A source that cannot be used, with everything that is wrong with it. */
export class SourceFaults extends Error {
  override name = "SourceFaults";
  readonly faults: readonly Fault[];
  constructor(faults: readonly Fault[]) {
    super(faults[0]?.message ?? "The template is not valid.");
    this.faults = faults;
  }
}

/** A value read from the variables: `user.name`, `../total`, `@index`, or the name a block gives to its item. */
export interface Path {
  readonly kind: "path";
  /** As it is written. */
  readonly text: string;
  readonly names: readonly string[];
  /** `here`: from the value of the block it stands in, `up` blocks further out. `root`: from the variables. `key`, `index`, `first`, `last`: of the loop `up` blocks further out. */
  readonly from: "here" | "root" | "index" | "key" | "first" | "last";
  readonly up: number;
  readonly at: Place;
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
  readonly at: Place;
}

export type Expression = Path | Literal | Call;

export interface TextNode {
  readonly kind: "text";
  readonly text: string;
}

/** A value in the output. */
export interface PutNode {
  readonly kind: "put";
  readonly value: Expression;
  /** Written `{{{…}}}`: as it is, without escaping. */
  readonly raw: boolean;
  readonly at: Place;
  /** Set when it can give an address its scheme, which is then checked while rendering: whether the address begins with it. */
  address?: "begins" | "continues";
}

export interface IfNode {
  readonly kind: "if";
  readonly test: Expression;
  readonly body: readonly Node[];
  readonly otherwise: readonly Node[];
  readonly at: Place;
}

/** `each` and `with`: a block about another value. */
export interface ScopeNode {
  readonly kind: "each" | "with";
  readonly value: Expression;
  readonly body: readonly Node[];
  readonly otherwise: readonly Node[];
  /** Whether an `{{else}}` is there, even an empty one: then the value may be absent. */
  readonly hasElse: boolean;
  readonly at: Place;
}

export interface PartialNode {
  readonly kind: "partial";
  readonly slug: string;
  readonly named: readonly (readonly [string, Expression])[];
  readonly at: Place;
}

/** In a layout: where the content goes. */
export interface BodyNode {
  readonly kind: "body";
  readonly at: Place;
}

export type Node = TextNode | PutNode | IfNode | ScopeNode | PartialNode | BodyNode;

/** What a source is for, which decides how values are escaped and what may stand in it. */
export type Role = "subject" | "html" | "text";

/** A source, read and found safe. */
export interface Tree {
  readonly role: Role;
  readonly nodes: readonly Node[];
  /** Slugs of the partials it uses. */
  readonly partials: readonly string[];
}
