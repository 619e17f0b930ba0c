import ts from "typescript-5.5";

/** A function of a source. */
interface MeasuredFunction {
  readonly name: string;
  /** Its first line, from 1. */
  readonly line: number;
  /** Number of lines, with its signature and its closing bracket. */
  readonly lines: number;
}

/** The functions of a source that have more than `most` lines. Biome does not count lines that begin with a closing bracket or tag. */
export function listLongFunctions(path: string, source: string, most: number): MeasuredFunction[] {
  if (source.split("\n").length <= most) return [];
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  const lineOf = (at: number): number => file.getLineAndCharacterOfPosition(at).line + 1;
  const found: MeasuredFunction[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && "body" in node && node.body !== undefined) {
      const line = lineOf(node.getStart(file));
      const lines = lineOf(node.end) - line + 1;
      if (lines > most) found.push({ name: nameOf(node, file), line, lines });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function nameOf(node: ts.Node & { readonly name?: ts.Node }, file: ts.SourceFile): string {
  const named = node.name ?? (node.parent as { readonly name?: ts.Node }).name;
  return named?.getText(file) ?? "a function without a name";
}
