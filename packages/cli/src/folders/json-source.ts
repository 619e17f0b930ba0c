import type { Node, ValueNode } from "@humanwhocodes/momoa";

/** A place in a file, from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** A JSON text that knows where each of its parts is. */
export interface JsonSource {
  readonly value: unknown;
  /** The place of the part at a path, or of the innermost part around it that is there. */
  locate(path: readonly PropertyKey[]): Place;
  /** True if there is a part at this path. */
  has(path: readonly PropertyKey[]): boolean;
}

/** Parses JSON, or says where it is not JSON. */
export async function parseJson(text: string): Promise<JsonSource | (Place & { message: string })> {
  // Only loaded for commands that read such files.
  const { evaluate, parse } = await import("@humanwhocodes/momoa");
  try {
    const { body } = parse(text, { mode: "json" });
    return {
      value: evaluate(body),
      locate: (path) => toPlace(find(body, path).node),
      has: (path) => find(body, path).isWhole,
    };
  } catch (error) {
    const { message, line, column } = error as Error & Partial<Place>;
    if (line === undefined || column === undefined) throw error;
    return { line, column, message: `This is not JSON: ${message.replace(/ \(\d+:\d+\)$/, "")}` };
  }
}

function toPlace({ loc: { start } }: Node): Place {
  return { line: start.line, column: start.column };
}

/** The innermost node on the way to a path. For the value of a member, it is the member, so that the place is that of its name. */
function find(body: ValueNode, path: readonly PropertyKey[]): { node: Node; isWhole: boolean } {
  let node: Node = body;
  let value: ValueNode = body;
  for (const key of path) {
    if (value.type === "Object") {
      const member = value.members.findLast(({ name }) => (name.type === "String" ? name.value : name.name) === key);
      if (!member) return { node, isWhole: false };
      [node, value] = [member, member.value];
    } else if (value.type === "Array") {
      const element = value.elements[Number(key)];
      if (!element) return { node, isWhole: false };
      [node, value] = [element, element.value];
    } else return { node, isWhole: false };
  }
  return { node, isWhole: true };
}
