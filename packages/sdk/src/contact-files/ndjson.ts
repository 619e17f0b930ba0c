import { LineTooLongError, MAX_RECORD } from "./csv.ts";

/** One line of NDJSON: an object, or what is wrong with it. */
export interface JsonRecord {
  /** Line number, from 1. */
  readonly line: number;
  readonly text: string;
  readonly value: Readonly<Record<string, unknown>> | null;
  readonly fault: string | null;
}

// The server refuses deeper JSON, and parsing it could overflow the stack.
const MAX_DEPTH = 30;

/** Parses a stream of NDJSON (JSON Lines); skips empty lines. Throws LineTooLongError for a line longer than 2 * MAX_RECORD. */
export async function* parseNdjson(chunks: AsyncIterable<string>): AsyncGenerator<JsonRecord[]> {
  let rest = "";
  let line = 0;
  const records = (lines: readonly string[]): JsonRecord[] =>
    lines.flatMap((text) => {
      line += 1;
      return text.trim() === "" ? [] : [parseLine(line, text)];
    });
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    yield records(lines);
    if (rest.length > 2 * MAX_RECORD) throw new LineTooLongError(line + 1);
  }
  yield records([rest]);
}

function isTooDeep(text: string): boolean {
  if (!/[[{](?:[^[{]*[[{]){29}/.test(text)) return false;
  let depth = 0;
  let inside = false;
  for (let i = 0; i < text.length; i += 1) {
    const c = text[i];
    if (inside) {
      if (c === "\\") i += 1;
      else if (c === '"') inside = false;
    } else if (c === '"') inside = true;
    else if (c === "{" || c === "[") {
      depth += 1;
      if (depth > MAX_DEPTH) return true;
    } else if (c === "}" || c === "]") depth -= 1;
  }
  return false;
}

function parseLine(line: number, text: string): JsonRecord {
  const failed = (fault: string): JsonRecord => ({ line, text, value: null, fault });
  if (isTooDeep(text)) return failed(`The JSON nests deeper than ${MAX_DEPTH} levels.`);
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return { line, text, value: value as Record<string, unknown>, fault: null };
  } catch (error) {
    return failed(`This is not JSON: ${(error as Error).message}.`);
  }
  return failed("A JSON object is needed on each line: { … }.");
}
